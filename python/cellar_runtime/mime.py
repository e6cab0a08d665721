"""What an object looks like: a bundle of MIME types with their data, and how each travels.

Asks the object's own `_repr_*_` methods first, then formatters registered by type name. It never
imports a library to find out, and publishes nothing.
"""

__builtins__ = __import__("builtins").__dict__.copy()

from binascii import a2b_base64
from collections.abc import Callable
from io import BytesIO

import _cellar
from cellar_runtime import safe_json, untrusted
from cellar_runtime.library import MODULES
from cellar_runtime.pretty import MAX_CHARS, pretty

TEXT_PLAIN = "text/plain"
JSON_MIME = "application/json"

# How an entry's bytes are to be read.
KIND_TEXT, KIND_BYTES, KIND_JSON = _cellar.MimeKind.TEXT, _cellar.MimeKind.BYTES, _cellar.MimeKind.JSON

# In the order asked; a type given by an earlier method is not asked for again.
_METHODS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_json_", JSON_MIME),
    ("_repr_latex_", "text/latex"),
    ("_repr_javascript_", "application/javascript"),
    ("_repr_pdf_", "application/pdf"),
)
_BUNDLE_METHOD = "_repr_mimebundle_"
_DISPLAY_METHOD, _PRETTY_METHOD = "_ipython_display_", "_repr_pretty_"
_NO_SUCH_METHOD = "_repr_that_no_object_has_"

# Common values without `_repr_*_` methods, so that the result `2` costs no search for them.
_PLAIN_TYPES = (int, str, float, bool, list, dict, tuple, set, bytes, complex, frozenset)

_displaying = set()  # ids of objects that display themselves now
_formatters: dict[str, tuple[Callable[[object], dict], str | None]] = {}


def register_formatter(type_name: str, formatter: Callable[[object], dict], only: str | None = None) -> None:
    """Has formatter(obj) add MIME types to objects of class `type_name`, as in `module.Class`.

    One that gives a single type, `only`, is not asked where the object itself has given it.
    """
    _formatters[type_name] = formatter, only


def bundle_of(obj: object, include=None, exclude=None) -> tuple[dict, dict]:
    """The representations of obj by MIME type (str, bytes or a JSON value), and their metadata.

    `text/plain` is always there unless filtered out. A method that fails or gives None is skipped.
    """
    data, metadata = {}, {}
    if not untrusted.is_one_of(type(obj), _PLAIN_TYPES) and _has_methods(obj):
        _add_bundle(data, metadata, _call_bundle_method(obj, include, exclude))
        for method, mime in _METHODS:
            if mime not in data and _is_wanted(mime, include, exclude):
                _add_method(data, metadata, mime, _call(obj, method))
        _add_formatted(data, obj)
        if TEXT_PLAIN not in data:
            _add_method(data, metadata, TEXT_PLAIN, _call_pretty_method(obj))
    if TEXT_PLAIN not in data and _is_wanted(TEXT_PLAIN, include, exclude):
        data[TEXT_PLAIN] = pretty(obj)
    data = {mime: value for mime, value in data.items() if _is_wanted(mime, include, exclude)}
    return data, metadata


def displays_itself(obj: object) -> bool:
    """Asks the object to, by its `_ipython_display_`. False where it has none, or that fails, or is being called."""
    if untrusted.is_one_of(type(obj), _PLAIN_TYPES) or not _has_methods(obj) or id(obj) in _displaying:
        return False
    _displaying.add(id(obj))
    try:
        bound = getattr(obj, _DISPLAY_METHOD, None)
        if not callable(bound):
            return False
        bound()
        return True
    except untrusted.FAILURES:
        return False
    finally:
        _displaying.discard(id(obj))


def plain(value: object) -> tuple[dict, dict]:
    """The bundle of a plain dict, list or tuple: the value itself as JSON, and its text."""
    return {TEXT_PLAIN: pretty(value), JSON_MIME: value}, {}


def clean_bundle(data: dict) -> dict:
    """A bundle from outside with valid names and values of the form `encode` takes, no None."""
    cleaned = {}
    for mime, value in data.items():
        mime = untrusted.valid_text(untrusted.safe_str(mime))
        value = _wire_value(mime, value)
        if value is not None:
            cleaned[mime] = value
    return cleaned


def encode(mime: str, value: object) -> tuple[int, bytes]:
    """One entry's kind and bytes."""
    if not _is_json(mime):
        if type(value) is str:
            return KIND_TEXT, untrusted.utf8(value)
        if type(value) is bytes:
            return KIND_BYTES, value
    return KIND_JSON, safe_json.dumps(value)


