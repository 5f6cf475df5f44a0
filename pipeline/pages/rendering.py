"""A captured page as it looked, in one HTML text that needs no network: style sheets, images and fonts put in.

Works on the tokens of our own serialisation (docs/format.md), which is regular by construction: `<` is escaped in all
text but style sheets, and every attribute value stands in double quotes. So the page is shown as it was captured, and
not as another parser would mend it. A text that is not regular was not written by us: it is first read and written
again by lxml. Scripts, and what would reach the network or leave the frame, are taken out; whoever shows the page
forbids them besides. One script is put in, ours: see `restoring_scroll`.
"""

import base64
import html
import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import isfinite
from typing import Any
from urllib.parse import urldefrag, urljoin

import cv2
import lxml.html
import numpy as np

from recorder import Recording
from schemas import UID_ATTRIBUTE, InputError

from . import restoring_scroll
from .dom import parse

_START_TAG = re.compile(r'<([a-zA-Z][^\s>/"<]*)((?: [^\s="<>]+(?:="[^"]*")?)*)>')
_STYLE = re.compile(r'(<style(?: [^\s="<>]+(?:="[^"]*")?)*>)(.*?)(</style>)', re.S)
_SCRIPT = re.compile(r'<(script|noscript)(?: [^\s="<>]+(?:="[^"]*")?)*>.*?</\1>', re.S)
_OTHER_TOKEN = re.compile(r"</[a-zA-Z][^\s>]*>|<!DOCTYPE [^<>]*>", re.I)
_ATTRIBUTE = re.compile(r' ([^\s="<>]+)(?:="([^"]*)")?')
_CSS_URL = re.compile(r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]*))\s*\)""")
_CSS_IMPORT = re.compile(r"""@import\s+(?:url\(\s*)?["']?([^"')\s;]+)["']?\s*\)?([^;]*);""")
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+")
_UID = re.compile(r"[\w.:-]{1,100}")
_NOTHING = "data:,"
_SOURCES = {  # elements that load something, and the attributes that name a picture to be put in
    "img": ("src",), "input": ("src",), "image": ("href", "xlink:href"), "video": ("poster",),
    "body": ("background",), "table": ("background",), "td": ("background",),
    "source": (), "audio": (), "embed": (), "object": (),
}
_LOADING = {"src", "srcset", "data", "poster", "background", "sizes", "imagesrcset"}
_PAINTED = {"canvas", "video", "embed", "object"}
_LOOKED_AT = {*_SOURCES, *_PAINTED, "link", "iframe", "frame", "base", "meta"}
_MAX_IMPORTS = 8
_MAX_FRAMES_DEEP = 8
_MAX_EMBEDDED = 64 << 20  # bytes of style sheets, images and fonts in one page

Painter = Callable[[str], str | None]


class Resources:
    """What the pages of a recording loaded, by address."""

    def __init__(self, recording: Recording):
        self._recording = recording
        self._by_url = {urldefrag(line["url"]).url: line for line in recording.resources()}
        self.data_uri = lru_cache(maxsize=256)(self._data_uri)
        self.left = _MAX_EMBEDDED

    def text(self, url: str) -> str | None:
        """A style sheet's text, None when it was not kept."""
        content = self._content(urldefrag(url).url)
        return content if content is None else content.decode("utf-8", "replace")

    def _data_uri(self, url: str) -> str:
        """An image or font as a data: URI; an empty one when it was not kept."""
        if url.startswith("data:"):
            return url
        address, fragment = urldefrag(url)
        content = self._content(address)
        if content is None:
            return _NOTHING
        kind = _MEDIA_TYPE.match(self._by_url[address]["content_type"])
        encoded = base64.b64encode(content).decode()
        uri = f"data:{kind[0] if kind else 'application/octet-stream'};base64,{encoded}"
        return f"{uri}#{fragment}" if fragment else uri

    def _content(self, address: str) -> bytes | None:
        line = self._by_url.get(address)
        try:
            content = self._recording.blob(line["blob"]) if line else None
        except InputError:
            return None  # a damaged picture is a missing one; `demotape check` reports it
        if content is None or len(content) > self.left:
            return None
        self.left -= len(content)
        return content


