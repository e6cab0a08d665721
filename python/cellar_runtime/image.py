"""Images that come from the host: a value that can be shown, saved, or given to a library as bytes."""
__builtins__ = __import__("builtins").__dict__.copy()

_KEY = "$image"


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


def place_images(value: object, images: list[Image]) -> object:
    """The images stand where the value has {"$image": index}; those that stand nowhere follow it, or are in the place
    of a value that is None."""
    left = dict(enumerate(images))

    def place(node):
        if isinstance(node, dict):
            index = node.get(_KEY)
            if len(node) == 1 and type(index) is int and 0 <= index < len(images):
                left.pop(index, None)
                return images[index]
            return {key: place(item) for key, item in node.items()}
        if isinstance(node, list):
            return [place(item) for item in node]
        return node

    value = place(value)
    if not left:
        return value
    rest = list(left.values())
    if value is not None:
        return [value, *rest]
    return rest[0] if len(rest) == 1 else rest