def _has_methods(obj: object) -> bool:
    """False for a class, whose methods want an instance, and for what answers to every name."""
    if issubclass(type(obj), type):
        return False
    try:
        getattr(obj, _NO_SUCH_METHOD)
    except AttributeError:
        return True
    except untrusted.FAILURES:
        return False
    return False


def _call(obj: object, method: str) -> object:
    """What the method gives, or None where it is missing, fails or declines."""
    try:
        bound = getattr(obj, method, None)
        return bound() if callable(bound) else None
    except untrusted.FAILURES:
        return None


def _call_bundle_method(obj: object, include, exclude) -> object:
    """The filters are part of the protocol, but many a `_repr_mimebundle_` takes no arguments."""
    try:
        bound = getattr(obj, _BUNDLE_METHOD, None)
        if not callable(bound):
            return None
        try:
            return bound(include=include, exclude=exclude)
        except TypeError as error:
            if "keyword argument" not in untrusted.safe_str(error):  # of its body, then, and not of the call
                raise
            return bound()
    except untrusted.FAILURES:
        return None


def _call_pretty_method(obj: object) -> object:
    """It wants a printer of IPython's, which is there when a cell has imported it."""
    printer = MODULES.get("IPython.lib.pretty")
    if printer is None:
        return None
    try:
        return untrusted.cut_end(printer.pretty(obj), MAX_CHARS) if hasattr(obj, _PRETTY_METHOD) else None
    except untrusted.FAILURES:
        return None


def _add_bundle(data: dict, metadata: dict, given: object) -> None:
    given, given_metadata = _split(given)
    try:
        if isinstance(given, dict):
            data.update(clean_bundle(given))
        metadata.update(given_metadata)
    except untrusted.FAILURES:  # a dict subclass with methods of its own
        pass


def _add_method(data: dict, metadata: dict, mime: str, given: object) -> None:
    given, given_metadata = _split(given)
    value = _wire_value(mime, given)
    if value is not None:
        data[mime] = value
        if given_metadata:
            metadata[mime] = given_metadata


def _add_formatted(data: dict, obj: object) -> None:
    for name in untrusted.qualified_names(type(obj)):
        if name in _formatters:
            formatter, only = _formatters[name]
            try:
                if only not in data:
                    data.update({**formatter(obj), **data})
            except untrusted.FAILURES:
                pass
            return


def _split(given: object) -> tuple[object, dict]:
    """(data, metadata) of what a method gave: either the data alone or such a pair."""
    if type(given) is tuple and len(given) == 2 and type(given[1]) is dict:
        return given
    if type(given) is tuple and len(given) == 2 and given[1] is None:
        return given[0], {}
    return given, {}


def _is_wanted(mime: str, include, exclude) -> bool:
    return (not include or mime in include) and not (exclude and mime in exclude)


def _wire_value(mime: str, value: object) -> object:
    """value as str, bytes or JSON value, as its type asks; None where it cannot be that."""
    if value is None or _is_json(mime):
        return value
    if issubclass(type(value), (bytes, bytearray, memoryview)):
        data = bytes(value)
        return data.decode("utf-8", "replace") if _is_text(mime) else data
    if issubclass(type(value), str):
        text = str.__str__(value)
        return _from_base64(text) if _is_binary(mime) else text
    return value


def _from_base64(text: str) -> bytes | None:
    try:
        return a2b_base64("".join(text.split()), strict_mode=True)
    except ValueError:
        return None


def _is_json(mime: str) -> bool:
    return mime == JSON_MIME or mime.endswith("+json")


def _is_text(mime: str) -> bool:
    return mime.startswith("text/") or mime.endswith("+xml") or mime == "application/javascript"


def _is_binary(mime: str) -> bool:
    is_media = mime.startswith(("image/", "audio/", "video/")) and not _is_text(mime)
    return is_media or mime == "application/pdf"


def _pil_image(image: object) -> dict:
    """PNG for the images whose own `_repr_png_` is missing or does not know their mode."""
    drawable = image.mode in ("1", "L", "LA", "I", "P", "RGB", "RGBA")
    buffer = BytesIO()
    (image if drawable else image.convert("RGB")).save(buffer, "PNG")
    return {"image/png": buffer.getvalue()}


register_formatter("PIL.Image.Image", _pil_image, only="image/png")
