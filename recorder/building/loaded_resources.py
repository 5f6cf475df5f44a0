"""Stores style sheets, images and fonts of the pages: each address and content once."""


class LoadedResources:
    """What the pages of one recording have loaded."""

    def __init__(self) -> None:
        self._stored: set[tuple[str, int]] = set()
        self._in_pause: dict[str, tuple[str, bytes]] = {}

    def add(self, url: str, content: bytes) -> bool:
        """Whether it is to be written: it was not kept yet, and is from now on."""
        key = (url, hash(content))
        if key in self._stored:
            return False
        self._stored.add(key)
        return True

    def note_in_pause(self, url: str, content_type: str, content: bytes) -> None:
        """It was loaded while nothing is kept."""
        self._in_pause[url] = content_type, content

    def take_used(self, used: set[str]) -> list[tuple[str, str, bytes]]:
        """Address, type and content of what was loaded in a pause and is still used; the rest is forgotten."""
        loaded, self._in_pause = self._in_pause, {}
        return [(url, *loaded[url]) for url in used & loaded.keys()]
