"""The helpers that every cell finds in its namespace. One module for each family of them."""
__builtins__ = __import__("builtins").__dict__.copy()

from cellar_prelude.environment import env
from cellar_prelude.files import append, diff, read, write
from cellar_prelude.models import agent, budget, llm
from cellar_prelude.outputs import output
from cellar_prelude.status import log, phase
from cellar_prelude.tools import tool
from cellar_prelude.tree import tree
from cellar_prelude.work import parallel, pipeline
from cellar_runtime.display import clear_output, display, update_display

_HELPERS = {
    "agent": agent, "append": append, "budget": budget, "clear_output": clear_output, "diff": diff, "display": display,
    "env": env, "llm": llm, "log": log, "output": output, "parallel": parallel, "phase": phase, "pipeline": pipeline,
    "read": read, "tool": tool, "tree": tree, "update_display": update_display, "write": write,
}


def names() -> dict[str, object]:
    """What a fresh namespace starts with. A cell that assigns to one of these names keeps its own value."""
    return dict(_HELPERS)
