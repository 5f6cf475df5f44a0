"""A turn's state in an export: page, boxes, pictures, read from the recording's blobs."""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import cv2
import numpy

from pipeline.cache.prepared import Prepared
from pipeline.export.model_input.set_of_marks import Mark, draw, number_marks
from pipeline.pages.dom import Element, Page, flatten, parse
from pipeline.privacy.generated import shown_attributes
from pipeline.privacy.recorded_secrets import MAX_COMPARISONS_ON_PAGES, RecordedSecrets
from pipeline.privacy.redacting import blur, findings, has_redactions, redactor
from pipeline.privacy.split import findings_in_runs
from recorder import Recording
from recorder.pictures import decode_picture
from schemas import InputError
from schemas.text import read_well_formed, well_formed
from schemas.types.recordings import Box, Demonstration, TableRow, TurnState

from .source import Options, Source

if TYPE_CHECKING:
    from pipeline.privacy.names.redaction import NameRedaction
    from pipeline.privacy.ocr.picture_text import PictureText

JPEG_QUALITY = 92
CACHED_PAGES = 4  # pages and tables: neighbouring turns often share a state; keeping more would only cost memory
ENCODINGS: dict[str, tuple[str, list[int]]] = {
    # PNG at level 1 with the run-length strategy: three times as fast as the default, screenshots hardly larger
    "png": (".png", [cv2.IMWRITE_PNG_COMPRESSION, 1]),
    "webp": (".webp", [cv2.IMWRITE_WEBP_QUALITY, 101]),  # over 100 is lossless
    "jpg": (".jpg", [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]),
}
_MARGIN = 4.0  # pixels around a box that are blurred too
_AS_RECORDED = b"="  # no picture: the recorded one is as it should be
_MAGIC = {"png": b"\x89PNG\r\n\x1a\n", "webp": b"RIFF", "jpg": b"\xff\xd8\xff"}
_UNCHANGED_KINDS = ("png", "jpg")  # a recorded picture of that kind is taken as it is

Key = TypeVar("Key")
Value = TypeVar("Value")


