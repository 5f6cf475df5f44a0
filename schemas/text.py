"""Normalisation of text from pages and people that some encodings cannot represent."""

import json
import re
from collections.abc import Callable
from typing import Any

_HALF = re.compile(rb"\\u[dD]|\xed")  # what JSON must have for text with half of a surrogate pair
_UNASSIGNED_IN_1252 = "\x81\x8d\x8f\x90\x9d"


def well_formed(value: Any) -> Any:
    """The same JSON value with text that UTF-8 can hold: half of a surrogate pair (a page's text may be cut inside an
    emoji) becomes U+FFFD."""
    return _walked(value, _replace_lone_surrogates)


def storable(value: Any) -> Any:
    """The same with text that any database can hold: NUL characters become U+FFFD, too."""
    return _walked(value, lambda text: _replace_lone_surrogates(text).replace("\0", "\ufffd"))


def read_well_formed(content: bytes) -> Any:
    """The value of JSON, well-formed; raises ValueError for what is none. As fast as reading it, where nothing is to be
    mended."""
    value = json.loads(content)
    return well_formed(value) if _HALF.search(content) else value


def _walked(value: Any, mend: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return mend(value)
    if isinstance(value, list):
        return [_walked(item, mend) for item in value]
    if isinstance(value, dict):
        return {_walked(key, mend): _walked(item, mend) for key, item in value.items()}
    return value


def _replace_lone_surrogates(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def encode_windows_1252(text: str) -> bytes:
    """The bytes that browsers read as this text in windows-1252 (WHATWG Encoding, section 9): one to which Python's
    codec gives no letter is the control character of the same number. Raises UnicodeEncodeError."""
    return b"".join(bytes([ord(letter)]) if letter in _UNASSIGNED_IN_1252 else letter.encode("cp1252")
                    for letter in text)
