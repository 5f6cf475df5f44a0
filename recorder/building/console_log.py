"""Writes console.jsonl, within limits and without secrets."""

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recorder.privacy.secret_values import Secrets
from recorder.writer import RecordingWriter
from schemas import limits
from schemas.text import well_formed
from schemas.types.recordings import ConsoleLine

from .network_log import HOLD

_SEARCH_MARGIN = 1 << 14  # characters after a line's end that are searched, too: a secret may extend beyond the end


@dataclass(frozen=True)
class ConsoleMessage:
    """What a page wrote. `script`: address of what wrote it; `line`, `column`: in that, from 1; None: not told."""

    text: str
    script: str = ""
    line: int | None = None
    column: int | None = None


class ConsoleLog:
    """Takes lines as they come and writes them once their page has told what in them is secret.

    `submit` and `recorded_time` are as KeptNetwork has them. Errors are counted by themselves, so that a page that
    writes on and on hides none.
    """

    def __init__(self, secrets: Secrets, submit: Callable[[Callable[[], None]], None],
                 recorded_time: Callable[[float], float | None]):
        self._secrets = secrets
        self._submit = submit
        self._kept_at = recorded_time
        self._pending: deque[tuple[float, ConsoleLine]] = deque()
        self._line_counts: Counter[bool] = Counter()  # whether they are errors -> lines
        self._second: dict[tuple[int, bool], tuple[int, int]] = {}  # tab, error -> the second, and lines in it
        self._left_out = self._noted = 0

    def begin(self, writer: RecordingWriter, options: dict[str, Any]) -> None:
        """Open what the options ask for."""
        self._writer = writer
        if options.get("console"):
            writer.open_console()

    def add_line(self, epoch: float, tab: int, url: str, kind: str, level: str,
                 describe: Callable[[], ConsoleMessage]) -> None:
        """A page has written something. `describe` is asked for it only if it is kept: a page may write without end."""
        if (seconds := self._kept_at(epoch)) is None:
            return
        if not self._has_room(tab, seconds, error=level == "error"):
            self._left_out += 1
            return
        message = describe()
        line: ConsoleLine = {"time": seconds, "tab": tab, "url": _searched_part(url), "kind": kind, "level": level,
                             "text": _searched_part(message.text)}
        if message.script:
            line["script"] = _searched_part(message.script)
        if message.line is not None:
            line["line"] = message.line
        if message.column is not None:
            line["column"] = message.column
        self._pending.append((time.monotonic() + HOLD, line))

    def release(self, *, all_: bool = False) -> None:
        """Write those that have waited long enough."""
        while self._pending and (all_ or self._pending[0][0] <= time.monotonic()):
            _, line = self._pending.popleft()
            self._submit_line(line)
        if self._left_out > 2 * self._noted:  # for one that is killed; `facts` has the number of one that ends
            self._noted = self._left_out
            self._submit(lambda: self._writer.update(**self.facts()))

    def facts(self) -> dict[str, int]:
        """What recording.json tells of them."""
        return {"console_left_out": self._left_out} if self._left_out else {}

    def _submit_line(self, line: ConsoleLine) -> None:
        self._submit(lambda: self._writer.console(_without(line, self._secrets)))

    def _has_room(self, tab: int, line_time: float, *, error: bool) -> bool:
        """Count a line, unless there are too many."""
        second, count = self._second.get((tab, error), (-1, 0))
        count = count + 1 if second == int(line_time) else 1
        if count > limits.CONSOLE_SECOND or self._line_counts[error] >= limits.CONSOLE_LINES:
            return False
        self._second[tab, error] = int(line_time), count
        self._line_counts[error] += 1
        return True


def _searched_part(text: str) -> str:
    """The beginning of a text that is searched for secrets: what is kept of it, a margin, and one character more, by
    which `_clean_and_cut` sees that the text went on."""
    return text[:limits.CONSOLE_TEXT + _SEARCH_MARGIN + 1]


def _without(line: ConsoleLine, secrets: Secrets) -> ConsoleLine:
    """A line without what is secret, as long as lines may be."""
    clean: ConsoleLine = {**line, "url": _clean_and_cut(line["url"], secrets.in_address),
                          "text": _clean_and_cut(line["text"], secrets.in_console)}
    if "script" in line:
        clean["script"] = _clean_and_cut(line["script"], secrets.in_address)
    return clean


def _clean_and_cut(text: str, clean: Callable[[str], str]) -> str:
    """A text cleaned, then cut; where it was cut before, its end may be the beginning of a secret and goes first."""
    cleaned = well_formed(clean(text))
    complete = len(text) <= limits.CONSOLE_TEXT + _SEARCH_MARGIN
    shortened = cleaned if complete else cleaned[:-_SEARCH_MARGIN]
    fits = complete and len(shortened) <= limits.CONSOLE_TEXT
    return shortened if fits else shortened[:limits.CONSOLE_TEXT - 1] + "…"
