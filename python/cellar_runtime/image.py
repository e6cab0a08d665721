"""Images that come from the host: a value that can be shown, saved, or given to a library as bytes."""
__builtins__ = __import__("builtins").__dict__.copy()


class Image:
    """The bytes of an image and their MIME type. The last expression of a cell, or `display`, shows it."""

    __slots__ = ("data", "mime")

    def __init__(self, data: bytes, mime: str):
        self.data = data
        self.mime = mime

    def __repr__(self) -> str:
        return f"<Image {self.mime}, {len(self.data)} bytes>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self.mime: self.data, "text/plain": repr(self)}

    def save(self, path) -> None:
        """Writes the image to a file."""
        with open(path, "wb") as file:
            file.write(self.data)
