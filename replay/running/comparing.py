"""Compare a page with the recorded state: similarity and verdict. Pure functions."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from urllib.parse import urlsplit

from lxml import etree

from pipeline.pages.allowed import FRAMES
from pipeline.pages.dom import Element, parse
from replay.serving.volatile_values import StableParts, everything_stable, masked
from schemas import REDACTED
from schemas.formats.proof import VERDICTS
from schemas.types.recordings import Point

SAME_SCORE, EQUIVALENT_SCORE = 0.98, 0.85  # likeness of the elements from which on a page is that
TEXTS = 0.9  # likeness of the texts, numbers aside, of an equivalent page
_SCROLLED = 3.0  # CSS pixels
_SKIPPED = {"script", "style", "noscript", "meta", "link", "base"}
_CONTROLS = {"input", "textarea", "select", "option", "details", "dialog"}
_SIGNIFICANT_ATTRIBUTES = ("id", "name", "type", "role", "aria-expanded", "aria-checked", "aria-selected",
                           "aria-hidden", "hidden",
                           "disabled", "class")
_NAMES = ("id", "name")
_STAND_IN = re.compile(r"demotape-secret-\d+")
# Ids by React's useId, which counts in the order of rendering.
_COUNTED = re.compile(r":[rR][0-9a-z]{1,8}:|«[rR][0-9a-z]{1,8}»|_[rR]_[0-9a-z]{1,8}_")
_NUMBERS = re.compile(r"\d+")
_HIDDEN = re.compile(r"(?:display|visibility)\s*:\s*(?:none|hidden)")
_DEPTH = 20  # of frames in frames


@dataclass(frozen=True)
class Facts:
    """What a page is compared by: its elements, its texts, what its controls hold, where the focus is, and how far its
    parts are scrolled."""

    elements: Counter[str]
    texts: Counter[str]
    controls: Counter[str]
    focus: str
    scrolled: Counter[str]


@dataclass(frozen=True)
class Comparison:
    """How similar a page and the recorded one are, from 0 to 1. `differing`: how many elements and texts only one
    of both has."""

    verdict: str
    reason: str
    elements: float
    texts: float
    differing: int = 0


def facts(document: str | bytes) -> Facts:
    """The facts of a DOM snapshot; raises InputError when it cannot be read."""
    collected = Facts(Counter(), Counter(), Counter(), "", Counter())
    focus = ""
    for element in _elements(parse(_as_bytes(document)), 0):
        tag = str(element.tag).lower()
        signed = tag + "".join(f" {name}={_named(value) if name in _NAMES else _plain(value)}"
                               for name in _SIGNIFICANT_ATTRIBUTES if (value := element.get(name)) is not None)
        if _HIDDEN.search(element.get("style") or ""):
            signed += " hidden"
        collected.elements[signed] += 1
        if tag in _CONTROLS and element.get("type") != "hidden":
            collected.controls[_control_state(element, tag)] += 1
        if lifted := element.get("data-demotape-lifted"):
            collected.controls[f"{tag} {_named(element.get('id'))} {_plain(lifted)}"] += 1
        if element.get("data-demotape-focus") is not None:
            focus += f"/{tag} {_named(element.get('id') or element.get('name'))}"
        if (offsets := element.get("data-demotape-scroll")) and tag not in ("html", "body"):
            collected.scrolled[f"{tag} {_named(element.get('id'))} {_rounded(offsets)}"] += 1
        for text in (element.text, *(child.tail for child in element)):
            if text and (said := " ".join(text.split())) and tag not in ("textarea",):
                collected.texts[_plain(said)] += 1
    return Facts(collected.elements, collected.texts, collected.controls, focus, collected.scrolled)


def compare(recorded: Facts | None, now: Facts | None, urls: tuple[str, str], scrolls: tuple[Point, Point],
            fixed: StableParts = everything_stable) -> Comparison:
    """Compare a page with the recorded one; `urls` and `scrolls`: of the recorded one, and now. `fixed` tells of a
    value that looks random whether it has to be the same; those that a page makes itself are others each time."""
    same_page = _same_page(*urls, fixed)
    if recorded is None or now is None:  # nothing but the address is known
        return Comparison("same" if same_page else "differs", "" if same_page else _describe_urls(urls), 1.0, 1.0)
    other_elements, other_texts = (_differences(recorded_texts, current_texts, fixed) for recorded_texts,
                                   current_texts in (
        (recorded.elements, now.elements), (recorded.texts, now.texts)))
    elements = _likeness(recorded.elements, now.elements, other_elements)
    texts = _likeness(recorded.texts, now.texts, other_texts)
    differences = sum(counter.total() for counter in (*other_elements, *other_texts))
    reason = _difference(recorded, now, fixed) if same_page else _describe_urls(urls)
    moved = "" if reason else describe_scroll(*scrolls) or _describe_focus(recorded, now, fixed)
    differing = _first_text(*other_texts)
    if not reason and not moved and elements >= SAME_SCORE and not differing:
        return Comparison("same", "", elements, texts)
    differing = differing or "the elements differ"
    if not reason and elements >= EQUIVALENT_SCORE and likeness(
            _without_numbers(recorded.texts), _without_numbers(now.texts), fixed) >= TEXTS:
        return Comparison("equivalent", moved or differing, elements, texts, differences)
    return Comparison("differs", reason or differing, elements, texts, differences)


def likeness(first: Counter[str], second: Counter[str], fixed: StableParts = everything_stable) -> float:
    """Share of what two collections have in common, from 0 to 1."""
    return _likeness(first, second, _differences(first, second, fixed))


def _likeness(first: Counter[str], second: Counter[str], differences: tuple[Counter[str], Counter[str]]) -> float:
    all_of_them = first.total() + second.total()
    return 1 - sum(counter.total() for counter in differences) / all_of_them if all_of_them else 1.0


def _differences(first: Counter[str], second: Counter[str], fixed: StableParts) -> tuple[Counter[str], Counter[str]]:
    """What one alone has, and what the other; values that were made at random by the page are all alike in it."""
    if dict.__eq__(first, second):  # Counter's own is much slower, as it looks for counts of 0
        return Counter(), Counter()
    only_first, only_second = (_changed(counter, lambda text: masked(text, fixed))
                               for counter in (first - second, second - first))
    return only_first - only_second, only_second - only_first


def worst(verdicts: list[str]) -> str:
    """The verdict on the whole: the worst of its parts."""
    return max(verdicts, key=VERDICTS.index, default="failed")


def describe_scroll(recorded: Point, now: Point) -> str:
    """How a page is scrolled otherwise than recorded, which drivers do unasked; empty when it is not."""
    if max(abs(recorded["x"] - now["x"]), abs(recorded["y"] - now["y"])) <= _SCROLLED:
        return ""
    return f"scrolled to {now['x']:.0f}, {now['y']:.0f} instead of {recorded['x']:.0f}, {recorded['y']:.0f}"


def _describe_focus(recorded: Facts, now: Facts, fixed: StableParts) -> str:
    """Where the focus is otherwise than recorded: the Tab key that moves it is no turn, the next action moves it."""
    if _is_similar(recorded.focus, now.focus, fixed):
        return ""
    return f"the focus is at {now.focus[:80] or 'nothing'} instead of {recorded.focus[:80] or 'nothing'}"


def _difference(recorded: Facts, now: Facts, fixed: StableParts) -> str:
    """What is surely not the same; empty when nothing is."""
    for control in chain(*_differences(recorded.controls, now.controls, fixed)):
        return f"a control differs: {control[:120]}"
    if any(_differences(recorded.scrolled, now.scrolled, fixed)):
        return "a part of the page is scrolled otherwise"
    return ""


def _first_text(missing: Counter[str], new: Counter[str]) -> str:
    """The first text that only one of both has; empty when there is none."""
    if missing:
        return f"the text {next(iter(missing))[:100]!r} is missing"
    return f"the text {next(iter(new))[:100]!r} is new" if new else ""


def _describe_urls(urls: tuple[str, str]) -> str:
    return f"the address is {_STAND_IN.sub('', urls[1])[:120]} instead of {_STAND_IN.sub('', urls[0])[:120]}"


def _same_page(first: str, second: str, fixed: StableParts) -> bool:
    """Whether two addresses lead to the same page: parameters may vary by themselves, their names may not."""
    try:
        a, b = urlsplit(first), urlsplit(second)
    except ValueError:
        return first == second
    names = [sorted(part.partition("=")[0] for part in query.split("&")) for query in (a.query, b.query)]
    return ((a.scheme, a.netloc) == (b.scheme, b.netloc) and names[0] == names[1]
            and _is_similar(a.path, b.path, fixed) and _is_similar(a.fragment, b.fragment, fixed))


def _is_similar(first: str, second: str, fixed: StableParts) -> bool:
    return first == second or masked(first, fixed) == masked(second, fixed)


def _elements(root: Element, depth: int) -> Iterator[Element]:
    """Elements in order, those of frames too; without what is never seen."""
    skipped: Element | None = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if not isinstance(element.tag, str):
            continue
        if event == "end":
            skipped = None if element is skipped else skipped
        elif skipped is None and str(element.tag).lower() in _SKIPPED:
            skipped = element
        elif skipped is None:
            yield element
            if (inner := element.get("srcdoc")) and depth < _DEPTH and str(element.tag).lower() in FRAMES:
                yield from _elements(parse(_as_bytes(inner)), depth + 1)


def _control_state(element: Element, tag: str) -> str:
    """What a control holds; secrets are all alike."""
    named = element.get("name") or element.get("id") or element.get("type") or ""
    state = [element.get("value") or ""] if tag in ("input", "option") else []
    state += [name for name in ("checked", "selected", "open") if element.get(name) is not None]
    if tag == "textarea":
        state.append(element.text or "")
    return f"{tag} {_named(named)} {_plain(' '.join(state))}"


def _named(name: str | None) -> str:
    """An element's name or id, without what only counts."""
    return _COUNTED.sub("", _plain(name))


def _plain(text: str | None) -> str:
    """A text with all secrets alike."""
    return _STAND_IN.sub(REDACTED, text or "")


def _without_numbers(texts: Counter[str]) -> Counter[str]:
    return _changed(texts, lambda text: _NUMBERS.sub("0", text))


def _changed(texts: Counter[str], change: Callable[[str], str]) -> Counter[str]:
    changed: Counter[str] = Counter()
    for text, count in texts.items():
        changed[change(text)] += count
    return changed


def _rounded(offsets: str) -> str:
    """Scroll offsets as far as they count."""
    try:
        return ",".join(str(round(float(offset) / _SCROLLED)) for offset in offsets.split(","))
    except ValueError:
        return ""


def _as_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")
