"""The file network.har: complete after each entry."""

import json
import os
from pathlib import Path
from typing import Any

_TAIL = b"\n]}}\n"


class HarFile:
    """Appends entries; what was appended can be read at any moment, also after a kill."""

    def __init__(self, path: Path, browser: str, version: str):
        head = {"log": {"version": "1.2", "creator": {"name": "demotape", "version": version},
                        "browser": {"name": browser.partition(" ")[0], "version": browser.partition(" ")[2]},
                        "pages": [], "entries": []}}
        self._file = path.open("xb", buffering=0)
        self._file.write(json.dumps(head).removesuffix("]}}").encode())
        self._end = self._file.tell()
        self._file.write(_TAIL)
        self._some = False

    def append(self, entry: dict[str, Any]) -> None:
        """One write that overwrites the closing brackets by the entry and new ones."""
        text = (b",\n" if self._some else b"\n") + json.dumps(entry).encode()
        self._file.seek(self._end)
        self._file.write(text + _TAIL)
        self._end += len(text)
        self._some = True

    def close(self) -> None:
        """Sync and close."""
        os.fsync(self._file.fileno())
        self._file.close()
