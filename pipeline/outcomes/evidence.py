"""Evidence for outcome checks: pages, requests and the answer of a session."""

import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl, urljoin

import cv2
import numpy as np
import turbohtml

from recorder.reader import Recording
from schemas import UID_ATTRIBUTE, InputError
from schemas.limits import PIXELS
from schemas.types.recordings import State

from .texts import Judge, shorten

_OURS = "data-demotape-"
_UNSEEN = "script, style, noscript, template, head"
_FRAMES = "iframe[srcdoc], frame[srcdoc], object[srcdoc], embed[srcdoc]"
_DEEP = 8  # frames in frames
_TIME_TOLERANCE_S = 0.002  # seconds: times are rounded where they are written
_BOUNDARY = 100  # characters between two parts of a form, at most (RFC 2046, 5.1.1: 70)


@dataclass(frozen=True)
class Request:
    """A request: `status` is 0 where it had no answer; `time`: seconds since the recording started."""

    method: str
    url: str
    status: int
    body: bytes = b""
    time: float = 0.0
    headers: tuple[tuple[str, str], ...] = ()


def describe_request(request: Request) -> str:
    """A request in a reason, without its query and body."""
    return f"{request.method} {shorten(request.url.partition('?')[0])}, status {request.status}"


@dataclass(frozen=True)
class PageState:
    """A page at a moment. What is large is read when it is asked for: `markup`, its DOM snapshot; `picture`, its
    screenshot, an image file; `resource`, the content of an address that it used; `boxes`, of its elements by uid, in
    CSS pixels. `time`: seconds since the recording started; `state`: of which it was read."""

    url: str
    markup: Callable[[], str]
    picture: Callable[[], bytes | None] = lambda: None
    resource: Callable[[str], bytes | None] = lambda url: None
    boxes: Callable[[], Mapping[str, Mapping[str, float]]] = dict
    width: float = 0.0
    time: float = math.inf
    state: State | None = None

    @property
    def documents(self) -> list[turbohtml.Document]:
        """The page's own document and those of its frames."""
        parsed, waiting = [], [(self.markup(), 0)]
        while waiting:
            markup, depth = waiting.pop(0)
            document = turbohtml.parse(markup)
            parsed.append(document)
            if depth < _DEEP:
                waiting += [(inner, depth + 1) for frame in document.select(_FRAMES)
                            if isinstance(inner := frame.attr("srcdoc"), str)]
        return parsed

    def elements(self, css: str) -> list[turbohtml.Element]:
        """Elements that a selector fits, in all documents; raises InputError for what is no selector."""
        try:
            return [element for document in self.documents for element in document.select(css)]
        except ValueError as error:
            raise InputError(f"selector {css[:80]!r}: {str(error)[:120]}") from None

    def content(self) -> str:
        """The whole page as HTML, without what the recorder put into it."""
        return "\n".join(_without_ours(document).html for document in self.documents)

    def pictures(self, css: str | None) -> list[bytes]:
        """Image files of what a selector fits: of images what they show, of others their part of the screenshot; all
        images of the page without a selector."""
        contents = []
        for element in self.elements(css or "img"):
            images = [element] if element.tag == "img" else [*element.select("img")]
            shown = [content for image in images if (content := self._image(image))]
            if not images and (part := self._cut_out(element)):
                shown = [part]
            contents += shown
        return contents

    def _image(self, image: turbohtml.Element) -> bytes | None:
        address = image.attr("data-demotape-src") or image.attr("src")
        if not isinstance(address, str):
            return None
        with suppress(ValueError):  # it is no address
            return self.resource(urljoin(self.url, address).partition("#")[0])
        return None

    def _cut_out(self, element: turbohtml.Element) -> bytes | None:
        box = self.boxes().get(str(element.attr(UID_ATTRIBUTE) or ""))
        picture = decoded(self.picture()) if box and self.width > 0 else None
        if picture is None or box is None:
            return None
        scale = picture.shape[1] / self.width
        left, top = (max(0, round(box[name] * scale)) for name in ("x", "y"))
        right, bottom = (round((box[name] + box[size]) * scale) for name, size in (("x", "width"), ("y", "height")))
        part = picture[top:bottom, left:right]
        return cv2.imencode(".png", part)[1].tobytes() if part.size else None


@dataclass(frozen=True)
class Evidence:
    """All of a session. `pages`: in order, the last is what it ended with; `requests`: None where they were not kept;
    `reference`: the bytes of a blob that a check names; `evaluate`: the value of an expression in a page, as text,
    after others were run; without it, or without a `judge`, what needs them is not decided. `answered`: false where
    it was not kept what was answered."""

    pages: list[PageState]
    answer: str = ""
    requests: tuple[Request, ...] | None = None
    reference: Callable[[str], bytes] = lambda digest: b""
    evaluate: Callable[[PageState, str, list[str]], str] | None = None
    judge: Judge | None = None
    notes: tuple[str, ...] = field(default=())
    answered: bool = True

    def until(self, number: int) -> "Evidence":
        """What was there when so many pages had been seen: all of it with the last."""
        if number >= len(self.pages):
            return self
        pages = self.pages[:number]
        requests = None if self.requests is None else tuple(request for request in self.requests
                                                            if request.time <= pages[-1].time)
        return replace(self, pages=pages, answer="", requests=requests)

    def between(self, begin: float, end: float) -> "Evidence":
        """What was there from one time to another, in seconds since the recording started, the answer only where that
        is the end; raises InputError when no page was."""
        pages = [page for page in self.pages if begin - _TIME_TOLERANCE_S <= page.time <= end + _TIME_TOLERANCE_S]
        if not pages:
            raise InputError(f"no page was recorded from {begin:.1f} s to {end:.1f} s")
        requests = None if self.requests is None else tuple(request for request in self.requests
                                                            if begin <= request.time <= end)
        evidence = replace(self, pages=pages, requests=requests)
        return evidence if end == math.inf else replace(evidence, answer="", answered=False)

    def at_start(self) -> "Evidence":
        """What was there before anything was done."""
        return replace(self, pages=self.pages[:1], answer="", requests=None if self.requests is None else ())


