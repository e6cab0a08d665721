"""`tool`: what the host lets cells call, one function for each."""
__builtins__ = __import__("builtins").__dict__.copy()

from inspect import Parameter, Signature
from keyword import iskeyword

from cellar_prelude import bridge
from cellar_prelude.status import note

_TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}
_NOBODY = f"nothing is connected; {bridge.HOW_TO_CONNECT}"
_NONE = "whoever runs this session offers none"


class Tools:
    """The tools of this session: `tool.name(args)`, `tool.name(key=value)`, `await tool.name.aio(...)`.

    `dir(tool)` lists them, `help(tool.name)` describes one. A name that is no identifier: `tool["a-name"]`.
    """

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name):
        if not isinstance(name, str) or not name:
            raise TypeError("tool[...] needs the name of a tool")
        announced = bridge.provider().tools()
        if announced is None:
            return _make_function({"name": name})
        for each in announced:
            if each["name"] == name:
                return _make_function(each)
        known = ", ".join(each["name"] for each in announced)
        raise AttributeError(f"there is no tool {name!r}; " + (f"there are: {known}" if known else _NONE))

    def __dir__(self):
        try:
            return [each["name"] for each in bridge.provider().tools() or ()]
        except bridge.BridgeError:
            return []

    def __repr__(self):
        if not bridge.is_connected():
            return f"<tool: {_NOBODY}>"
        try:
            announced = bridge.provider().tools()
        except bridge.BridgeError as error:
            return f"<tool: {error}>"
        if announced is None:
            return "<tool: no list of tools was given>"
        return "\n".join(["<tool>", *map(_listed, announced)]) if announced else f"<tool: {_NONE}>"


tool = Tools()


def _listed(described):
    first_line = (described.get("description") or "").strip().partition("\n")[0]
    return f"  {described['name']}" + (f": {first_line}" if first_line else "")


def _make_function(described):
    name = described["name"]

    def function(args=None, /, **named):
        arguments = _arguments(name, args, named)
        with _Noted(name):
            return bridge.provider().call(name, arguments)

    async def aio(args=None, /, **named):
        arguments = _arguments(name, args, named)
        with _Noted(name):
            return await bridge.provider().acall(name, arguments)

    signature = _signature(described.get("schema"))
    for each in (function, aio):
        each.__doc__ = described.get("description") or f"The tool {name} of this session."
        each.__module__ = None  # help() would name cellar's module
        if signature is not None:
            each.__signature__ = signature
    function.__name__ = function.__qualname__ = name
    aio.__name__, aio.__qualname__ = "aio", f"{name}.aio"
    function.aio = aio
    return function


def _arguments(name, args, named):
    if args is None:
        return named
    if not isinstance(args, dict):
        raise TypeError(f"tool.{name}() takes its arguments as a dict or as keywords, not as {type(args).__name__}")
    twice = args.keys() & named.keys()
    if twice:
        raise TypeError(f"tool.{name}(): given twice: {', '.join(sorted(twice))}")
    return {**args, **named}


def _signature(schema):
    """What the tool's JSON Schema says of its arguments; None where it says nothing."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return None
    required = schema.get("required")
    parameters = []
    for name, description in properties.items():
        if not name.isidentifier() or iskeyword(name):
            continue
        description = description if isinstance(description, dict) else {}
        kind = description.get("type")
        is_required = isinstance(required, list) and name in required
        parameters.append(Parameter(
            name, Parameter.KEYWORD_ONLY,
            default=Parameter.empty if is_required else description.get("default"),
            annotation=_TYPES.get(kind, Parameter.empty) if isinstance(kind, str) else Parameter.empty))
    return Signature(parameters)


class _Noted:
    """Says that a tool was called, and whether it worked."""

    def __init__(self, name):
        self._name = name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        fields = {} if error is None else {"error": str(error) or kind.__name__}
        note("tool", name=self._name, ok=error is None, **fields)
