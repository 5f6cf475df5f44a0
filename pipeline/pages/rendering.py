"""A captured page with its original appearance, in one HTML text without network: style sheets, images and fonts
included.

Read by a tokenizer as the HTML standard has it, and written anew: only what is on the lists of `allowed` is, by a
writer of our own; style sheets by `style_sheets`. So the page is shown as it was captured, and not as another parser
would mend it. The result is read again and proved (`proof`). One script is put in, ours: see `restoring`.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import urljoin

from turbohtml import Token, TokenType, tokenize

from recorder import Recording
from schemas import UID_ATTRIBUTE, InputError

from . import allowed, restoring
from .nesting import COMPLETE_ATTRIBUTE, Nesting
from .painting import PAINTED, Painter, painter
from .proof import prove
from .style_sheets import StyleSheets

_MEDIA_TYPE = re.compile(r"[\w.+-]{1,100}/[\w.+-]{1,100}")
_UID = re.compile(r"[\w.:-]{1,100}")
_DIGITS = re.compile(r"[0-9]{1,5}")
_IDENTIFIER = re.compile(r"[\w\-/. :+]{1,200}")
_NOTHING = "data:,"
_PDF = "application/pdf"  # in the document of every frame with a PDF, as the type of its viewer
_DROPPED = allowed.EMPTIED - {"iframe"}
_OTHER_NAMES = {name: "pre" for name in allowed.PREFORMATTED}
_OUTLINE = "<style>[data-demotape-outlined]{outline:3px solid #d6336c!important;outline-offset:1px!important}</style>"
# Written here, if at all.
_OURS = frozenset({"data-demotape-src", "data-demotape-painted", "data-demotape-outlined", COMPLETE_ATTRIBUTE})
_MAX_FRAMES_DEEP = 8
_MAX_EMBEDDED = 64 << 20  # characters of images and fonts in one page
_MAX_PAINTED = 64  # elements of a page that are cut out of the screenshot


class Resources:
    """What the pages of a recording loaded, by address."""

    def __init__(self, recording: Recording):
        self._recording = recording
        self._by_url = {line["url"].partition("#")[0]: line for line in recording.resources()}
        self.data_uri = lru_cache(maxsize=256)(self._data_uri)

    def text(self, url: str) -> str | None:
        """A style sheet's text, None when it was not kept."""
        content = self._content(url.partition("#")[0])
        return content if content is None else content.decode("utf-8", "replace")

    def _data_uri(self, url: str) -> str:
        """An image or font as a data: URI; an empty one when it was not kept."""
        if url.startswith("data:"):
            return url
        address, _, fragment = url.partition("#")
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
            return self._recording.blob(line["blob"]) if line else None
        except InputError:
            return None  # a damaged picture is a missing one; `demotape check` reports it


def render(recording: Recording, state: Mapping[str, Any], resources: Resources | None = None,
           outline: str = "") -> str:
    """HTML text that shows a state's DOM without network or script of the page, scrolled as it was.

    `state` needs `dom`; where it has `screenshot`, `elements` and `viewport`, what scripts painted (canvas, video) is
    cut out of the screenshot; where it has `url`, its fragment is the target. `outline`: uid of an element to be
    outlined. Raises InputError when a blob is missing, UnsafePage when the result is not what may be shown.
    """
    document = recording.blob(state["dom"] or "").decode("utf-8", "replace")
    page = _Page(resources or Resources(recording), painter(recording, state), outline)
    text = page.document(document, fragment=state.get("url", "").partition("#")[2])
    prove(text)
    return text


class _Page:
    """One page being rendered: what all its documents share."""

    def __init__(self, resources: Resources, paint: Painter, outline: str):
        self.resources, self.paint, self.outline = resources, paint, outline
        self.mark = _OUTLINE if outline else ""
        self.style_sheets = StyleSheets(self.picture, resources.text, _absolute)
        self._left, self._paintings = _MAX_EMBEDDED, _MAX_PAINTED

    def picture(self, address: str) -> str:
        """An image or font as a data: URI; an empty one where it was not kept, or the page has had too many."""
        uri = self.resources.data_uri(address)
        self._left -= len(uri)
        return uri if self._left >= 0 else _NOTHING

    def painting(self, uid: str) -> str | None:
        """A background for an element that scripts painted."""
        self._paintings -= 1
        return self.paint(uid) if self._paintings >= 0 else None

    def document(self, text: str, fragment: str = "") -> str:
        """The page's own document as HTML text, with the frames in it."""
        return _Writer(self, 0).write(text, self.mark + restoring.tag(fragment))

    def frame(self, tag: str, text: str, depth: int) -> tuple[str, str]:
        """The attribute that shows a document in a frame, and its value."""
        writer = _Writer(self, depth)
        shown = writer.write(text, self.mark + restoring.tag(""))
        return "srcdoc" if tag == "iframe" and writer.mode == "standards" else allowed.WRITTEN, shown


