"""Takes what rendered pages have in common out of them: each picture, font and style sheet is stored once."""

import hashlib
import re
from collections.abc import Callable
from typing import NamedTuple

# Parts have at least 512 characters; shorter texts stay where they are.
_DATA_URI = re.compile(r"data:[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,60};base64,[A-Za-z0-9+/]{512,}={0,2}")
_SHEET = re.compile(r"(<style\b[^<>]*>)([^<]{512,})(?=</style>)")
REFERENCE = "\ue000{}\ue001"  # characters for private use around an id: the viewer replaces them


class SplitPage(NamedTuple):
    """A page whose parts are referred to by id, and these by their id: text of data: addresses and style sheets."""

    text: str
    parts: dict[str, str]


def split_page(text: str, redact: Callable[[str], str]) -> SplitPage:
    """A rendered page in parts. `redact` is applied to all but the content of data: addresses."""
    parts: dict[str, str] = {}

    def refer(part: str) -> str:
        name = part_id(part.encode())
        parts[name] = part
        return REFERENCE.format(name)

    text = text.replace("\ue000", "\ufffd").replace("\ue001", "\ufffd")
    text = redact(_DATA_URI.sub(lambda match: refer(match[0]), text))
    return SplitPage(_SHEET.sub(lambda match: match[1] + refer(match[2]), text), parts)


def part_id(content: bytes) -> str:
    """Id of a part, from its content."""
    return hashlib.sha256(content).hexdigest()[:24]
