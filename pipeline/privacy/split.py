"""Finds personal data and secrets that a page divides into several elements, and redacts them between the tags."""

import re
from collections.abc import Iterable
from html import escape

from pipeline.pages.dom import BREAK
from schemas import REDACTED

from . import finding

_SPACE = " \t\n\r\f"
_TAG = re.compile(rb"(<[^<>]*>)")
_BETWEEN = rb"\s*(?:<[^<>]*>\s*)+"
_REDACTED = REDACTED.encode()


def findings_in_runs(runs: Iterable[str], nothing_in: set[str]) -> list[tuple[str, str]]:
    """What is personal or secret in runs (`Page.runs`): values with their kinds, each pair once; a value has a BREAK
    wherever an element begins or ends in it. `nothing_in` remembers runs without any, as for `findings`."""
    values: dict[tuple[str, str], None] = {}
    for run in runs:
        if run in nothing_in:
            continue
        text = run.replace(BREAK, "")
        if not (spans := finding.find(text)):
            nothing_in.add(run)
            continue
        # Where each character of the text stands in the run.
        indices = [index for index, character in enumerate(run) if character != BREAK]
        values |= dict.fromkeys((run[indices[span.start]:indices[span.end - 1] + 1], span.kind) for span in spans)
    return list(values)


def join_run(value: str) -> str:
    """The value as it is read."""
    return value.replace(BREAK, "")


class SplitValues:
    """Values that pages write in several elements; others are left alone."""

    def __init__(self, values: Iterable[str]):
        self.values = sorted({value for value in values if BREAK in value})
        self._patterns = [(pieces[0], re.compile(_BETWEEN.join(map(_pattern, pieces))))
                          for pieces in map(_pieces, self.values) if len(pieces) > 1]

    def content(self, content: bytes) -> bytes:
        """Markup in UTF-8 with every piece of them replaced; tags stay, so that the page is built as it was."""
        for first, pattern in self._patterns:
            if first in content:
                content = pattern.sub(lambda match: _without(match.group()), content)
        return content

    def text(self, text: str) -> str:
        """The same in text that may be markup."""
        if not self._patterns or "<" not in text:
            return text
        content = text.encode("utf-8", "surrogatepass")
        clean = self.content(content)
        return text if clean is content else clean.decode("utf-8", "surrogatepass")


def _pieces(value: str) -> list[bytes]:
    """Its parts as they stand in markup."""
    parts = (part.strip(_SPACE) for part in value.split(BREAK))
    return [escape(part, quote=False).encode("utf-8", "surrogatepass") for part in parts if part]


def _pattern(piece: bytes) -> bytes:
    return rb"\s+".join(map(re.escape, piece.split(b" ")))


def _without(markup: bytes) -> bytes:
    return b"".join(part if part.startswith(b"<") or part.isspace() or not part else _REDACTED
                    for part in _TAG.split(markup))
