"""Takes personal data and secrets out of a demonstration, everywhere: text, page, address, element table, picture.

What is found once, in chat, in what was typed, in an address or on a page, is known for the whole demonstration and is
replaced wherever it stands, also where nothing around it tells what it is.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from html import escape
from itertools import chain
from typing import Any
from urllib.parse import quote, quote_plus

import cv2
import numpy

from pipeline.pages.dom import Element, Page
from schemas import REDACTED
from schemas.types import Box, Demonstration

from . import finding
from .told_secrets import ToldSecrets

# Values of these keys are names that we or the recorder gave; nobody's data stands there.
_NAMES = frozenset({"id", "uid", "dom", "elements", "screenshot", "screenshot_taken", "axtree", "recording", "format",
                    "type", "intent", "frame", "tag"})
_SHOWN = ("value", "placeholder", "alt", "label")  # attributes whose text browsers show
_SHORTEST = 6  # characters: no e-mail address, number or token is shorter
_CELL = 24  # pixels of a picture that become one colour


class Redactor:
    """Knows what is to be taken out of one demonstration. `counts`: how many different values of each kind.

    `allow`: kinds that may stay; `told`: secrets of other recordings.
    """

    def __init__(self, values: dict[str, str], allow: Collection[str] = (), told: ToldSecrets | None = None):
        self.known = values
        self._allow, self._told = allow, told
        self.counts = Counter(values.values())
        written = {form for value in values for form in _forms(value)}
        alternatives = sorted(written, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, alternatives))) if written else None
        self._forms = [form.encode("utf-8", "replace") for form in alternatives]
        self.digest = hashlib.sha256(b"\0".join(self._forms)).hexdigest() if values else ""

    def knowing(self, texts: Iterable[str]) -> "Redactor":
        """One that also knows what is found in these texts, of archives, which are looked through alone."""
        texts = list(texts)
        found = chain(findings(texts), ((value, "token") for value in (self._told.find(texts) if self._told else ())))
        new = {value: kind for value, kind in found if kind not in self._allow and value not in self.known}
        return Redactor(self.known | new, self._allow, self._told) if new else self

    def text(self, text: str) -> str:
        """The text with all that is known replaced."""
        return self._pattern.sub(REDACTED, text) if self._pattern else text

    def markup(self, content: bytes) -> bytes:
        """HTML in UTF-8 with all that is known replaced: what is looked for includes the forms that stand in HTML."""
        there = [form for form in self._forms if form in content]  # far faster than a pattern that finds nothing
        if not there:
            return content
        return re.sub(b"|".join(map(re.escape, there)), REDACTED.encode(), content)

    def walk(self, value: Any) -> Any:
        """The same in every text of a JSON value; keys stay, and so do names that carry no data."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.walk(each) for each in value]
        if isinstance(value, dict):
            return {key: each if key in _NAMES else self.everything(each) if key == "attributes" else self.walk(each)
                    for key, each in value.items()}
        return value

    def everything(self, value: Any) -> Any:
        """The same in every text of a JSON value that is not ours."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.everything(each) for each in value]
        if isinstance(value, dict):
            return {self.text(key): self.everything(each) for key, each in value.items()}
        return value

    def showing(self, page: Page) -> Iterator[Element]:
        """Elements of a page, already redacted, whose own text, or an attribute that browsers show, was replaced."""
        for element in page.elements.values():
            shown = [element.text, *map(element.get, _SHOWN), *(each.tail for each in element)]
            if any(text and REDACTED in text for text in shown):
                yield element

    def is_generated(self, page: Page, attributes: Collection[str]) -> bool:
        """Whether style sheets may show what was replaced in a page: it stands in one, or in an attribute that they
        show (`attributes`)."""
        return any(REDACTED in shown for element in page.elements.values() for shown in (
            [element.text or ""] if element.tag == "style" else
            [value for name, value in element.items() if name in attributes]))


def findings(texts: Iterable[str], nothing_in: set[str] | None = None) -> list[tuple[str, str]]:
    """What is personal or secret in texts: values with their kinds, each pair once, in the order of the texts.

    `nothing_in` remembers texts without any, over several calls: neighbouring pages say much the same.
    """
    found: dict[tuple[str, str], None] = {}
    nothing_in = set() if nothing_in is None else nothing_in
    for text in texts:
        if len(text) < _SHORTEST or text in nothing_in:
            continue
        if spans := finding.find(text):
            found |= dict.fromkeys((text[span.start:span.end], span.kind) for span in spans)
        else:
            nothing_in.add(text)
    return list(found)


def redactor(demonstration: Demonstration, pages: Iterable[tuple[str, str]], allow: Collection[str] = (),
             told: ToldSecrets | None = None) -> Redactor:
    """Look through a demonstration; `pages` tells the findings in its pages.

    `allow`: kinds (keys of pipeline.privacy.finding.KINDS) that may stay. `told`: secrets of other recordings.
    """
    values = {value: kind for value, kind in pages if kind not in allow}
    return Redactor(values, allow, told).knowing(_texts(demonstration))


def blur(pixels: numpy.ndarray, boxes: Iterable[Box], scale: float) -> numpy.ndarray:
    """The picture with boxes (CSS pixels; `scale` pixels in one) made unreadable: each cell becomes its mean colour."""
    boxes = list(boxes)
    if not boxes:
        return pixels
    pixels = pixels.copy()
    for box in boxes:
        top, bottom = (round(min(max(edge * scale, 0.0), pixels.shape[0]))
                       for edge in (box["y"], box["y"] + box["height"]))
        left, right = (round(min(max(edge * scale, 0.0), pixels.shape[1]))
                       for edge in (box["x"], box["x"] + box["width"]))
        if bottom <= top or right <= left:
            continue
        part = pixels[top:bottom, left:right]
        small = cv2.resize(part, (max(1, (right - left) // _CELL), max(1, (bottom - top) // _CELL)),
                           interpolation=cv2.INTER_AREA)
        pixels[top:bottom, left:right] = cv2.resize(small, (right - left, bottom - top),
                                                    interpolation=cv2.INTER_NEAREST)
    return pixels


def _texts(demonstration: Demonstration) -> Iterator[str]:
    """All that was said, entered and addressed."""
    yield demonstration["task"]
    for turn in demonstration["turns"]:
        if turn["type"] == "chat":
            yield turn["utterance"]
            continue
        arguments = turn["arguments"]
        yield from (arguments[name] for name in ("text", "value", "label", "message", "url") if arguments.get(name))
        yield from arguments.get("files", ())
        if turn["element"]:
            yield from (turn["element"][name] for name in ("name", "text"))
        if turn["state"]:
            yield from (turn["state"]["url"], turn["state"]["title"])


def _forms(value: str) -> set[str]:
    """A value as it stands in text, in HTML, in an address and in JSON."""
    return {value, escape(value), escape(value, quote=False), quote(value, errors="replace"),
            quote(value, safe="", errors="replace"), quote_plus(value, errors="replace"),
            json.dumps(value)[1:-1]}
