"""Client of an environment that `demotape replay serve --cdp` serves."""

import json
import urllib.request
from typing import Any


class Api:
    """The HTTP API at the address that is printed: `http://127.0.0.1:`, a port and a token."""

    def __init__(self, address: str):
        self._address = address.rstrip("/")

    def goal(self) -> dict[str, Any]:
        """`goal`, `start_url`, `cdp` (the browser's address) and `said`."""
        return self._ask("/goal")

    def reset(self, opened: bool) -> str:
        """Begin a run; `opened`: at the start page, else in an empty tab. Returns the name of its recording."""
        return self._ask("/reset", {"opened": opened})["run"]

    def score(self, answer: str, ended: bool) -> float | None:
        """1, 0, or None where that is not decided; `ended`: the run ends with it."""
        return self._ask("/score", {"answer": answer, "ended": ended})["score"]

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        request = urllib.request.Request(self._address + path, None if body is None else json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)
