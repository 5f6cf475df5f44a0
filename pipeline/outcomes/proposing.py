"""Outcome checks that a recorded session suggests: what it changed on the server, where it ended, and what stood there
in the end and not before. Each holds of its end and of nothing before anything was done.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import turbohtml

from schemas import UID_ATTRIBUTE
from schemas.addresses import split_address
from schemas.outcome_types import Match, OutcomeCheck
from schemas.types import Turn

from .checking import check
from .evidence import Asked, Evidence, Seen, fields, said

_CHANGING = ("POST", "PUT", "PATCH", "DELETE")
_MOST_TEXTS = 3
_ANYWHERE = 2  # how little the place of an element says that is like many others
_LONGEST = 200  # characters of a text that is proposed
_SHORTEST = 2
_SECRET = "demotape-secret-"
_VARYING = re.compile(r"[0-9a-f]{16}|[0-9]{9}")  # in an address: made anew each time
_NAME = re.compile(r"[A-Za-z][\w-]{0,60}")  # an id that a person gave, and no program
_TOLD = ("[role=status], [role=alert], [aria-live], output, h1, h2, h3, legend, caption, td, li, dd, p, strong, span, "
         "div")


@dataclass(frozen=True)
class Told:
    """A text that stands in one element of a page: a selector of that, and how little it says by its place."""

    css: str
    text: str
    rank: int
    uid: str


def propose(evidence: Evidence, turns: Iterable[Turn] = ()) -> list[OutcomeCheck]:
    """Checks of what a session did, the surest first; `turns`: what was done, for the texts that were typed."""
    typed = _typed(turns)
    found = [*_requests(evidence, typed), *_address(evidence), *_texts(evidence, typed)]
    return [each for each in found if check(each, evidence).holds and not check(each, evidence.at_start()).holds]


def confirmed(proposed: Sequence[OutcomeCheck], evidence: Evidence, again: Evidence) -> list[OutcomeCheck]:
    """Those that also hold when the same was done again: what only happened to be so the first time is left out. None
    at all where that leaves only what was there before the last change: whoever came so far would have done the task.
    """
    found = [each for each in proposed if check(each, again).holds]
    for number in range(len(evidence.pages) - 1, 0, -1):
        before = evidence.until(number)
        if not all(check(each, before).holds for each in proposed):
            telling = any(each["kind"] == "request" or not check(each, before).holds for each in found)
            return found if telling else []
    return found


def refused(wanted: OutcomeCheck, evidence: Evidence) -> str:
    """Why a check is none for this session: it does not hold at its end, or holds before anything was done; empty when
    it is one, or that cannot be told."""
    end = check(wanted, evidence)
    if end.holds is False:
        return f"it does not hold at the recorded end: {end.reason}"
    return "it holds at the start, before anything was done" if check(wanted, evidence.at_start()).holds else ""


def _typed(turns: Iterable[Turn]) -> list[str]:
    """Texts that were typed or chosen in what stands, the longest first."""
    texts = set()
    for turn in turns:
        if turn["type"] == "browser" and not turn["dropped"]:
            given = (turn["arguments"].get(name) for name in ("text", "value"))
            texts |= {value.strip() for value in given if isinstance(value, str)}
    return sorted((text for text in texts if _SHORTEST <= len(text) <= _LONGEST and _SECRET not in text),
                  key=lambda text: (-len(text), text))


def _requests(evidence: Evidence, typed: list[str]) -> Iterator[OutcomeCheck]:
    """The last request of each kind that changed something, with what was typed in it."""
    last: dict[tuple[str, str], Asked] = {}
    for asked in evidence.requests or ():
        if asked.method in _CHANGING and 0 < asked.status < 400 and not _VARYING.search(asked.url.partition("?")[0]):
            last[asked.method, asked.url.partition("?")[0]] = asked
    for (method, address), asked in reversed(last.items()):
        body: dict[str, Match] = {name: {"exact": [value]} for name, value in fields(asked.body).items()
                                  if value.strip() in typed}
        if body:
            yield {"kind": "request", "method": method, "match": {"exact": [address]}, "body": body}


def _address(evidence: Evidence) -> Iterator[OutcomeCheck]:
    """Where it ended, if that is elsewhere than where it began."""
    first, last = evidence.pages[0].url, evidence.pages[-1].url
    if first == last or _SECRET in last or not last.startswith(("http://", "https://")):
        return
    parts = split_address(last)
    if _VARYING.search(last):
        if not _VARYING.search(parts.path):
            yield {"kind": "url", "match": {"includes": [[f"{parts.scheme}://{parts.netloc}{parts.path}"]]}}
        return
    yield {"kind": "url", "match": {"exact": [last]}}


def _texts(evidence: Evidence, typed: list[str]) -> Iterator[OutcomeCheck]:
    """Texts of the last page that no page before anything was done had: those that came last, and of what was typed at
    least one. What was there already before the last change tells little of whether that was made."""
    before = {each.text for each in told(evidence.pages[0])}
    new = [each for each in told(evidence.pages[-1]) if each.text not in before]
    folded = [text.lower() for text in typed]
    def about(each: Told) -> bool:
        return any(text in each.text.lower() for text in folded)

    late = _late(evidence.pages, {each.text for each in new})
    new.sort(key=lambda each: (each.text not in late, not about(each), each.rank, len(each.text)))
    telling = [each for each in new if about(each) or each.rank < _ANYWHERE] or new
    chosen = [each for each in telling if each.text in late][:_MOST_TEXTS] or telling[:_MOST_TEXTS]
    if not any(about(each) for each in chosen):
        chosen += [each for each in telling if about(each)][:1]
    for each in chosen:
        yield {"kind": "text", "css": each.css, "match": {"includes": [[each.text]]}}


def _late(pages: list[Seen], texts: set[str]) -> set[str]:
    """Of texts of the last page those that came last."""
    for page in reversed(pages[:-1]):
        if missing := texts - {each.text for each in told(page)}:
            return missing
    return texts


def told(page: Seen) -> Iterator[Told]:
    """Texts of a page that stand in one element each, those of secrets and of what is made anew each time left out."""
    seen: set[tuple[str, str]] = set()
    for element in page.elements(_TOLD):
        text = said(element)
        if not _SHORTEST <= len(text) <= _LONGEST or _SECRET in text or _VARYING.search(text):
            continue
        css, rank = _selector(element)
        if (css, text) not in seen and not any(said(child) == text for child in element.select(_TOLD)):
            seen.add((css, text))
            yield Told(css, text, rank, str(element.attr(UID_ATTRIBUTE) or ""))


def _selector(element: turbohtml.Element) -> tuple[str, int]:
    """A selector that stays when the page is made anew: of an id, else of a role, else of the kind of element."""
    name, role = element.attr("id"), element.attr("role")
    if isinstance(name, str) and _NAME.fullmatch(name) and not _VARYING.search(name):
        return f"#{name}", 0
    if role in ("status", "alert"):
        return f"[role={role}]", 0
    return str(element.tag), 1 if element.tag in ("h1", "h2", "h3", "output") else _ANYWHERE
