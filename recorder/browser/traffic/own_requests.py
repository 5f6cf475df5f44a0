"""Requests of the recorder itself, which no page made."""

from urllib.parse import urlsplit

FONT_PATH = "/.demotape-font-"  # no page of its site: the request is given the address of a font


def is_own_request(url: str) -> bool:
    """Whether a request stands for a font that the recorder asks the browser's cache for."""
    return FONT_PATH in url and urlsplit(url).path.startswith(FONT_PATH)
