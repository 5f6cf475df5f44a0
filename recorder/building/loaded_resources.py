"""Stores style sheets, images and fonts of the pages: each address once for each change of its content."""


class LoadedResources:
    """What the pages of one recording have loaded."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}  # address -> hash of its newest content
        self._in_pause: dict[str, tuple[str, bytes]] = {}

    def add(self, url: str, content: bytes) -> bool:
        """Whether it is to be written: it was not kept as the newest of its address, and is from now on."""
        digest = hash(content)
        if self._last.get(url) == digest:
            return False
        self._last[url] = digest
        return True

    def note_in_pause(self, url: str, content_type: str, content: bytes) -> None:
        """It was loaded while nothing is kept."""
        self._in_pause[url] = content_type, content

    def take_used(self, used: set[str]) -> list[tuple[str, str, bytes]]:
        """Address, type and content of what was loaded in a pause and is still used; the rest is forgotten."""
        loaded, self._in_pause = self._in_pause, {}
        return [(url, *loaded[url]) for url in used & loaded.keys()]