def of_recording(recording: Recording, answer: str | None = None) -> Evidence:
    """What a recording tells of its session. `answer`: what was answered in the end; None for the last utterance of
    whom the task was given to. Raises InputError when it shows no page, or what it kept cannot be read."""
    states = [(event["time"], event["state"]) for event in recording.events if event["state"] and event["state"]["dom"]]
    last, notes = recording.manifest.get("last_state"), []
    if last and last["dom"]:
        states.append((math.inf, last))
    else:
        notes.append("the recording has no final state; the state before its last action is used")
    if not states:
        raise InputError(f"{recording.layout.root}: contains no recorded page")
    blobs = {line["url"].partition("#")[0]: line["blob"] for line in recording.resources()}

    def resource(url: str) -> bytes | None:
        return recording.blob(blobs[url]) if url in blobs else None

    return Evidence([_page_state(recording, time, state, resource) for time, state in states],
                    _last_word(recording) if answer is None else answer, _requests(recording), recording.blob,
                    notes=tuple(notes))


def decoded(content: bytes | None) -> np.ndarray | None:
    """The pixels of an image file; None for what is none, or is too large."""
    if not content:
        return None
    try:
        picture = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        return None
    return None if picture is None or picture.size > 3 * PIXELS else picture


def said(element: turbohtml.Element) -> str:
    """The text of an element, without what is never shown."""
    copy = turbohtml.parse_fragment(element.html)
    for unseen in copy.select(_UNSEEN):
        unseen.decompose()
    return " ".join(copy.text.split())


def fields(body: bytes) -> dict[str, str]:
    """What a request's body says, by path: members of JSON, or fields of a form, files by their names."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return _parts(body) or dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    return dict(_members(value, ""))


def _parts(body: bytes) -> dict[str, str]:
    """Fields of a form in parts (multipart/form-data); none where it is another kind of body."""
    first = body[:_BOUNDARY].partition(b"\r\n")[0]
    if not first.startswith(b"--") or len(first) > _BOUNDARY - 2:
        return {}
    head = b'Content-Type: multipart/form-data; boundary="' + first[2:].replace(b'"', b"") + b'"\r\n\r\n'
    parts: dict[str, str] = {}
    with suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):  # parts that no browser writes
        for part in message_from_bytes(head + body, policy=HTTP).iter_parts():
            name = part.get_param("name", header="content-disposition")
            if isinstance(name, str) and not part.is_multipart():
                content = part.get_payload(decode=True)
                text = content.decode("utf-8", "replace") if isinstance(content, bytes) else ""
                parts[name] = part.get_filename() or text
    return parts


def _members(value: Any, path: str) -> list[tuple[str, str]]:
    """Every value in JSON, by its path; bounded by what a body may hold."""
    members, waiting = [], [(path, value)]
    while waiting:
        where, member = waiting.pop()
        if isinstance(member, dict | list):
            inner = member.items() if isinstance(member, dict) else enumerate(member)
            waiting += [(f"{where}.{name}" if where else str(name), child) for name, child in inner]
        else:
            members.append((where, member if isinstance(member, str) else json.dumps(member)))
    return members


def _page_state(recording: Recording, time: float, state: State, resource: Callable[[str], bytes | None]) -> PageState:
    def markup() -> str:
        return recording.blob(state["dom"] or "").decode("utf-8", "replace")

    def picture() -> bytes | None:
        return recording.blob(state["screenshot"]) if state["screenshot"] else None

    def boxes() -> Mapping[str, Mapping[str, float]]:
        rows = json.loads(recording.blob(state["elements"])) if state["elements"] else []
        return {row["uid"]: row["bbox"] for row in rows if not row["frame"]}

    return PageState(state["url"], markup, picture, resource, boxes, state["viewport"]["width"], time, state)


def _requests(recording: Recording) -> tuple[Request, ...] | None:
    if not recording.layout.network.exists():
        return None
    return tuple(Request(line["method"], line["url"], line["status"],
                       recording.blob(line["body"]) if line["body"] else b"", line["time"],
                       tuple((header["name"], header["value"]) for header in line["headers"]))
                 for line in recording.exchanges())


def _last_word(recording: Recording) -> str:
    words = [line["utterance"] for line in recording.chat() if line["speaker"] == "navigator"]
    return words[-1] if words else ""


def _without_ours(document: turbohtml.Document) -> turbohtml.Document:
    for element in document.select("*"):
        for name in [name for name in element.attrs if name.startswith(_OURS)]:
            del element.attrs[name]
    return document
