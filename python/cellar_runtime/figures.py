"""Matplotlib figures: shown once as PNG, by display, plt.show() or the end of the cell.

Never imports matplotlib; a cell that does not use it pays one dictionary lookup.
"""

__builtins__ = __import__("builtins").__dict__.copy()

from io import BytesIO
from os import environ
from weakref import WeakSet

from cellar_runtime import display, import_hooks, mime, untrusted
from cellar_runtime.library import MODULES

_PYPLOT = "matplotlib.pyplot"
_PYPLOT_FIGURES = "matplotlib._pylab_helpers"  # where pyplot keeps its open figures

_shown = WeakSet()  # figures shown since the last flush
_given_up = None  # the pyplot that had to be interrupted: some cell has put it together


def install() -> None:
    """Makes figures displayable, Agg the backend unless MPLBACKEND is set, and plt.show() ours."""
    mime.register_formatter("matplotlib.figure.Figure", _figure_bundle)
    import_hooks.after_import("matplotlib", _choose_backend)
    import_hooks.after_import(_PYPLOT, _replace_show)


def flush_figures() -> None:
    """Ends a cell: shows each open pyplot figure the cell has not shown yet, and closes all."""
    if _PYPLOT in MODULES and MODULES[_PYPLOT] is not _given_up:
        try:
            _show_open_figures()
        except untrusted.FAILURES:
            pass  # a pyplot that the cell took apart has nothing to show
        finally:
            _shown.clear()


def _show_open_figures() -> None:
    try:
        for manager in MODULES[_PYPLOT_FIGURES].Gcf.get_all_fig_managers():
            if manager.canvas.figure not in _shown:
                display.display(manager.canvas.figure)
    finally:
        _close_all()


def _close_all() -> None:
    global _given_up
    try:
        MODULES[_PYPLOT].close("all")
    except KeyboardInterrupt:
        _given_up = MODULES[_PYPLOT]
        raise


def _figure_bundle(figure) -> dict:
    _shown.add(figure)
    buffer = BytesIO()
    try:
        figure.savefig(buffer, format="png", bbox_inches="tight")
    except untrusted.FAILURES as failure:
        reason = f"{untrusted.type_name(type(failure))}: {untrusted.safe_str(failure)}"
        return {mime.TEXT_PLAIN: f"{untrusted.safe_repr(figure)} could not be drawn: {reason}"}
    return {"image/png": buffer.getvalue()}


def _choose_backend(matplotlib) -> None:
    if "MPLBACKEND" not in environ:
        matplotlib.use("agg")


def _replace_show(pyplot) -> None:
    def show(*args, **kwargs) -> None:
        """Show all open figures and close them."""
        _show_open_figures()

    pyplot.show = show
