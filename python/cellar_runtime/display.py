"""What a cell calls to show something: `display`, `update_display`, `clear_output`.

Turns objects into bundles and hands them to the one publish function given to `install`. Order
against stdout and the way to the host belong to that function.
"""

__builtins__ = __import__("builtins").__dict__.copy()

from collections.abc import Callable
from os import urandom

from cellar_runtime import mime, safe_json, untrusted

STATUS_MIME = "application/x-cellar-status"
MAX_BUNDLE_BYTES = 64 << 20
_MAX_ID_CHARACTERS = 1000

Entry = tuple[str, int, bytes]
Publish = Callable[[str, list[Entry], bytes, str], None]


def _not_installed(*_) -> None:
    raise RuntimeError("display() was called before a publisher was installed")


_installed: Publish = _not_installed
_publish: Publish = _not_installed


def install(publish: Publish) -> None:
    """Sends all output through publish(kind, entries, metadata, display_id), unless it is redirected.

    `kind` is display, update, result, clear or status; an entry is (MIME type, kind of data,
    bytes); `metadata` is a JSON object; `display_id` is empty where there is none.
    """
    global _installed, _publish
    _installed = _publish = publish


def redirect(publish: Publish) -> Publish:
    """Sends all output through another one. Returns where it went before."""
    global _publish
    before, _publish = _publish, publish
    return before


def end_redirection() -> bool:
    """Sends it through the installed one again. False where it goes there anyway."""
    return redirect(_installed) is not _installed


class DisplayHandle:
    """An output that can be shown again or replaced by its id."""

    def __init__(self, display_id: str | None = None):
        self.display_id = _new_id() if display_id is None else display_id

    def __repr__(self) -> str:
        return f"<DisplayHandle display_id={self.display_id}>"

    def display(self, obj, **options) -> None:
        """Shows obj as a new output with this id."""
        display(obj, display_id=self.display_id, **options)

    def update(self, obj, **options) -> None:
        """Replaces what the outputs with this id show by obj."""
        update_display(obj, display_id=self.display_id, **options)


def display(
    *objs,
    display_id: str | bool | None = None,
    raw: bool = False,
    metadata: dict | None = None,
    include=None,
    exclude=None,
    transient: dict | None = None,
    clear: bool = False,
    update: bool = False,
) -> DisplayHandle | None:
    """Show each object with its richest representations: HTML, images, JSON, text.

    display_id  a name under which `update_display` can replace the output later; True makes one up.
                A DisplayHandle is returned when it is given.
    raw         the objects are dicts from MIME type to data already.
    metadata    added to each output.
    include, exclude  the MIME types to show, or not to show.
    transient   a dict that may hold the display_id.
    clear       the cell's output so far is removed when the new one arrives.
    update      replace the output of that display_id instead of adding one.
    """
    if display_id is True:
        display_id = _new_id()
    shown_id = display_id or (transient or {}).get("display_id") or ""
    if update and not shown_id:
        raise TypeError("display_id is required for an update")
    if not objs and display_id:
        objs, raw = ({},), True  # an empty output, to be filled by an update
    if clear:
        clear_output(wait=True)
    kind = "update" if update else "display"
    for obj in objs:
        data, own_metadata = _raw(obj) if raw else _bundle(obj, include, exclude)
        if not (raw or shown_id) and _displays_itself(obj, data):
            continue
        publish_bundle(kind, data, {**own_metadata, **(metadata or {})}, shown_id)
    return DisplayHandle(display_id) if display_id else None


def update_display(obj, *, display_id: str, **options) -> None:
    """Replace what the outputs with that display_id show by obj."""
    display(obj, display_id=display_id, update=True, **options)


def clear_output(wait: bool = False) -> None:
    """Remove the output of the running cell; with wait=True, when the next output arrives."""
    _publish("clear", [], safe_json.dumps({"wait": bool(wait)}), "")


def publish_result(value: object) -> None:
    """Publishes the value of a cell's last expression."""
    data, metadata = mime.bundle_of(value)
    if not _displays_itself(value, data):
        publish_bundle("result", data, metadata)


def publish_status(event: dict) -> None:
    """Publishes one status event, `{"op": ..., ...}`."""
    publish_bundle("status", {STATUS_MIME: event}, {})


def publish_bundle(kind: str, data: dict, metadata: dict, display_id: str = "") -> None:
    """Encodes a bundle and publishes it, kept below MAX_BUNDLE_BYTES."""
    encoded_metadata = safe_json.dumps(metadata) if metadata else b"{}"
    if len(encoded_metadata) > MAX_BUNDLE_BYTES:
        encoded_metadata = b"{}"
    entries = _within_limit(_entries(data), MAX_BUNDLE_BYTES - len(encoded_metadata))
    shown_id = untrusted.valid_text(untrusted.safe_str(display_id))
    if len(shown_id) > _MAX_ID_CHARACTERS:
        raise ValueError(f"a display_id of {len(shown_id)} characters; {_MAX_ID_CHARACTERS} are allowed")
    _publish(kind, entries, encoded_metadata, shown_id)


def publish_encoded(kind: str, entries: list[Entry], metadata: bytes, display_id: str) -> None:
    """Publishes what has been encoded before."""
    _publish(kind, entries, metadata, display_id)


def _new_id() -> str:
    return urandom(16).hex()


def _bundle(obj: object, include, exclude) -> tuple[dict, dict]:
    if untrusted.is_one_of(type(obj), (dict, list, tuple)) and not include and not exclude:
        return mime.plain(obj)
    return mime.bundle_of(obj, include, exclude)


def _displays_itself(obj: object, data: dict) -> bool:
    """Only what has nothing but text to show is asked: a figure of plotly, which has HTML, would open a browser."""
    return data.keys() == {mime.TEXT_PLAIN} and mime.displays_itself(obj)


def _raw(obj: object) -> tuple[dict, dict]:
    if not isinstance(obj, dict):
        raise TypeError(f"display(raw=True) needs a dict of MIME types, not {type(obj).__name__}")
    return mime.clean_bundle(obj), {}


def _entries(data: dict) -> list[Entry]:
    """All entries encoded, the text first: it is the last one to fall to the limit."""
    entries = [(name, *mime.encode(name, value)) for name, value in data.items()]
    return sorted(entries, key=lambda entry: entry[0] != mime.TEXT_PLAIN)


def _within_limit(entries: list[Entry], room: int) -> list[Entry]:
    """The entries that fit, and for each that does not a line of text/plain in its place."""
    kept, notes = [], []
    for name, kind, payload in entries:
        if len(name) + len(payload) <= room:
            room -= len(name) + len(payload)
            kept.append((name, kind, payload))
        else:
            notes.append(
                f"[{untrusted.cut_end(name, 100)} left out: {len(payload)} bytes, more than a display"
                f" of {MAX_BUNDLE_BYTES} bytes can hold]"
            )
    return _with_notes(kept, notes) if notes else kept


def _with_notes(entries: list[Entry], notes: list[str]) -> list[Entry]:
    texts = [payload for name, _, payload in entries if name == mime.TEXT_PLAIN]
    others = [entry for entry in entries if entry[0] != mime.TEXT_PLAIN]
    note = untrusted.cut_end("\n".join(notes), 64 * 1024)
    return [(mime.TEXT_PLAIN, mime.KIND_TEXT, b"\n".join([*texts, untrusted.utf8(note)])), *others]
