"""Evaluation of outcome checks on a session. What nobody could decide is told as such, never guessed."""

import html
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import parse_qsl

import cv2
import numpy as np

from schemas import InputError
from schemas.addresses import split_address
from schemas.types.outcome import Match, Outcome, OutcomeCheck

from .evidence import Evidence, PageState, Request, decoded, describe_request, fields, said
from .network_events import event_holds
from .responses import response_holds
from .texts import address_holds, holds, shorten
from .wording import describe_match

MIN_SIMILARITY = 0.8  # SSIM, from which on two pictures are alike (VisualWebArena's default)
RESULT_WORDS = {True: "success", False: "failure", None: "undecided"}  # by whether all checks hold
_ANSWER_NOT_STORED = "the final answer was not recorded"
_MIN_SIDE = 7  # pixels of a side: SSIM's window


@dataclass(frozen=True)
class CheckResult:
    """What came of a check: `holds` is None where it could not be decided; `reason`: what was observed where it holds,
    else why it does not, or could not be decided."""

    check: OutcomeCheck
    holds: bool | None
    reason: str = ""
    parts: "tuple[CheckResult, ...]" = ()


@dataclass(frozen=True)
class Score:
    """What came of all: `holds` as a check's; `value` is 1.0 where all hold, 0.0 where one does not, None where that is
    not known; `reached`: the share of checkpoints that were reached in order, None without any."""

    holds: bool | None
    checks: tuple[CheckResult, ...]
    reached: float | None = None

    @property
    def value(self) -> float | None:
        return None if self.holds is None else float(self.holds)


def score(outcome: Outcome, evidence: Evidence) -> Score:
    """Hold all checks against a session."""
    checks = tuple(check(wanted, evidence) for wanted in outcome["checks"])
    return Score(_all(result.holds for result in checks), checks, _reached_share(outcome, evidence))


def check(wanted: OutcomeCheck, evidence: Evidence) -> CheckResult:
    """Hold one check against a session."""
    kind = wanted["kind"]
    if kind in ("all", "any", "not"):
        return _group(wanted, evidence)
    try:
        decided, reason = _RULES[kind](wanted, evidence)
    except InputError as error:
        decided, reason = None, str(error)
    return CheckResult(wanted, decided, reason)


def _group(wanted: OutcomeCheck, evidence: Evidence) -> CheckResult:
    parts = tuple(check(part, evidence) for part in wanted["checks"])
    match wanted["kind"]:
        case "all":
            decided = _all(part.holds for part in parts)
        case "any":
            decided = _not(_all(_not(part.holds) for part in parts))
        case _:
            decided = _not(parts[0].holds)
    if wanted["kind"] == "not":
        reason = f"the negated check passes: {parts[0].reason}" if decided is False else parts[0].reason
    else:  # of those that decided it
        reason = "; ".join(part.reason for part in parts if part.holds is decided and part.reason)
    return CheckResult(wanted, decided, reason, parts)


def _all(decided: Iterable[bool | None]) -> bool | None:
    known = list(decided)
    return False if False in known else None if None in known else True


def _not(decided: bool | None) -> bool | None:
    return None if decided is None else not decided


def _reached_share(outcome: Outcome, evidence: Evidence) -> float | None:
    """The share of checkpoints that held one after the other on the way."""
    wanted = outcome.get("checkpoints") or []
    if not wanted:
        return None
    done = 0
    for number in range(1, len(evidence.pages) + 1):
        while done < len(wanted) and check(wanted[done]["check"], evidence.until(number)).holds:
            done += 1
    return done / len(wanted)


def _url(wanted: OutcomeCheck, evidence: Evidence) -> tuple[bool | None, str]:
    url = evidence.pages[-1].url
    return _with_observation(address_holds(wanted["match"], url), f"the address is {shorten(url)}")


def _answer(wanted: OutcomeCheck, evidence: Evidence) -> tuple[bool | None, str]:
    if not evidence.answered:
        return None, _ANSWER_NOT_STORED
    answer = evidence.answer
    return _with_observation(holds(wanted["match"], answer, evidence.judge), f"the answer is {shorten(answer)}")


def _page(wanted: OutcomeCheck, evidence: Evidence) -> PageState:
    """The page that a check looks at; raises InputError where it was never shown."""
    if "page" not in wanted:
        return evidence.pages[-1]
    for page in reversed(evidence.pages):
        if address_holds({"exact": [wanted["page"]]}, page.url)[0]:
            return page
    raise InputError(f"the page {shorten(wanted['page'])} was not shown in this session")


def _text(wanted: OutcomeCheck, evidence: Evidence) -> tuple[bool | None, str]:
    page, css = _page(wanted, evidence), wanted.get("css")
    if css is None:
        return _with_observation(holds(wanted["match"], html.unescape(page.content()), evidence.judge),
                                 f"the page {shorten(page.url)} {describe_match(wanted['match'])}")
    elements = page.elements(css)
    if not elements:
        return False, f"no element matches {shorten(css)}"
    name = wanted.get("attribute")
    texts = [str(element.attr(name) or "") if name else said(element) for element in elements]
    text = "\n".join(texts)
    return _with_observation(holds(wanted["match"], text, evidence.judge), f"{shorten(css)} has {shorten(text)}")