class States:
    """Reads the states of one recording; keeps the last few pages and tables, as neighbouring turns share them.

    What is personal or secret (`known`) is taken out of everything that is handed out, and of `source`. Pictures where
    it is not known where that stands are left out; `pictures_left_out` names those that were asked for. Whatever takes
    long is read from the recording's prepared blobs, and made where they do not have it.
    """

    def __init__(self, source: Source, uid_attribute: str, options: Options, usual: str):
        self.recording = source.recording
        self.kind = options.screenshots or usual
        self._uid_attribute = uid_attribute
        self._prepared = Prepared(source.recording.layout)
        self.pictures_left_out: set[str] = set()
        self._nothing_in: set[str] = set()
        self._recorded_secrets = RecordedSecrets(() if "token" in options.allow else options.secret_digests)
        self._names = _name_redaction(options.names_key) if options.names else None
        self._pages: OrderedDict[str, Page] = OrderedDict()
        self._tables: OrderedDict[tuple[str, str], dict[str, TableRow]] = OrderedDict()
        self._boxes: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._picture_text = _picture_text(self.recording, self._prepared) if options.ocr else None
        demonstration = well_formed(source.demonstration)
        all_findings = [*self._findings(demonstration), *self._findings_in_pictures(source)]
        self.known = redactor(demonstration, all_findings, options.allow, self._recorded_secrets, self._names)
        if self._picture_text:
            self._picture_text.know(self.known.known)
        self.source = replace(source, demonstration=self.known.walk(demonstration))

    def page(self, state: TurnState) -> Page | None:
        """The flattened DOM snapshot; None where the recording has none."""
        name = state["dom"]
        return None if name is None else self._page(name)

    def table(self, state: TurnState) -> dict[str, TableRow]:
        """Rows of the element table by uid in the state's page, in order; see TableRowSchema."""
        dom, elements = state["dom"], state["elements"]
        if dom is None or elements is None:
            return {}
        return _cached(self._tables, (dom, elements), lambda: {
            uid: self.known.walk(row) for uid, row in self._read_rows(elements, self._page(dom)).items()})

    def boxes(self, state: TurnState) -> dict[str, Box]:
        """Boxes of the elements of a state's page by uid in that page, top-level CSS pixels."""
        boxes: dict[str, Box] = json.loads(self.boxes_text(state))
        return boxes

    def boxes_text(self, state: TurnState) -> str:
        """The same as JSON."""
        dom, elements = state["dom"], state["elements"]
        if dom is None or elements is None:
            return "{}"
        return _cached(self._boxes, (dom, elements), lambda: self._prepared.get(
            _read_boxes, lambda: self._make_boxes(dom, elements), "boxes", self._uid_attribute, dom, elements))

    def picture(self, state: TurnState) -> bytes | None:
        """The screenshot as the export has it, personal data blurred; None when there is none that can be read."""
        name, secret = state["screenshot"], self._secret_boxes(state)
        if name is None or secret is None:
            return None
        lines = self._lines_to_blur(name)
        about = json.dumps([secret, lines, state["viewport"]]) if secret or lines else ""
        made = self._prepared.get(self._read_picture, lambda: self._make_picture(name, state, secret, lines), "picture",
                                  self.kind, name, about)
        if made == _AS_RECORDED:
            return self.recording.blob(name)
        return made or None

    def with_marks(self, state: TurnState) -> tuple[bytes | None, list[Mark]]:
        """The screenshot with a numbered box on each element that can be acted on, and the elements by number."""
        secret = self._secret_boxes(state)
        name = state["screenshot"]
        pixels = decode_picture(self.recording.blob(name)) if name else None
        if name is None or pixels is None or secret is None:
            return None, []
        scale = _scale(pixels, state)
        marks = number_marks(self.table(state), state["viewport"])
        clean = blur(blur(pixels, secret, scale), self._lines_to_blur(name), 1.0)
        marked = _encode(draw(clean, marks, scale), self.kind)
        return (marked, marks) if marked else (None, [])

    marked = with_marks  # its name in earlier versions

    def tree(self, state: TurnState) -> list[dict[str, Any]] | None:
        """The accessibility tree; None where `demotape process` made none."""
        name = state.get("axtree")
        return None if name is None else self.known.walk(read_well_formed(self.recording.blob(name)))

    def _findings(self, demonstration: Demonstration) -> list[tuple[str, str]]:
        """What is personal or secret in all pages: all must be looked through before one is written.

        Those of dropped turns are looked through too: the network archive has them.
        """
        page_findings: dict[tuple[str, str], None] = {}
        visited: set[str] = set()
        for turn in demonstration["turns"]:
            name = turn["state"]["dom"] if turn["type"] == "browser" and turn["state"] else None
            if name is None or name in visited:
                continue
            try:
                here = self._prepared.get(_read_findings, partial(self._find_in_page, name), "findings", name)
            except InputError:
                if turn.get("dropped"):
                    continue
                raise
            visited.add(name)
            page_findings |= dict.fromkeys(here)
            if self._names:
                page_findings |= dict.fromkeys(self._prepared.get(
                    _read_findings, partial(self._find_names, self._names, name), "names", self._names.rules, name))
        return [*page_findings, *((value, "token") for value in self._recorded_secrets_in(visited))]

    def _recorded_secrets_in(self, names: Iterable[str]) -> list[str]:
        """Secrets of other recordings that are on pages."""
        if not self._recorded_secrets.digest:
            return []
        names = sorted(names)
        return self._prepared.get(json.loads, lambda: self._find_recorded_secrets(names), "recorded secrets",
                                  self._recorded_secrets.digest, *names)

    def _find_recorded_secrets(self, names: list[str]) -> bytes:
        texts = (text for name in names for text in self._prepared.get(
            json.loads, lambda name=name: _serialize_texts(self._flatten(name)), "texts", name))  # type: ignore[misc]
        return json.dumps(self._recorded_secrets.find(texts, MAX_COMPARISONS_ON_PAGES)).encode("ascii")

    def _findings_in_pictures(self, source: Source) -> list[tuple[str, str]]:
        """What is personal or secret in the text that stands in pictures, where that is to be read."""
        states = (turn["state"] for turn in source.turns if turn["type"] == "browser" and turn["state"])
        names = dict.fromkeys(filter(None, (state["screenshot"] for state in states)))
        texts = [line.text for name in names for line in self._picture_text.lines(name)] if self._picture_text else []
        return [*findings(texts, self._nothing_in), *((value, "token") for value in self._recorded_secrets.find(
            texts, MAX_COMPARISONS_ON_PAGES)), *(self._names.in_texts(texts) if self._names else ())]

    def _lines_to_blur(self, name: str) -> list[Box]:
        """Where text that was read in a picture holds what is taken out, pixels; none where nothing is to be read."""
        picture_text = self._picture_text
        if picture_text is None or not self.known.known:
            return []
        return [_around(line.box) for line in picture_text.lines(name)
                if self.known.text(line.text) != line.text or picture_text.contains_misread(line.text)]

    def _find_in_page(self, name: str) -> bytes:
        page = self._flatten(name)
        self._prepared.get(bytes, partial(_serialize_page, page), "page", self._uid_attribute, name)
        self._prepared.get(bytes, partial(_serialize_texts, page), "texts", name)
        return json.dumps([*findings(sorted(page.texts), self._nothing_in),
                           *findings_in_runs(sorted(page.runs), self._nothing_in)]).encode("ascii")

    def _find_names(self, names: "NameRedaction", name: str) -> bytes:
        page = self._flatten(name)
        return json.dumps(names.on_page(sorted(page.texts), parse(page.content))).encode("ascii")

    def _page(self, name: str) -> Page:
        return _cached(self._pages, name, lambda: self._clean_page(name))

    def _clean_page(self, name: str) -> Page:
        """The page without what is known."""
        as_it_was = "page", self._uid_attribute, name
        if not self.known.known:
            return self._prepared.get(self._read_page, lambda: self._make_page(name), *as_it_was)
        return self._prepared.get(self._read_page, lambda: _serialize_page(self._without(self._prepared.get(
            self._read_page, lambda: self._make_page(name), *as_it_was))), *as_it_was, self.known.digest)

    def _without(self, page: Page) -> Page:
        """The page with what is known replaced, and the elements that show it."""
        clean = replace(page, content=self.known.markup(page.content))
        if not has_redactions(clean.content):
            return clean
        inside = (element.text for element in clean.elements.values() if element.tag == "style" and element.text)
        attributes = self._attributes_shown | shown_attributes(inside)
        return replace(clean, showing=_uids(self.known.showing(clean), clean),
                       generated=self.known.is_generated(clean, attributes))

    @cached_property
    def _attributes_shown(self) -> frozenset[str]:
        """Attributes that the style sheets show which pages of the recording had loaded."""
        names = dict.fromkeys(resource["blob"] for resource in self.recording.resources()
                              if resource["content_type"].startswith("text/css") and resource["blob"])
        return shown_attributes(self.recording.blob(name).decode("utf-8", "replace") for name in names)

    def _make_page(self, name: str) -> bytes:
        return _serialize_page(self._flatten(name))

    def _flatten(self, name: str) -> Page:
        return flatten(self.recording.blob(name), self._uid_attribute)

    def _read_page(self, written: bytes) -> Page:
        start = written.index(b"\n") + 1
        header = json.loads(written[:start])
        renamed = {(tuple(frame), uid): name for frame, uid, name in header["renamed"]}
        content = start + header["listed"]
        return Page(written[content:], self._uid_attribute, renamed, written[start:content],
                    showing=tuple(header["showing"]), generated=bool(header["generated"]))

    def _make_boxes(self, dom: str, elements: str) -> bytes:
        rows = self._read_rows(elements, self._page(dom))
        return json.dumps({uid: row["bbox"] for uid, row in rows.items()}).encode("ascii")

    def _make_picture(self, name: str, state: TurnState, secret: list[Box], lines: list[Box]) -> bytes:
        """The bytes of the picture file; empty when there is none that can be read."""
        recorded = self.recording.blob(name)
        pixels = decode_picture(recorded)
        if pixels is None:
            return b""
        if not secret and not lines and self.kind in _UNCHANGED_KINDS and recorded.startswith(_MAGIC[self.kind]):
            return _AS_RECORDED
        return _encode(blur(blur(pixels, secret, _scale(pixels, state)), lines, 1.0), self.kind)

    def _read_picture(self, written: bytes) -> bytes:
        if written and written != _AS_RECORDED and not written.startswith(_MAGIC[self.kind]):
            raise ValueError(f"no {self.kind}")
        return written

    def _read_rows(self, name: str, page: Page) -> dict[str, TableRow]:
        """Rows whose element is not in the page are left out. Not checked by the schema: a table has thousands of
        rows and its SHA-256 has shown that it is as the recorder wrote it."""
        rows = {}
        try:
            for row in read_well_formed(self.recording.blob(name)):
                uid = page.uid(row["frame"], row["uid"])
                if uid in page.names:
                    box = {side: float(row["bbox"][side]) for side in ("x", "y", "width", "height")}
                    rows[uid] = row | {"uid": uid, "bbox": box}
        except (ValueError, KeyError, TypeError, RecursionError):
            where = self.recording.layout.blob(name)
            raise InputError(f"{where}: not an element table; record the task again") from None
        return rows

    def _secret_boxes(self, state: TurnState) -> list[Box] | None:
        """Where the picture shows what is taken out; None when that is not known, and the picture is left out.

        It is known where all in the picture stands as in the element table. A stale picture may show another page.
        """
        if not self.known.known or state["screenshot"] is None:
            return []
        page = None if state.get("stale") else self.page(state)
        if page is not None and not page.showing and not page.generated:
            return []
        if page is None or page.generated or not state.get("screenshot_agrees") or "screenshot_source" in state:
            self.pictures_left_out.add(state["screenshot"])
            return None
        boxes = self.boxes(state)
        return [_around(boxes[uid]) for uid in page.showing if uid in boxes]


