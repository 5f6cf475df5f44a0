"""A captured page as it looked, in one HTML text that needs no network: style sheets, images and fonts put in.

Works on the tokens of our own serialisation (docs/format.md), which is regular by construction: `<` is escaped in all
text but style sheets, and every attribute stands in double quotes. The text is otherwise left as it was captured.
"""

import base64
import html
import json
import re
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import urldefrag, urljoin

import cv2
import numpy as np

from recorder import Recording

_START_TAG = re.compile(r'<([a-zA-Z][^\s>/]*)((?: [^\s="<>]+="[^"]*")*)>')
_STYLE = re.compile(r'(<style(?: [^\s="<>]+="[^"]*")*>)(.*?)(</style>)', re.S)
_ATTRIBUTE = re.compile(r' ([^\s="<>]+)="([^"]*)"')
_CSS_URL = re.compile(r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]*))\s*\)""")
_CSS_IMPORT = re.compile(r"""@import\s+(?:url\(\s*)?["']?([^"')\s;]+)["']?\s*\)?([^;]*);""")
_NOTHING = "data:,"
_SOURCES = {  # elements that load something, and the attributes that name a picture to be put in
    "img": ("src",), "input": ("src",), "image": ("href", "xlink:href"), "video": ("poster",),
    "body": ("background",), "table": ("background",), "td": ("background",),
    "source": (), "audio": (), "embed": (), "object": (),
}
_LOADING = {"src", "srcset", "data", "poster", "background", "sizes", "imagesrcset"}
_PAINTED = {"canvas", "video", "embed", "object"}
_MAX_IMPORTS = 8


class Resources:
    """What the pages of a recording loaded, by address."""

    def __init__(self, recording: Recording):
        self._recording = recording
        self._by_url = {line["url"]: line for line in recording.resources()}
        self.data_uri = lru_cache(maxsize=256)(self._data_uri)

    def text(self, url: str) -> str | None:
        """A style sheet's text, None when it was not kept."""
        line = self._by_url.get(urldefrag(url).url)
        return self._recording.blob(line["blob"]).decode("utf-8", "replace") if line else None

    def _data_uri(self, url: str) -> str:
        """An image or font as a data: URI; an empty one when it was not kept."""
        if url.startswith("data:"):
            return url
        address, fragment = urldefrag(url)
        line = self._by_url.get(address)
        if not line:
            return _NOTHING
        content = base64.b64encode(self._recording.blob(line["blob"])).decode()
        kind = re.sub(r"[^\w/+.-]", "", line["content_type"]) or "application/octet-stream"
        return f"data:{kind};base64,{content}" + (f"#{fragment}" if fragment else "")


def render(recording: Recording, state: dict, resources: Resources | None = None) -> str:
    """HTML text that shows a state's DOM without network or script; raises InputError when a blob is missing.

    What scripts painted (canvas, video) is cut out of the screenshot. Scroll offsets stand in `data-demotape-scroll`.
    """
    resources = resources or Resources(recording)
    document = recording.blob(state["dom"]).decode("utf-8", "surrogatepass")
    return _document(document, resources, _painter(recording, state))


def _document(text: str, resources: Resources, paint: Callable[[str], str | None]) -> str:
    root = _START_TAG.search(text)
    attributes = dict(_ATTRIBUTE.findall(root[2])) if root else {}
    base = html.unescape(attributes.get("data-demotape-base", ""))
    text = _STYLE.sub(lambda found: found[1] + _css(found[2], base, resources) + found[3], text)
    return _START_TAG.sub(lambda found: _start_tag(found, base, resources, paint), text)