def _script(wanted: OutcomeCheck, evidence: Evidence) -> tuple[bool | None, str]:
    page = _page(wanted, evidence)
    if evidence.evaluate is None:
        return None, "expressions require a browser"
    value = evidence.evaluate(page, wanted["expression"], wanted.get("before", []))
    return _with_observation(holds(wanted["match"], html.unescape(value), evidence.judge),
                             f"the value is {shorten(value)}")


def _picture(wanted: OutcomeCheck, evidence: Evidence) -> tuple[bool | None, str]:
    page, css = _page(wanted, evidence), wanted.get("css")
    screenshot = page.picture() if css is None else None
    pictures = [screenshot] if screenshot else page.pictures(css)
    if not pictures:
        return False, f"no image matches {shorten(css or 'the page')}"
    reference = evidence.reference(wanted["picture"])
    best = max(similarity(reference, picture) for picture in pictures)
    minimum = wanted.get("least", MIN_SIMILARITY)
    if best > minimum:
        return True, f"the most similar image has {best:.2f} (SSIM), above {minimum:g}"
    return False, f"the most similar image has {best:.2f} (SSIM), not above {minimum:g}"


def similarity(first: bytes, second: bytes) -> float:
    """SSIM of two image files in grey, at the larger size of both; -1 where one is none."""
    from skimage.metrics import structural_similarity  # here: it takes a third of a second to load

    pictures = [decoded(first), decoded(second)]
    if pictures[0] is None or pictures[1] is None:
        return -1.0
    height, width = (max(lengths)
                     for lengths in zip(*(picture.shape[:2] for picture in pictures if picture is not None),
                                               strict=True))
    if min(height, width) < _MIN_SIDE:
        return -1.0
    grey = [cv2.cvtColor(cv2.resize(picture, (width, height), interpolation=cv2.INTER_LANCZOS4), cv2.COLOR_BGR2GRAY)
            for picture in pictures if picture is not None]
    return float(structural_similarity(*(np.asarray(picture) for picture in grey)))


def _request(wanted: OutcomeCheck, evidence: Evidence) -> tuple[bool | None, str]:
    if evidence.requests is None:
        return None, "the network of this session was not recorded"
    if "events" in wanted:
        return event_holds(wanted, evidence)
    reasons = [unfit(wanted, request) for request in evidence.requests]
    if "" in reasons:
        return True, f"the request was {describe_request(evidence.requests[reasons.index('')])}"
    nearest = next((reason for reason in reasons if reason and not reason.startswith("another")), "")
    return False, f"no request was like that{f' ({nearest})' if nearest else ''}"


def unfit(wanted: OutcomeCheck, request: Request) -> str:
    """Why a request is not the wanted one; empty when it is."""
    address = request.url.partition("?")[0]
    if wanted.get("method", request.method).upper() != request.method or not address_holds(wanted["match"], address)[0]:
        return "another address"
    status = wanted.get("status", request.status if 0 < request.status < 400 else None)
    if status != request.status and ("status" not in wanted or status is not None):
        return f"it was answered {request.status or 'by nobody'}"
    query = dict(parse_qsl(split_address(request.url).query, keep_blank_values=True))
    return (_differs("parameter", wanted.get("query", {}), query)
            or _differs("field", wanted.get("body", {}), fields(request.body) if "body" in wanted else {}))


def _differs(subject: str, wanted: dict[str, Match], actual: dict[str, str]) -> str:
    for name, match in wanted.items():
        if name not in actual:
            return f"{subject} {shorten(name)} is missing"
        if not holds(match, actual[name])[0]:
            return f"{subject} {shorten(name)}: {holds(match, actual[name])[1]}"
    return ""


def _response(wanted: OutcomeCheck, evidence: Evidence) -> tuple[bool | None, str]:
    if not evidence.answered:
        return None, _ANSWER_NOT_STORED
    return _with_observation(response_holds(wanted, evidence.answer), f"the answer is {shorten(evidence.answer)}")


def _with_observation(result: tuple[bool | None, str], observation: str) -> tuple[bool | None, str]:
    """The result of a rule, with what it observed as the reason where the check holds."""
    return (True, observation) if result[0] else result


def _unknown(wanted: OutcomeCheck, evidence: Evidence) -> tuple[bool | None, str]:
    return None, wanted["reason"]


_RULES: dict[str, Callable[[OutcomeCheck, Evidence], tuple[bool | None, str]]] = {
    "url": _url, "text": _text, "picture": _picture, "answer": _answer, "request": _request, "script": _script,
    "response": _response, "unknown": _unknown}