def _name_redaction(key: str) -> "NameRedaction":
    """The only import of pipeline/privacy/names by the core."""
    from pipeline.privacy.names.redaction import NameRedaction

    return NameRedaction(key)


def _picture_text(recording: Recording, prepared: Prepared) -> "PictureText":
    """The only import of pipeline/privacy/ocr by the core."""
    from pipeline.privacy.ocr.picture_text import PictureText

    return PictureText(recording, prepared)


def with_box(boxes: str, uid: str, box: Box) -> str:
    """Boxes as JSON, with one more at the end unless there is one of that uid."""
    key = f"{json.dumps(uid)}: "
    if boxes.startswith("{" + key) or f", {key}{{" in boxes:  # a quote in another uid would stand behind a backslash
        return boxes
    return f"{boxes[:-1]}{', ' if len(boxes) > 2 else ''}{key}{json.dumps(box)}}}"


def _around(box: Box) -> Box:
    """A box and a little more: letters reach out of their element's box."""
    return {"x": box["x"] - _MARGIN, "y": box["y"] - _MARGIN,
            "width": box["width"] + 2 * _MARGIN, "height": box["height"] + 2 * _MARGIN}


def _uids(elements: Iterable[Element], page: Page) -> tuple[str, ...]:
    """Uids of elements, each once; an option is shown by its select."""
    uids: dict[str, None] = {}
    for element in elements:
        while element.tag in ("option", "optgroup") and element.getparent() is not None:
            element = element.getparent()
        if (uid := element.get(page.uid_attribute)) is not None:
            uids[uid] = None
    return tuple(uids)


