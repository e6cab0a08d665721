"""Objects looked at without running their code: no property, no `__getattr__`, no `__repr__` of a user is called."""
__builtins__ = __import__("builtins").__dict__.copy()

import inspect
import re
import types

from cellar_runtime import untrusted

MISSING = object()
_BINDING = (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MemberDescriptorType,
            types.GetSetDescriptorType, types.ClassMethodDescriptorType, classmethod, staticmethod)
_PLAIN = (int, float, complex, bool, str, bytes, type(None), type(...))
_STEP = re.compile(
    r"""\s*(?:\.\s*(?P<name>[A-Za-z_]\w*)|\[\s*(?:(?P<index>-?\d+)|(?P<quoted>"[^"\\]*"|'[^'\\]*'))\s*\])""")
_PATH = re.compile(r"""[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*|\[\s*(?:-?\d+|"[^"\\]*"|'[^'\\]*')\s*\])*\Z""")
_MAX_PATH_CHARS = 1000
_WITHOUT_HOOKS = frozenset({"builtins", "abc", "enum", "typing", "ctypes", "_ctypes"})  # modules of metaclasses


def path_at_end(text: str) -> str:
    """The path that the text ends with, like `a.b[0]["key"].c`, or nothing."""
    found = _PATH.search(text[-_MAX_PATH_CHARS:])
    return found[0] if found is not None else ""


def resolve(names: dict, path: str):
    """The object that a path like `a.b[0]["key"]` leads to, or MISSING."""
    head = re.match(r"[A-Za-z_]\w*", path)
    if head is None:
        return MISSING
    value = names.get(head[0], MISSING)
    if value is MISSING:
        value = builtins_of(names).get(head[0], MISSING)
    position = head.end()
    while value is not MISSING and position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            return MISSING
        value = attribute(value, step["name"]) if step["name"] else _item(value, step)
        position = step.end()
    return value


def attribute(value, name: str):
    """The attribute as getattr() would give it where that runs no user code; a property is given as itself."""
    found = _raw(value, name)
    if _is_tools(value) or not untrusted.is_one_of(type(found), _BINDING):
        return found
    if _is(value, type):
        return found.__get__(None, value) if name not in vars(type) else found
    instance = _instance_names(value)
    if name in instance or _is(value, types.ModuleType):
        return found
    try:
        return found.__get__(value, type(value))
    except Exception:  # a slot without a value
        return MISSING


def attribute_names(value) -> set[str]:
    """What dir() would list, without asking a `__dir__` of the object."""
    if _is_tools(value):
        return set(dir(value))
    names = set(_instance_names(value))
    if not _is(value, types.ModuleType):
        for base in untrusted.mro(value) if _is(value, type) else untrusted.mro(type(value)):
            names.update(_class_names(base))
    return {name for name in names if type(name) is str}


def kind(value) -> str:
    """function, class, module, property or instance."""
    cls = type(value)
    if issubclass(cls, types.ModuleType):
        return "module"
    if issubclass(cls, type):
        return "class"
    if issubclass(cls, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType,
                        types.WrapperDescriptorType, types.MethodWrapperType, types.ClassMethodDescriptorType)):
        return "function"
    if issubclass(cls, (property, types.GetSetDescriptorType)):
        return "property"
    return "instance"


def signature(value) -> inspect.Signature | None:
    """The parameters, where they are known; defaults and annotations whose repr is a user's are shown as `...`."""
    which = kind(value)
    if which == "instance":
        value = attribute(value, "__call__")
        if value is MISSING or kind(value) != "function":
            return None
    elif which == "class" and not _has_plain_metaclass(value) or which in ("module", "property"):
        return None
    try:
        found = inspect.signature(value)
    except Exception:  # ValueError where there is none; whatever a decorator's __signature__ does
        return None
    parameters = [parameter.replace(default=_shown(parameter.default), annotation=_shown_annotation(parameter.annotation))
                  for parameter in found.parameters.values()]
    return found.replace(parameters=parameters, return_annotation=_shown_annotation(found.return_annotation))


def docstring(value) -> str:
    which = kind(value)
    if which == "class":
        text = _docstring_of_class(value)
    else:
        text = value.__doc__ if which == "function" or type(value) is property else _raw(value, "__doc__")
    return inspect.cleandoc(text) if type(text) is str else ""


def _docstring_of_class(cls):
    """Its own, or that of the next base that has one; that of `object` says nothing of others."""
    for base in untrusted.mro(cls):
        text = _class_names(base).get("__doc__")
        if type(text) is str and (base is not object or cls is object):
            return text
    return ""


def _raw(value, name):
    if _is_tools(value):
        try:
            return getattr(value, name, MISSING)
        except RuntimeError:  # nobody is connected
            return MISSING
    # As inspect.getattr_static(), which asks a metaclass for the `__dict__` of its classes.
    is_class = _is(value, type)
    of_instance = _in_classes(untrusted.mro(value), name) if is_class else _instance_names(value).get(name, MISSING)
    of_class = _in_classes(untrusted.mro(type(value)), name)
    if of_class is MISSING or of_instance is not MISSING and not _is_data_descriptor(of_class):
        return of_instance
    return of_class


def _in_classes(classes, name):
    for cls in classes:
        found = _class_names(cls).get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def _class_names(cls):
    return type.__dict__["__dict__"].__get__(cls)


def _is_data_descriptor(value):
    has = [_in_classes(untrusted.mro(type(value)), name) is not MISSING for name in ("__get__", "__set__", "__delete__")]
    return has[0] and (has[1] or has[2])


def _has_plain_metaclass(cls):
    # One of the user's may have hooks that inspect.signature() would call.
    return all(untrusted.module_of(each) in _WITHOUT_HOOKS for each in untrusted.mro(type(cls)))


def _is_tools(value):
    # Its names are the host's: looking them up runs nothing of the user's.
    return untrusted.module_of(type(value)) == "cellar_prelude.tools"


def _item(value, step):
    """An item of exactly a list, tuple or dict: any other class may have a __getitem__ of its own."""
    try:
        if untrusted.is_one_of(type(value), (list, tuple)):
            return value[int(step["index"])]
        if type(value) is dict:
            return value[int(step["index"]) if step["index"] else step["quoted"][1:-1]]
    except (LookupError, TypeError):
        pass
    return MISSING


def _instance_names(value):
    if _is(value, type):
        return {}
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return dict(found) if _is(found, dict) else {}


def builtins_of(names):
    found = names.get("__builtins__")
    return vars(found) if _is(found, types.ModuleType) else found if _is(found, dict) else {}


def _is(value, cls):
    # isinstance() would ask the object for its __class__.
    return issubclass(type(value), cls)


class _Shown:
    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


def _shown(value):
    is_plain = value is inspect.Parameter.empty or untrusted.is_one_of(type(value), _PLAIN)
    if is_plain or untrusted.is_one_of(type(value), (tuple, list, dict)) and not value:
        return value
    is_named = untrusted.is_one_of(type(value), (types.FunctionType, types.BuiltinFunctionType, type))
    return _Shown(value.__name__ if is_named else "...")


def _shown_annotation(value):
    is_plain = value is inspect.Parameter.empty or untrusted.is_one_of(type(value), (str, type))
    return value if is_plain or untrusted.module_of(type(value)) in ("typing", "types") else _Shown("...")