def _start_tag(found: re.Match, base: str, resources: Resources, paint: Callable[[str], str | None]) -> str:
    tag = found[1].lower()
    if tag not in _SOURCES and tag not in _PAINTED and tag not in ("link", "iframe", "frame", "base", "meta") \
            and " style=" not in found[2]:
        return found[0]
    attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(found[2])}
    if tag == "link":
        return _link(attributes, base, resources)
    if tag in ("base", "meta") and (tag == "base" or "http-equiv" in attributes):
        return ""
    if "srcdoc" in attributes:
        attributes["srcdoc"] = _document(attributes["srcdoc"], resources, paint)
    if "style" in attributes:
        attributes["style"] = _css(attributes["style"], base, resources)
    if tag in _SOURCES:
        _embed(tag, attributes, base, resources)
    if tag in _PAINTED and (picture := paint(attributes.get("data-demotape-uid", ""))):
        attributes["style"] = (f"{attributes.get('style', '')};background:url({picture}) 0 0/100% 100% no-repeat "
                               "border-box border-box")
    written = "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items())
    return f"<{found[1]}{written}>"


def _link(attributes: dict, base: str, resources: Resources) -> str:
    """A style sheet's link as a style element with its text; any other link is nothing to be seen."""
    if "stylesheet" not in attributes.get("rel", "").lower().split() or "href" not in attributes:
        return ""
    address = urljoin(base, attributes["href"])
    sheet = resources.text(address)
    if sheet is None or "disabled" in attributes:
        return ""
    media = f' media="{html.escape(attributes["media"])}"' if "media" in attributes else ""
    return f"<style{media}>{_css(sheet, address, resources)}</style>"


def _embed(tag: str, attributes: dict, base: str, resources: Resources) -> None:
    chosen = attributes.pop("data-demotape-src", None) if tag == "img" else None
    kept = {name: attributes[name] for name in _SOURCES[tag] if name in attributes}
    for name in _LOADING & attributes.keys():
        del attributes[name]
    for name, value in kept.items():
        attributes[name] = resources.data_uri(urljoin(base, chosen or value))
    if chosen and "src" not in attributes:
        attributes["src"] = resources.data_uri(chosen)


def _css(text: str, base: str, resources: Resources, depth: int = 0) -> str:
    """Style sheet text with imports put in and every address turned into a data: URI."""
    def import_(found: re.Match) -> str:
        address = urljoin(base, found[1])
        sheet = resources.text(address) if depth < _MAX_IMPORTS else None
        if sheet is None:
            return ""
        inner, media = _css(sheet, address, resources, depth + 1), found[2].strip()
        return f"@media {media}{{{inner}}}" if media else inner

    def url(found: re.Match) -> str:
        address = next((group for group in found.groups() if group), "")
        if address.startswith("#"):
            return found[0]
        return f'url("{resources.data_uri(urljoin(base, address) if not address.startswith("data:") else address)}")'

    text = _CSS_URL.sub(url, _CSS_IMPORT.sub(import_, text))
    return text.replace("</style", r"<\/style")


def _painter(recording: Recording, state: dict) -> Callable[[str], str | None]:
    """Gives what the screenshot shows in the box of an element, as a data: URI."""
    @lru_cache(maxsize=1)
    def picture() -> np.ndarray | None:
        if not state.get("screenshot"):
            return None
        return cv2.imdecode(np.frombuffer(recording.blob(state["screenshot"]), np.uint8), cv2.IMREAD_COLOR)

    @lru_cache(maxsize=1)
    def boxes() -> dict[str, dict]:
        rows = json.loads(recording.blob(state["elements"])) if state.get("elements") else []
        return {row["uid"]: row["bbox"] for row in rows if row["tag"] in _PAINTED}

    def paint(uid: str) -> str | None:
        box, image = boxes().get(uid), picture()
        if box is None or image is None:
            return None
        scale = image.shape[1] / max(state["viewport"]["width"], 1)
        canvas = np.zeros((max(1, round(box["height"] * scale)), max(1, round(box["width"] * scale)), 4), np.uint8)
        left, top = round(box["x"] * scale), round(box["y"] * scale)
        x, y = max(left, 0), max(top, 0)
        seen = image[y:top + canvas.shape[0], x:left + canvas.shape[1]]
        canvas[y - top:y - top + seen.shape[0], x - left:x - left + seen.shape[1], :3] = seen
        canvas[y - top:y - top + seen.shape[0], x - left:x - left + seen.shape[1], 3] = 255
        return "data:image/png;base64," + base64.b64encode(cv2.imencode(".png", canvas)[1]).decode()

    return paint
