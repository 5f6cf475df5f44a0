"""Making a DOM snapshot look as its page did, for the sandboxed frame: styles and pictures from the recording, inlined.

The frame's own policy forbids scripts and the network whatever stands in the page; what is taken out here besides is
what that policy does not cover, and what would only fail.
"""

import base64
import re
from urllib.parse import urldefrag, urljoin

import lxml.html
from lxml import etree

from pipeline.dom import parse
from recorder.reading import Recording
from schemas import UID_ATTRIBUTE, InputError

BASE_ATTRIBUTE = "data-demotape-base"
MAX_INLINED = 24 << 20  # bytes of styles and pictures in one snapshot
MAX_FRAMES_DEEP = 8
UID = re.compile(r"[\w.:-]{1,100}")
CSS_URL = re.compile(r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^"'()\s]+))\s*\)""")
CONTENT_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+")
REMOVED = ("script", "noscript", "meta", "base", "object", "embed", "applet")


class Renderer:
    """Renders snapshots of one recording; remembers how much it may still inline."""

    def __init__(self, recording: Recording):
        self.recording = recording
        self.resources = {urldefrag(line["url"]).url: line for line in recording.resources()}
        self.left = MAX_INLINED

    def render(self, snapshot: bytes, uid: str = "") -> bytes:
        """A whole HTML document; the element of that uid gets an outline."""
        outline = ""
        if UID.fullmatch(uid):
            outline = f'[{UID_ATTRIBUTE}="{uid}"]{{outline:3px solid #d6336c!important;outline-offset:1px!important}}'
        return self._document(snapshot, outline, 0).encode("utf-8", "replace")

    def _document(self, snapshot: bytes, outline: str, depth: int) -> str:
        root = parse(snapshot)
        base = root.get(BASE_ATTRIBUTE, "")
        for element in list(root.iter(etree.Element)):
            self._element(element, base, outline, depth)
        if outline:
            style = lxml.html.Element("style")
            style.text = outline
            root.append(style)
        return "<!DOCTYPE html>" + lxml.html.tostring(root, encoding="unicode")

    def _element(self, element: lxml.html.HtmlElement, base: str, outline: str, depth: int) -> None:
        tag = element.tag
        for name in [name for name in element.attrib if name.startswith("on")]:
            del element.attrib[name]
        if tag in REMOVED:
            element.drop_tree()
        elif tag == "link":
            self._link(element, base)
        elif tag == "style":
            element.text = self._css(element.text or "", base)
        elif tag == "img":
            element.attrib.pop("srcset", None)
            element.set("src", self._data_url(urljoin_safely(base, element.get("src", ""))))
        elif tag in ("iframe", "frame"):
            inner = element.get("srcdoc")
            for name in ("src", "srcdoc"):
                element.attrib.pop(name, None)
            if inner and depth < MAX_FRAMES_DEEP:
                element.set("srcdoc", self._document(inner.encode("utf-8", "replace"), outline, depth + 1))
        if "style" in element.attrib and "url(" in element.get("style"):
            element.set("style", self._css(element.get("style"), base))

    def _link(self, link: lxml.html.HtmlElement, base: str) -> None:
        """A style sheet becomes a style element; every other link goes, preconnect for one would reach the network."""
        url = urljoin_safely(base, link.get("href", ""))
        content = self._content(url) if "stylesheet" in link.get("rel", "").lower().split() else None
        if content is None:
            link.drop_tree()
            return
        media = link.get("media")
        link.tag = "style"
        link.attrib.clear()
        if media:
            link.set("media", media)
        link.text = self._css(content.decode("utf-8", "replace"), url)

    def _css(self, text: str, base: str) -> str:
        def inlined(match: re.Match) -> str:
            url = match[1] or match[2] or match[3] or ""
            return match[0] if url.startswith("data:") else f'url("{self._data_url(urljoin_safely(base, url))}")'
        # A style element's text is written as it stands: it must not be able to end the element.
        return CSS_URL.sub(inlined, text).replace("</", "<\\/")

    def _data_url(self, url: str) -> str:
        if url.startswith("data:"):
            return url
        content = self._content(url)
        if content is None:
            return "data:,"
        media_type = self.resources[url]["content_type"].partition(";")[0].strip()
        if not CONTENT_TYPE.fullmatch(media_type):
            media_type = "application/octet-stream"
        return f"data:{media_type};base64,{base64.b64encode(content).decode()}"

    def _content(self, url: str) -> bytes | None:
        line = self.resources.get(urldefrag(url).url)
        if line is None:
            return None
        try:
            content = self.recording.blob(line["blob"])
        except InputError:
            return None
        if len(content) > self.left:
            return None
        self.left -= len(content)
        return content


def urljoin_safely(base: str, url: str) -> str:
    """As urljoin, without the fragment; what is no URL becomes an empty one."""
    try:
        return url if url.startswith("data:") else urldefrag(urljoin(base, url)).url
    except ValueError:
        return ""
