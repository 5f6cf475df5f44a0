"""Redacts personal data and secrets in a demonstration: text, page, address, element table, picture.

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
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import cv2
import numpy

from pipeline.pages.dom import Element, Page
from schemas import REDACTED
from schemas.normalised_text import forms_in_normalised, normalise
from schemas.types.recordings import Box, Demonstration

from . import finding
from .argument_texts import texts_of_arguments
from .known_forms import KnownForms
from .recorded_secrets import RecordedSecrets
from .split import SplitValues, join_run

if TYPE_CHECKING:
    from .names.redaction import NameRedaction

# Values of these keys are names that we or the recorder gave; nobody's data stands there.
_NAMES = frozenset({"id", "uid", "dom", "elements", "screenshot", "screenshot_taken", "axtree", "recording", "format",
                    "type", "intent", "frame", "tag", "reply_to"})
_SHOWN = ("value", "placeholder", "alt", "label")  # attributes whose text browsers show
_SHORTEST_USUAL = 3  # characters of a value without its encoding: shorter ones occur in anything
_SHORTEST = 6  # characters: no e-mail address, number or token is shorter
STAND_IN = re.compile(r"\[(?:PERSON|ADDRESS) [0-9a-f]{6}\]")  # as `names/stand_ins.py` writes it
_REDACTED_VALUE = re.compile(f"{re.escape(REDACTED)}|{STAND_IN.pattern}")
_STAND_IN = re.compile(STAND_IN.pattern.encode())
_CELL = 24  # pixels of a picture that become one colour


def has_redactions(content: bytes) -> bool:
    """Whether something in UTF-8 was taken out, or stands where it was."""
    return REDACTED.encode() in content or _STAND_IN.search(content) is not None


class Redactor:
    """Knows what is to be taken out of one demonstration. `counts`: how many different values of each kind.

    `values`: kinds by value, with a BREAK where a page begins or ends an element in one; `known`: the same without.
    `allow`: kinds that may stay; `names`: finds names and addresses and makes their stand-ins, None to leave these.
    """

    def __init__(self, values: dict[str, str], allow: Collection[str] = (), names: "NameRedaction | None" = None):
        self._values, self._split = values, SplitValues(values)
        self.known = values = {join_run(value): kind for value, kind in values.items()}
        self._allow, self._names = allow, names
        different = {normalise(value).text: kind for value, kind in values.items() if kind != "person"}
        self.counts = Counter(different.values())
        persons = [value for value, kind in values.items() if kind == "person"]
        self._persons = names.replacing(persons) if names else None
        if self._persons and persons:
            self.counts["person"] = self._persons.count()
        written = {form: names.stand_in_for(value, kind) if names and kind == "address" else REDACTED
                   for value, kind in values.items() if kind != "person" for form in _forms(value)}
        self._known_forms = KnownForms(written)
        self._forms = [form.encode("utf-8", "replace") for form in self._known_forms.forms]
        names_written = [*self._persons.stand_ins(), *self._persons.persons] if self._persons else []
        parts = [*self._forms, *(name.encode("utf-8", "replace") for name in names_written),
                 *(by.encode() for by in written.values()),
                 *(value.encode("utf-8", "replace") for value in self._split.values)]
        self.digest = hashlib.sha256(b"\0".join(parts)).hexdigest() if values else ""

    def knowing(self, texts: Iterable[str]) -> "Redactor":
        """One that also knows what is found in these texts, of archives, which are looked through alone."""
        texts = list(texts)
        return self.adding(chain(findings(texts), self._names.in_texts(texts) if self._names else ()))

    def adding(self, all_findings: Iterable[tuple[str, str]]) -> "Redactor":
        """One that also knows these values, with their kinds."""
        new = {value: kind for value, kind in all_findings if kind not in self._allow and value not in self.known}
        return Redactor(self._values | new, self._allow, self._names) if new else self

    def text(self, text: str) -> str:
        """The text with all that is known replaced."""
        text = self._split.text(self._known_forms.replace(text))
        return self._persons.text(text) if self._persons else text

    def markup(self, content: bytes) -> bytes:
        """HTML in UTF-8 with all that is known replaced: what is looked for includes the forms that stand in HTML."""
        content = self._known_forms.replace_bytes(content)
        content = self._split.content(content)
        return self._persons.content(content) if self._persons else content

    def walk(self, value: Any) -> Any:
        """The same in every text of a JSON value; keys stay, and so do names that carry no data."""
        if not self.known:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.walk(member) for member in value]
        if isinstance(value, dict):
            return {key: member if key in _NAMES else self.everything(member) if key == "attributes"
                    else self.walk(member)
                    for key, member in value.items()}
        return value

    def everything(self, value: Any) -> Any:
        """The same in every text of a JSON value that is not ours."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.everything(member) for member in value]
        if isinstance(value, dict):
            return {self.text(key): self.everything(member) for key, member in value.items()}
        return value

    def showing(self, page: Page) -> Iterator[Element]:
        """Elements of a page, already redacted, whose own text, or an attribute that browsers show, was replaced."""
        for element in page.elements.values():
            shown = [element.text, *map(element.get, _SHOWN), *(child.tail for child in element)]
            if any(text and _REDACTED_VALUE.search(text) for text in shown):
                yield element

    def is_generated(self, page: Page, attributes: Collection[str]) -> bool:
        """Whether style sheets may show what was replaced in a page: it stands in one, or in an attribute that they
        show (`attributes`)."""
        return any(_REDACTED_VALUE.search(shown) for element in page.elements.values() for shown in (
            [element.text or ""] if element.tag == "style" else
            [value for name, value in element.items() if name in attributes]))


