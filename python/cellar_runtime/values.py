"""Values that cross between a session and its host: JSON or bytes, nothing lost or the reason why not."""
__builtins__ = __import__("builtins").__dict__.copy()


def decode(is_json: bool, data: bytes) -> object:
    """The value that the host sent."""
    if not is_json:
        return data
    import json
    return json.loads(data)


def encode(value: object) -> tuple[bool, bytes]:
    """(is_json, data). Raises when JSON cannot hold the value exactly."""
    if isinstance(value, (bytes, bytearray)):
        return False, bytes(value)
    import json
    return True, json.dumps(value, allow_nan=False, ensure_ascii=False).encode("utf-8")