class _Writer:
    """One document being written."""

    def __init__(self, page: _Page, depth: int):
        self.page, self.depth = page, depth
        self.nesting = Nesting()
        self.base = self.doctype = ""
        self.sizes: list[str] = []  # rules that give canvases their size
        self.parts: list[str] = []
        self.policy_at = self.frameset_at = 0
        self.mode: Literal["standards", "quirks", "as its doctype tells"] = "standards"

    def write(self, text: str, ours: str) -> str:
        """The document's text, with `ours` at its end; before a frameset, behind which nothing may stand."""
        dropped = raw = ""  # the elements whose text is left out, and whose text is a style sheet
        sheet: list[str] = []
        for token in tokenize(text):
            tag = token.tag or ""
            if raw:
                if token.type == TokenType.END_TAG:
                    self.parts += self.page.style_sheets.rules("".join(sheet), self.base), "</style>"
                    self.parts.append(self.nesting.end(tag))
                    raw, sheet = "", []
                else:
                    sheet.append(token.data or "")
            elif dropped:
                dropped = "" if token.type == TokenType.END_TAG and tag == dropped else dropped
                if tag == "iframe":
                    self.parts += "</iframe>", self.nesting.end(tag)
            elif token.type == TokenType.START_TAG:
                self._start_tag(tag, token)
                dropped = tag if tag in allowed.EMPTIED else ""
                raw = tag if tag == "style" else ""
            elif token.type == TokenType.END_TAG:
                self._end_tag(tag)
            elif token.type == TokenType.TEXT:
                before, behind = self.nesting.text(token.data or "")
                self.parts += before, _escape_text(token.data or ""), behind
            elif token.type == TokenType.DOCTYPE and not self.base:
                self.doctype = _doctype(token)
                if token.public_id is not None:
                    self.mode = "as its doctype tells"
        if raw:
            self.parts.append(self.page.style_sheets.rules("".join(sheet), self.base) + "</style>")
        if self.sizes:
            self.parts.append(f"<style>{''.join(self.sizes)}</style>")
        self.parts.append("" if self.frameset_at else ours)
        if self.frameset_at:
            self.parts.insert(self.frameset_at, ours)
        self.parts.insert(0, "" if self.mode == "quirks" else self.doctype)
        if self.depth == 0:  # frames have the policy of the page around them
            self.parts.insert(self.policy_at + 1, restoring.POLICY_ELEMENT)
        return "".join(self.parts)

    def _start_tag(self, tag: str, token: Token) -> None:
        attributes = {name: value or "" for name, value in token.attrs or ()}
        if tag == "html" and not self.base:
            self.base = attributes.get("data-demotape-base", "")
            self._set_mode(attributes.get("data-demotape-mode", ""))
        if tag in _DROPPED or tag == "base":
            return
        if tag == "link":
            self.parts.append(self._link(attributes))
            return
        if tag == "frameset":
            self.frameset_at = self.frameset_at or len(self.parts)
        name = _written_name(tag)
        rendered = dict(self._written_attributes(name, attributes))
        if tag in allowed.FRAMES:
            self._frame(tag, rendered, attributes)
        if tag == "canvas":
            self.sizes.append(_size_of_canvas(attributes))
        for attribute, address in self._pictures(tag, attributes):
            rendered[attribute] = self.page.picture(_absolute(self.base, address))
        painted = tag in PAINTED and allowed.WRITTEN not in rendered
        if painted and (background := self.page.painting(attributes.get(UID_ATTRIBUTE, ""))):
            rendered["style"] = f"{rendered.get('style', '')};background:{background}"
            rendered["data-demotape-painted"] = ""
        if self.page.outline and attributes.get(UID_ATTRIBUTE) == self.page.outline:
            rendered["data-demotape-outlined"] = ""
        if rendered.get("shadowrootmode"):
            rendered["shadowrootmode"] = "open"  # our script has to reach into it; there is no other to be kept out
        if name != tag:
            rendered["data-demotape-tag"] = tag[:100]
        written = "".join([f' {key}="{_escape_value(value)}"' for key, value in rendered.items()])
        before, behind = self.nesting.start(name, closed=token.self_closing)
        self.parts += before, f"<{name}{written}{'/' if token.self_closing else ''}>", behind
        if tag in ("html", "head"):
            self.policy_at = len(self.parts)

    def _end_tag(self, tag: str) -> None:
        if tag not in _DROPPED and tag not in ("base", "link"):
            name = _written_name(tag)
            self.parts += f"</{name}>", self.nesting.end(name)

    def _written_attributes(self, tag: str, attributes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """The attributes that may stand, but for addresses of pictures."""
        for name, value in attributes.items():
            match allowed.attribute(tag, name):
                case "plain" if name not in _OURS:
                    yield name, value
                case "author's":
                    yield name, value if allowed.names_no_address(value) else ""
                case "words" if allowed.is_words(value):
                    yield name, value
                case "css":
                    yield name, self.page.style_sheets.declarations(value, self.base)
                case "address" if name in ("href", "xlink:href"):
                    if tag in allowed.LINKS:
                        yield name, allowed.link(value)
                    elif value.startswith("#"):
                        yield name, value

    def _pictures(self, tag: str, attributes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Attributes that name a picture, and its address."""
        chosen = attributes.get("data-demotape-src") if tag == "img" else None
        for name in allowed.PICTURES.get(tag, ()):
            if chosen or (name in attributes and not attributes[name].startswith("#")):
                yield name, chosen or attributes[name]

    def _set_mode(self, mode: str) -> None:
        if mode == "quirks":
            self.mode = "quirks"
        elif mode == "standards":
            self.mode, self.doctype = "standards", "<!DOCTYPE html>"

    def _frame(self, tag: str, written: dict[str, str], attributes: Mapping[str, str]) -> None:
        inner = attributes.get("srcdoc")
        address = allowed.FRAME_ADDRESSES.get(tag)
        if inner is None or self.depth >= _MAX_FRAMES_DEEP or (address and _PDF in inner):
            return  # a PDF is not in the text of its viewer, but in the screenshot
        name, document = self.page.frame(tag, inner, self.depth + 1)
        written[name] = document
        if address:
            written[address] = allowed.BLANK_PAGE
            written["type"] = "text/html"

    def _link(self, attributes: Mapping[str, str]) -> str:
        """A style sheet's link as a style element with its text; any other link is nothing to be seen."""
        if "stylesheet" not in attributes.get("rel", "").lower().split() or "href" not in attributes:
            return ""
        address = _absolute(self.base, attributes["href"])
        sheet = self.page.resources.text(address)
        if sheet is None or "disabled" in attributes:
            return ""
        media = f' media="{_escape_value(attributes["media"])}"' if "media" in attributes else ""
        return f"<style{media}>{self.page.style_sheets.rules(sheet, address)}</style>"


def _written_name(tag: str) -> str:
    """The element that is written for one of this name: another where that one may not stand."""
    name = _OTHER_NAMES.get(tag, tag)
    return name if allowed.element(name) or name in allowed.STRUCTURE else "span"


def _doctype(token: Token) -> str:
    """A doctype with its identifiers, by which a browser chooses quirks mode (HTML standard, section 13.2.6.4.1)."""
    if (token.name or "").lower() != "html" or token.force_quirks:
        return ""
    public, system = (identifier if identifier is None or _IDENTIFIER.fullmatch(identifier) else ""
                      for identifier in (token.public_id, token.system_id))
    if public is not None:
        return f'<!DOCTYPE html PUBLIC "{public}"' + (">" if system is None else f' "{system}">')
    return "<!DOCTYPE html>" if system is None else f'<!DOCTYPE html SYSTEM "{system}">'


def _escape_text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _escape_value(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _size_of_canvas(attributes: Mapping[str, str]) -> str:
    """A rule, weaker than any of the page's, that gives a canvas its size.

    Where no script may run it is but what stands in it for those who have none (HTML standard, section 4.12.5).
    """
    uid = attributes.get(UID_ATTRIBUTE, "")
    if not _UID.fullmatch(uid):
        return ""
    width, height = (int(attributes[name]) if _DIGITS.fullmatch(attributes.get(name, "")) else usual
                     for name, usual in (("width", 300), ("height", 150)))
    return (f':where([{UID_ATTRIBUTE}="{uid}"]){{display:inline-block;width:{width}px;'
            f"aspect-ratio:{width}/{height}}}")


def _absolute(base: str, address: str) -> str:
    try:
        return address if address.startswith("data:") else urljoin(base, address)
    except ValueError:
        return ""