def _serialize_page(page: Page) -> bytes:
    """A page as a prepared blob: a line of JSON, the uids, the document."""
    renamed = [[frame, uid, name] for (frame, uid), name in page.renamed.items()]
    head = {"listed": len(page.listed), "renamed": renamed, "showing": page.showing,
            "generated": page.generated}
    return json.dumps(head).encode("ascii") + b"\n" + page.listed + page.content


def _serialize_texts(page: Page) -> bytes:
    """What a page says, as a prepared blob."""
    return json.dumps(sorted(page.texts)).encode("ascii")


def _read_boxes(written: bytes) -> str:
    if not (written.startswith(b"{") and written.endswith(b"}")):  # JSON that _make_boxes wrote, by its checksum
        raise ValueError("no boxes")
    return written.decode()


def _read_findings(written: bytes) -> list[tuple[str, str]]:
    return [(str(value), str(kind)) for value, kind in json.loads(written)]


def _cached(store: OrderedDict[Key, Value], key: Key, make: Callable[[], Value]) -> Value:
    """The value of a key, made when it is not there; the store keeps the last few used."""
    if key not in store:
        store[key] = make()
    store.move_to_end(key)
    while len(store) > CACHED_PAGES:
        store.popitem(last=False)
    return store[key]


@lru_cache
def blank(kind: str) -> bytes:
    """A white picture of 8 by 8, where there is none."""
    return _encode(numpy.full((8, 8, 3), 255, numpy.uint8), kind)


def _encode(pixels: numpy.ndarray, kind: str) -> bytes:
    """An image file; empty where a picture is larger than that kind can be, as WebP of 16,384 pixels a side."""
    suffix, parameters = ENCODINGS[kind]
    is_done, content = cv2.imencode(suffix, pixels, parameters)
    return content.tobytes() if is_done else b""


def _scale(pixels: numpy.ndarray, state: TurnState) -> float:
    """Pixels of the picture in a CSS pixel."""
    return pixels.shape[1] / state["viewport"]["width"] if state["viewport"]["width"] else 1.0
