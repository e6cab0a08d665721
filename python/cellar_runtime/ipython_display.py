"""Makes the functions of `IPython.display` publish through cellar, where IPython is installed.

IPython's own would print the repr, since no IPython shell runs here. The objects (HTML, Image, ...)
need nothing: they have `_repr_*_` methods.
"""

__builtins__ = __import__("builtins").__dict__.copy()

from types import ModuleType

from cellar_runtime import display, import_hooks, mime

# The functions' home since 7.23, and before it; IPython.display takes them from there.
_HOMES = ("IPython.core.display_functions", "IPython.core.display")


def install() -> None:
    """Has IPython's display functions replaced when a cell imports them; imports nothing itself."""
    for home in _HOMES:
        import_hooks.after_import(home, _replace_functions)


def publish_display_data(data, metadata=None, source=None, *, transient=None, update=False) -> None:
    """Publish a bundle, a dict from MIME type to data, as an output of the cell."""
    display_id = (transient or {}).get("display_id", "")
    kind = "update" if update else "display"
    display.publish_bundle(kind, mime.clean_bundle(data), metadata or {}, display_id)


_FUNCTIONS = {
    "display": display.display,
    "update_display": display.update_display,
    "clear_output": display.clear_output,
    "publish_display_data": publish_display_data,
    "DisplayHandle": display.DisplayHandle,
}


def _replace_functions(module: ModuleType) -> None:
    for name, function in _FUNCTIONS.items():
        if name in module.__dict__:  # hasattr() would ask IPython's __getattr__, which warns
            setattr(module, name, function)
