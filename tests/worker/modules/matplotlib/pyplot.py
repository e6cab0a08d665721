from types import SimpleNamespace

from matplotlib._pylab_helpers import Gcf
from matplotlib.figure import Figure


def figure():
    number = max(Gcf.managers, default=0) + 1
    made = Figure(number)
    Gcf.managers[number] = SimpleNamespace(canvas=SimpleNamespace(figure=made))
    return made


def get_fignums():
    return list(Gcf.managers)


def close(which):
    Gcf.managers.clear()


def show():
    raise RuntimeError("the worker's own show() is in place of this one")
