"""Outcome checks proposed from a recorded session: its changes on the server, its final address, and new texts on the
last page. Each holds of its end and of nothing before anything was done."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import turbohtml

from schemas import UID_ATTRIBUTE
from schemas.addresses import split_address
from schemas.types.outcome import Match, OutcomeCheck
from schemas.types.recordings import Turn

from .checking import check
from .evidence import Evidence, PageState, Request, fields, said

_CHANGING = ("POST", "PUT", "PATCH", "DELETE")
_MAX_TEXTS = 3
_ANYWHERE = 2  # how little the place of an element says that is like many others
_LONGEST = 200  # characters of a text that is proposed
_SHORTEST = 2
_SECRET = "demotape-secret-"
_VARYING = re.compile(r"[0-9a-f]{16}|[0-9]{9}")  # in an address: made anew each time
_NAME = re.compile(r"[A-Za-z][\w-]{0,60}")  # an id that a person gave, and no program
_TEXT_ELEMENTS = ("[role=status], [role=alert], [aria-live], output, h1, h2, h3, legend, caption, td, li, dd, p, "
                  "strong, span, div")


@dataclass(frozen=True)
class PageText:
    """A text that stands in one element of a page: a selector of that, and how little it says by its place."""

    css: str
    text: str
    rank: int
    uid: str


def propose(evidence: Evidence, turns: Iterable[Turn] = ()) -> list[OutcomeCheck]:
    """Checks of what a session did, the surest first; `turns`: what was done, for the texts that were typed."""
    typed = _typed_texts(turns)
    proposed = [*_requests(evidence, typed), *_address(evidence), *_texts(evidence, typed)]
    return [check_ for check_ in proposed if check(check_, evidence).holds
            and not check(check_, evidence.at_start()).holds]


def confirm(proposed: Sequence[OutcomeCheck], evidence: Evidence, again: Evidence) -> list[OutcomeCheck]:
    """Those that also hold when the same was done again: what only happened to be so the first time is left out. None
    at all where that leaves only what was there before the last change: whoever came so far would have done the task.
    """
    holding = [check_ for check_ in proposed if check(check_, again).holds]
    for number in range(len(evidence.pages) - 1, 0, -1):
        before = evidence.until(number)
        if not all(check(candidate, before).holds for candidate in proposed):
            telling = any(candidate["kind"] == "request" or not check(candidate, before).holds for candidate in holding)
            return holding if telling else []
    return holding


def refusal_reason(wanted: OutcomeCheck, evidence: Evidence) -> str:
    """Why a check is none for this session: it does not hold at its end, or holds before anything was done; empty when
    it is one, or that cannot be told."""
    end = check(wanted, evidence)
    if end.holds is False:
        return f"it fails at the recorded end: {end.reason}"
    return "it passes at the start, before any action" if check(wanted, evidence.at_start()).holds else ""


def _typed_texts(turns: Iterable[Turn]) -> list[str]:
    """Texts that were typed or chosen in what stands, the longest first."""
    texts = set()
    for turn in turns:
        if turn["type"] == "browser" and not turn["dropped"]:
            values = (turn["arguments"].get(name) for name in ("text", "value"))
            texts |= {value.strip() for value in values if isinstance(value, str)}
    return sorted((text for text in texts if _SHORTEST <= len(text) <= _LONGEST and _SECRET not in text),
                  key=lambda text: (-len(text), text))


def _requests(evidence: Evidence, typed: list[str]) -> Iterator[OutcomeCheck]:
    """The last request of each kind that changed something, with what was typed in it."""
    last: dict[tuple[str, str], Request] = {}
    for request in evidence.requests or ():
        address = request.url.partition("?")[0]
        if request.method in _CHANGING and 0 < request.status < 400 and not _VARYING.search(address):
            last[request.method, address] = request
    for (method, address), request in reversed(last.items()):
        body: dict[str, Match] = {name: {"exact": [value]} for name, value in fields(request.body).items()
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
    before = {page_text.text for page_text in page_texts(evidence.pages[0])}
    new = [page_text for page_text in page_texts(evidence.pages[-1]) if page_text.text not in before]
    folded = [text.lower() for text in typed]
    def about(page_text: PageText) -> bool:
        return any(text in page_text.text.lower() for text in folded)

    late = _late(evidence.pages, {page_text.text for page_text in new})
    new.sort(key=lambda page_text: (page_text.text not in late, not about(page_text), page_text.rank,
                                    len(page_text.text)))
    telling = [page_text for page_text in new if about(page_text) or page_text.rank < _ANYWHERE] or new
    chosen = [page_text for page_text in telling if page_text.text in late][:_MAX_TEXTS] or telling[:_MAX_TEXTS]
    if not any(about(page_text) for page_text in chosen):
        chosen += [page_text for page_text in telling if about(page_text)][:1]
    for page_text in chosen:
        yield {"kind": "text", "css": page_text.css, "match": {"includes": [[page_text.text]]}}


def _late(pages: list[PageState], texts: set[str]) -> set[str]:
    """Of texts of the last page those that came last."""
    for page in reversed(pages[:-1]):
        if missing := texts - {text.text for text in page_texts(page)}:
            return missing
    return texts


def page_texts(page: PageState) -> Iterator[PageText]:
    """Texts of a page that stand in one element each, those of secrets and of what is made anew each time left out."""
    visited: set[tuple[str, str]] = set()
    for element in page.elements(_TEXT_ELEMENTS):
        text = said(element)
        if not _SHORTEST <= len(text) <= _LONGEST or _SECRET in text or _VARYING.search(text):
            continue
        css, rank = _selector(element)
        if (css, text) not in visited and not any(said(child) == text for child in element.select(_TEXT_ELEMENTS)):
            visited.add((css, text))
            yield PageText(css, text, rank, str(element.attr(UID_ATTRIBUTE) or ""))


def _selector(element: turbohtml.Element) -> tuple[str, int]:
    """A selector that stays when the page is made anew: of an id, else of a role, else of the kind of element."""
    name, role = element.attr("id"), element.attr("role")
    if isinstance(name, str) and _NAME.fullmatch(name) and not _VARYING.search(name):
        return f"#{name}", 0
    if role in ("status", "alert"):
        return f"[role={role}]", 0
    return str(element.tag), 1 if element.tag in ("h1", "h2", "h3", "output") else _ANYWHERE