def render(recording: Recording, state: Mapping[str, Any], resources: Resources | None = None,
           outline: str = "") -> str:
    """HTML text that shows a state's DOM without network or script of the page, scrolled as it was.

    `state` needs `dom`; where it has `screenshot`, `elements` and `viewport`, what scripts painted (canvas, video) is
    cut out of the screenshot; where it has `url`, its fragment is the target. `outline`: uid of an element to be
    outlined. Raises InputError when a blob is missing.
    """
    document = recording.blob(state["dom"] or "").decode("utf-8", "replace")
    style = f'[{UID_ATTRIBUTE}="{outline}"]{{outline:3px solid #d6336c!important;outline-offset:1px!important}}'
    mark = f"<style>{style}</style>" if _UID.fullmatch(outline) else ""
    page = _Page(resources or Resources(recording), _painter(recording, state), mark)
    return page.document(document, fragment=state.get("url", "").partition("#")[2])


class _Page:
    """One page being rendered: what all its documents share."""

    def __init__(self, resources: Resources, paint: Painter, mark: str):
        self.resources, self.paint, self.mark = resources, paint, mark
        self.sizes: list[str] = []  # rules that give canvases their size

    def document(self, text: str, depth: int = 0, fragment: str = "") -> str:
        if not _is_regular(text):
            text = "<!DOCTYPE html>" + lxml.html.tostring(parse(text.encode("utf-8", "replace")), encoding="unicode")
        text = _SCRIPT.sub("", text)
        root = _START_TAG.search(text)
        base = html.unescape(dict(_ATTRIBUTE.findall(root[2])).get("data-demotape-base", "")) if root else ""
        text = _STYLE.sub(lambda found: found[1] + _css(found[2], base, self.resources) + found[3], text)
        outer, self.sizes = self.sizes, []
        text = _START_TAG.sub(lambda found: self._start_tag(found, base, depth), text) + self.mark
        sizes, self.sizes = self.sizes, outer
        if sizes:
            text += f"<style>{''.join(sizes)}</style>"
        return text + restoring_scroll.tag(fragment)

    def _start_tag(self, found: re.Match, base: str, depth: int) -> str:
        tag = found[1].lower()
        if tag not in _LOOKED_AT and " style=" not in found[2] and " on" not in found[2].lower():
            return found[0]
        attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(found[2])
                      if not name.lower().startswith("on")}
        if tag == "link":
            return _link(attributes, base, self.resources)
        if tag == "base" or (tag == "meta" and "http-equiv" in {name.lower() for name in attributes}):
            return ""
        if tag in ("iframe", "frame"):
            for name in ("src", "sandbox"):
                attributes.pop(name, None)
            inner = attributes.pop("srcdoc", None)
            if inner is not None and depth < _MAX_FRAMES_DEEP:
                attributes["srcdoc"] = self.document(inner, depth + 1)
        if "style" in attributes:
            attributes["style"] = _css(attributes["style"], base, self.resources)
        if tag == "canvas":
            self.sizes.append(_size_of_canvas(attributes))
        if tag in _SOURCES:
            _embed(tag, attributes, base, self.resources)
        if tag in _PAINTED and (background := self.paint(attributes.get(UID_ATTRIBUTE, ""))):
            attributes["style"] = f"{attributes.get('style', '')};background:{background}"
        written = "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items())
        return f"<{found[1]}{written}>"


def _seen(start: float, length: float, limit: int) -> range:
    """Pixels of a box that are in the picture."""
    return range(min(max(round(start), 0), limit), max(min(round(start + length), limit), 0))


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 4) if abs(whole) >= 1 else 0


def _size_of_canvas(attributes: dict[str, str]) -> str:
    """A rule, weaker than any of the page's, that gives a canvas its size.

    Where no script may run it is but what stands in it for those who have none (HTML standard, section 4.12.5).
    """
    uid = attributes.get(UID_ATTRIBUTE, "")
    if not _UID.fullmatch(uid):
        return ""
    width, height = (int(attributes[name]) if re.fullmatch(r"\d{1,5}", attributes.get(name, "")) else usual
                     for name, usual in (("width", 300), ("height", 150)))
    return (f':where([{UID_ATTRIBUTE}="{uid}"]){{display:inline-block;width:{width}px;'
            f"aspect-ratio:{width}/{height}}}")