def findings(texts: Iterable[str], nothing_in: set[str] | None = None) -> list[tuple[str, str]]:
    """What is personal or secret in texts: values with their kinds, each pair once, in the order of the texts.

    `nothing_in` remembers texts without any, over several calls: neighbouring pages say much the same.
    """
    values: dict[tuple[str, str], None] = {}
    nothing_in = set() if nothing_in is None else nothing_in
    for text in texts:
        if len(text) < _SHORTEST or text in nothing_in:
            continue
        if spans := finding.find(text):
            values |= dict.fromkeys((text[span.start:span.end], span.kind) for span in spans)
        else:
            nothing_in.add(text)
    return list(values)


def redactor(demonstration: Demonstration, pages: Iterable[tuple[str, str]], allow: Collection[str] = (),
             recorded_secrets: RecordedSecrets | None = None, names: "NameRedaction | None" = None) -> Redactor:
    """Look through a demonstration; `pages` tells the findings in its pages.

    `allow`: kinds (keys of pipeline.privacy.finding.KINDS) that may stay. `recorded_secrets`: secrets of other
    recordings. `names`: finds names and addresses, which are then redacted, too.
    """
    entered = _in_named_fields(demonstration, names) if names else ()
    values = {value: kind for value, kind in chain(entered, pages) if kind not in allow}
    texts = list(_texts(demonstration))
    secrets = recorded_secrets.find(texts) if recorded_secrets else ()
    return Redactor(values, allow, names).knowing(texts).adding((value, "token") for value in secrets)


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
    yield from (answer["value"] for answer in demonstration.get("answers", ()) if isinstance(answer["value"], str))
    for turn in demonstration["turns"]:
        if turn["type"] == "chat":
            yield turn["utterance"]
            yield from (reaction["emoji"] for reaction in turn.get("reactions", ()))
            if (pointing := turn.get("pointing")) and pointing["element"]:
                yield pointing["element"]["name"]
            continue
        arguments = turn["arguments"]
        yield from texts_of_arguments(arguments)
        if turn["element"]:
            yield from (turn["element"][name] for name in ("name", "text"))
            if entered := arguments.get("text") or arguments.get("value"):
                yield f"{turn['element']['name']}: {entered}"  # a label may say what it is
        if report := turn.get("agent"):
            yield from (report.get("reasoning", ""), report.get("error", ""))
        if turn["state"]:
            yield from (turn["state"]["url"], turn["state"]["title"])


def _in_named_fields(demonstration: Demonstration, names: "NameRedaction") -> Iterator[tuple[str, str]]:
    """What was entered in fields that take names and addresses."""
    for turn in demonstration["turns"]:
        if turn["type"] != "browser" or not turn["element"]:
            continue
        for name in ("text", "value", "label"):
            value = str(turn["arguments"].get(name) or "").strip()
            if value and (kind := names.kind_in_field(turn["element"]["attributes"], value)):
                yield value, kind


def _forms(value: str) -> set[str]:
    """A value as it stands in text, in HTML, in an address and in JSON, and without any encoding."""
    return {value, escape(value), escape(value, quote=False), quote(value, errors="replace"),
            quote(value, safe="", errors="replace"), quote_plus(value, errors="replace"),
            json.dumps(value)[1:-1],
            *(form for form in forms_in_normalised(value) if len(form) >= _SHORTEST_USUAL)}
