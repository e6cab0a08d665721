"""The helpers that every cell finds in its namespace. One module for each family of them."""
__builtins__ = __import__("builtins").__dict__.copy()

from cellar_runtime.display import clear_output, display, update_display


def names() -> dict[str, object]:
    """What a fresh namespace starts with. A cell that assigns to one of these names keeps its own value."""
    return {"clear_output": clear_output, "display": display, "update_display": update_display}