def _is_regular(text: str) -> bool:
    """Whether every `<` begins a token of our own serialisation."""
    rest = _START_TAG.sub("", _STYLE.sub("", _SCRIPT.sub("", text)))
    return "<" not in _OTHER_TOKEN.sub("", rest)


def _link(attributes: dict[str, str], base: str, resources: Resources) -> str:
    """A style sheet's link as a style element with its text; any other link is nothing to be seen."""
    if "stylesheet" not in attributes.get("rel", "").lower().split() or "href" not in attributes:
        return ""
    address = _absolute(base, attributes["href"])
    sheet = resources.text(address)
    if sheet is None or "disabled" in attributes:
        return ""
    media = f' media="{html.escape(attributes["media"])}"' if "media" in attributes else ""
    return f"<style{media}>{_css(sheet, address, resources)}</style>"


def _embed(tag: str, attributes: dict[str, str], base: str, resources: Resources) -> None:
    chosen = attributes.pop("data-demotape-src", None) if tag == "img" else None
    kept = {name: attributes[name] for name in _SOURCES[tag] if name in attributes}
    for name in _LOADING & attributes.keys():
        del attributes[name]
    for name, value in kept.items():
        attributes[name] = resources.data_uri(_absolute(base, chosen or value))
    if chosen and "src" not in attributes:
        attributes["src"] = resources.data_uri(chosen)


def _css(text: str, base: str, resources: Resources, depth: int = 0) -> str:
    """Style sheet text with imports put in and every address turned into a data: URI."""
    def import_(found: re.Match) -> str:
        address = _absolute(base, found[1])
        sheet = resources.text(address) if depth < _MAX_IMPORTS else None
        if sheet is None:
            return ""
        inner, media = _css(sheet, address, resources, depth + 1), found[2].strip()
        return f"@media {media}{{{inner}}}" if media else inner

    def url(found: re.Match) -> str:
        address = next((group for group in found.groups() if group), "")
        if address.startswith("#"):
            return found[0]
        return f'url("{resources.data_uri(_absolute(base, address))}")'

    text = _CSS_URL.sub(url, _CSS_IMPORT.sub(import_, text))
    return text.replace("<", r"\3c ")  # nothing in it may end the style element or begin another


def _absolute(base: str, address: str) -> str:
    try:
        return address if address.startswith("data:") else urljoin(base, address)
    except ValueError:
        return ""


def _painter(recording: Recording, state: Mapping[str, Any]) -> Painter:
    """Gives a CSS background for an element: what the screenshot shows in its box."""
    @lru_cache(maxsize=1)
    def picture() -> np.ndarray | None:
        name = state.get("screenshot")
        if not (name and state["viewport"]["width"] > 0):
            return None
        return cv2.imdecode(np.frombuffer(recording.blob(name), np.uint8), cv2.IMREAD_COLOR)

    @lru_cache(maxsize=1)
    def boxes() -> dict[str, dict[str, float]]:
        try:
            name = state.get("elements")
            rows = json.loads(recording.blob(name)) if name else []
            return {row["uid"]: row["bbox"] for row in rows if row["tag"] in _PAINTED
                    and all(isfinite(row["bbox"][name]) for name in ("x", "y", "width", "height"))}
        except (ValueError, TypeError, KeyError):
            return {}  # no element table; `demotape check` reports it

    def paint(uid: str) -> str | None:
        box, image = boxes().get(uid), picture()
        if not box or image is None:
            return None
        scale = image.shape[1] / state["viewport"]["width"]
        across = _seen(box["x"] * scale, box["width"] * scale, image.shape[1])
        down = _seen(box["y"] * scale, box["height"] * scale, image.shape[0])
        if not (across and down):
            return None
        seen = image[down.start:down.stop, across.start:across.stop]
        place = " ".join(f"{_percent(first - box[name] * scale, box[size] * scale - len(part))}%"
                         for part, first, name, size in ((across, across.start, "x", "width"),
                                                         (down, down.start, "y", "height")))
        size = f"{_percent(len(across), box['width'] * scale)}% {_percent(len(down), box['height'] * scale)}%"
        content = base64.b64encode(cv2.imencode(".png", seen)[1].tobytes()).decode()
        return f"url(data:image/png;base64,{content}) {place}/{size} no-repeat border-box border-box"

    return paint
