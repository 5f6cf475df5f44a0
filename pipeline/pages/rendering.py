"""A captured page with its original appearance, in one HTML text without network: style sheets, images and fonts
included.

Read by a tokenizer as the HTML standard has it, and written anew: only what is on the lists of `allowed` is, by a
writer of our own; style sheets by `style_sheets`. So the page is shown as it was captured, and not as another parser
would mend it. The result is read again and proved (`proof`). One script is put in, ours: see `restoring`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from turbohtml import Token, TokenType, tokenize

from recorder import Recording
from schemas import UID_ATTRIBUTE

from . import allowed, markup, restoring, sprites
from .nesting import COMPLETE_ATTRIBUTE, Nesting
from .painting import PAINTED, STANDING_IN, TRANSPARENT, Painter, painter
from .proof import prove
from .resources import NOTHING, Resources, ResourcesAt
from .style_sheets import StyleSheets

_NUMBER = re.compile(r"[0-9]{1,9}")  # of an adopted style sheet
_PDF = "application/pdf"  # in the document of every frame with a PDF, as the type of its viewer
_OTHER_NAMES = {name: "pre" for name in allowed.PREFORMATTED}
_OUTLINE = "<style>[data-demotape-outlined]{outline:3px solid #d6336c!important;outline-offset:1px!important}</style>"
# Written here, if at all.
_OURS = frozenset({"data-demotape-properties", "data-demotape-fonts", "data-demotape-rules", "data-demotape-src",
                   "data-demotape-painted", "data-demotape-outlined", COMPLETE_ATTRIBUTE})
_MAX_FRAMES_DEEP = 8
_MAX_EMBEDDED = 64 << 20  # characters of images and fonts in one page
_MAX_SPRITES = 2000  # `use` elements of a page that show parts of other files
_MAX_PAINTED = 64  # elements of a page that are cut out of the screenshot


def render(recording: Recording, state: Mapping[str, Any], resources: Resources | None = None,
           outline: str = "") -> str:
    """HTML text that shows a state's DOM without network or script of the page, scrolled as it was.

    `state` needs `dom`; where it has `screenshot`, `elements` and `viewport`, what scripts painted (canvas, video) is
    cut out of the screenshot; where it has `url`, its fragment is the target. `outline`: uid of an element to be
    outlined. Raises InputError when a blob is missing, UnsafePage when the result is not what may be shown.
    """
    document = recording.blob(state["dom"] or "").decode("utf-8", "replace")
    loaded = (resources or Resources(recording)).at(state.get("screenshot_time"))
    page = _Page(loaded, painter(recording, state), outline)
    text = page.document(document, fragment=state.get("url", "").partition("#")[2])
    prove(text)
    return text


class _Page:
    """One page being rendered: what all its documents share."""

    def __init__(self, resources: ResourcesAt, paint: Painter, outline: str):
        self.resources, self.paint, self.outline = resources, paint, outline
        self.mark = _OUTLINE if outline else ""
        self.style_sheets = StyleSheets(self.picture, resources.text, markup.absolute)
        self._left, self._paintings = _MAX_EMBEDDED, _MAX_PAINTED
        self.sprites_left = _MAX_SPRITES

    def picture(self, address: str) -> str:
        """An image or font as a data: URI; an empty one where it was not kept, or the page has had too many."""
        uri = self.resources.data_uri(address)
        self._left -= len(uri)
        return uri if self._left >= 0 else NOTHING

    def painting(self, uid: str) -> str | None:
        """A background for an element that scripts painted."""
        self._paintings -= 1
        return self.paint(uid) if self._paintings >= 0 else None

    def document(self, text: str, fragment: str = "") -> str:
        """The page's own document as HTML text, with the frames in it."""
        return _Writer(self, 0).write(text, restoring.tag(fragment))

    def frame(self, tag: str, text: str, depth: int) -> tuple[str, str]:
        """The attribute that shows a document in a frame, and its value."""
        writer = _Writer(self, depth)
        shown = writer.write(text, restoring.tag(""))
        return "srcdoc" if tag == "iframe" and writer.mode == "standards" else allowed.WRITTEN, shown


class _Writer:
    """One document being written."""

    def __init__(self, page: _Page, depth: int):
        self.page, self.depth = page, depth
        self.nesting = Nesting()
        self.base = self.doctype = ""
        self.sizes: list[str] = []  # rules that give canvases their size
        self.adopted: list[str] = []  # style elements that hold sheets to be adopted by our script
        self.drawn = False  # it is an SVG document
        self.drawing: _Drawing | None = None
        self.registered = self.fonts = ""  # properties and fonts that scripts have registered
        self.undefined: frozenset[str] = frozenset()  # names of custom elements that are not defined
        self.parts: list[str] = []
        self.policy_at = self.frameset_at = 0
        self.mode: Literal["standards", "quirks", "as its doctype tells"] = "standards"

    def write(self, text: str, ours: str) -> str:
        """The document's text, with `ours` at its end; before a frameset, behind which nothing may stand."""
        dropped, sheet = "", None  # the element whose text is left out; the style element whose text is read
        for token in tokenize(text):
            tag = token.tag or ""
            if sheet is not None:
                if token.type == TokenType.END_TAG:
                    self._sheet(sheet)
                    sheet = None
                else:
                    sheet.text.append(token.data or "")
            elif dropped:
                if token.type == TokenType.END_TAG and tag == dropped:
                    dropped = ""
                    self.parts += f"</{tag}>", self.nesting.end(tag)
            elif token.type == TokenType.START_TAG and tag == "style":
                sheet = _Sheet(dict(_attributes(token)), [])
            elif token.type == TokenType.START_TAG:
                self._start_tag(tag, token)
                dropped = tag if tag in allowed.EMPTIED else ""
            elif token.type == TokenType.END_TAG:
                self._end_tag(tag)
            elif token.type == TokenType.TEXT:
                before, behind = self.nesting.text(token.data or "")
                self.parts += before, markup.escape_text(token.data or ""), behind
            elif token.type == TokenType.DOCTYPE and not self.base:
                self.doctype = markup.doctype(token)
                if token.public_id is not None:
                    self.mode = "as its doctype tells"
        if sheet is not None:
            self._sheet(sheet)
        self.parts.append(f"</{dropped}>" if dropped else "")
        return self._with_ours(ours)

    def _with_ours(self, script: str) -> str:
        """The document's text with what is ours: rules at its beginning, where they are no sibling of what is seen, and
        the script at its end."""
        rules = restoring.rules(self.drawn) + self.page.mark + "".join(self.adopted)
        if self.registered:
            rules += f"<style>{self.page.style_sheets.rules(self.registered, self.base)}</style>"
        if self.fonts:
            rules += f"<style>{self.page.resources.font_rules(self.fonts)}</style>"
        if self.sizes:
            rules += f"<style>{''.join(self.sizes)}</style>"
        self.parts.append("" if self.frameset_at else script)
        if self.frameset_at:
            self.parts.insert(self.frameset_at, script)
        self.parts.insert(0, "" if self.mode == "quirks" else self.doctype)
        policy = "" if self.depth else restoring.POLICY_ELEMENT  # frames have the policy of the page around them
        self.parts.insert(self.policy_at + 1, policy + rules)
        return "".join(self.parts)

    def _sheet(self, sheet: "_Sheet") -> None:
        """A style element with its rules; one that was adopted is kept for our script."""
        attributes = sheet.attributes
        rules = "" if attributes.get("data-demotape-sheet") == "off" else self.page.style_sheets.rules(
            "".join(sheet.text), self.base)
        written = dict(self._written_attributes("style", attributes)) | markup.media_attribute(attributes)
        written.pop("title", None)  # the browser would apply those of one title only
        if _NUMBER.fullmatch(attributes.get("data-demotape-adopted", "")):
            if "media" in attributes:
                written["data-demotape-media"] = attributes["media"]
            self.adopted.append(f"<style{markup.attributes_text(written | {'media': 'not all'})}>{rules}</style>")
            return
        self._sheet_element(written, rules)

    def _sheet_element(self, written: Mapping[str, str], rules: str) -> None:
        before, behind = self.nesting.start("style")
        if self.nesting.is_drawn:  # there, it is text like any other
            rules = markup.escape_text(rules)
        self.parts += before, f"<style{markup.attributes_text(written)}>{rules}</style>", behind
        self.parts.append(self.nesting.end("style"))

    def _start_tag(self, tag: str, token: Token | sprites.Piece) -> None:
        attributes = dict(_attributes(token))
        if not self.base and "data-demotape-base" in attributes:
            self.base = attributes["data-demotape-base"]
            self.undefined = frozenset(attributes.get("data-demotape-undefined", "").split())
            self.drawn = tag == "svg"
            self.registered = attributes.get("data-demotape-properties", "")
            self.fonts = attributes.get("data-demotape-fonts", "")
            self._set_mode(attributes.get("data-demotape-mode", ""))
        if tag in allowed.PLACEHOLDERS:
            self._placeholder(tag, attributes)
            return
        if tag == "base":
            return
        if tag == "link":
            self._link(attributes)
            return
        if tag == "frameset":
            self.frameset_at = self.frameset_at or len(self.parts)
        name = _written_name(tag)
        rendered = dict(self._written_attributes(name, attributes))
        if tag in allowed.FRAMES:
            self._frame(tag, rendered, attributes)
        if tag == "canvas":
            self.sizes.append(markup.canvas_size_rule(attributes))
        for attribute, address in self._pictures(tag, attributes):
            rendered[attribute] = self.page.picture(markup.absolute(self.base, address))
            if rendered[attribute] == NOTHING and tag in STANDING_IN and attributes.get(UID_ATTRIBUTE):
                self._stand_in(rendered, attribute, attributes[UID_ATTRIBUTE])
        sprite = self._sprite(attributes) if tag == "use" else None
        if sprite:
            rendered["href"] = f"#{sprite.id}"
            self._sprite_pieces(sprite.others)
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
        if tag in self.undefined:
            rendered["data-demotape-undefined"] = ""
        is_drawn = self.nesting.is_drawn
        before, behind = self.nesting.start(name, closed=token.self_closing)
        self.parts += before, f"<{name}{markup.attributes_text(rendered)}{'/' if token.self_closing else ''}>", behind
        if tag in ("html", "head"):
            self.policy_at = len(self.parts)
        if tag == "svg" and not is_drawn:
            self.drawing = _Drawing(len(self.parts) - 2, rendered)
        if sprite:
            self._sprite_pieces(sprite.target)

    def _stand_in(self, written: dict[str, str], attribute: str, uid: str) -> None:
        """Show a picture that was not kept, named by an attribute, as it is in the screenshot."""
        if background := self.page.painting(uid):
            if attribute:
                written[attribute] = TRANSPARENT
            written["style"] = f"{written.get('style', '')};background:{background}"
            written["data-demotape-painted"] = ""

    def _sprite(self, attributes: Mapping[str, str]) -> sprites.Sprite | None:
        """What a `use` shows of another file."""
        address, _, fragment = attributes.get("href", attributes.get("xlink:href", "")).partition("#")
        if not address or not fragment or self.page.sprites_left <= 0:
            return None
        self.page.sprites_left -= 1
        file = self.page.resources.text(markup.absolute(self.base, address))
        sprite = file and sprites.sprite(file, fragment, f"demotape-sprite-{self.page.sprites_left}")
        if not sprite and self.drawing and "data-demotape-painted" not in self.drawing.attributes:
            number, written = self.drawing
            self._stand_in(written, "", written.get(UID_ATTRIBUTE, ""))
            self.parts[number] = f"<svg{markup.attributes_text(written)}>"
        return sprite or None

    def _sprite_pieces(self, pieces: list[sprites.Piece]) -> None:
        for piece in pieces:
            if piece.end:
                self._end_tag(piece.name)
            elif piece.name:
                self._start_tag(piece.name, piece)
            else:
                self.parts.append(markup.escape_text(piece.text))

    def _end_tag(self, tag: str) -> None:
        if tag not in allowed.PLACEHOLDERS and tag not in ("base", "link"):
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

    def _link(self, attributes: Mapping[str, str]) -> None:
        """A style sheet's link as a style element with its rules; any other link is nothing to be seen."""
        sheet = "stylesheet" in attributes.get("rel", "").lower().split() and "href" in attributes
        address = markup.absolute(self.base, attributes.get("href", ""))
        off = "disabled" in attributes or attributes.get("data-demotape-sheet") == "off"
        rules = attributes.get("data-demotape-rules")
        if sheet and rules is None and not off:
            rules = self.page.resources.text(address)
        if not sheet or rules is None:
            self._placeholder("link", attributes)
            return
        written = {name: value for name, value in attributes.items() if name in ("id", "class", UID_ATTRIBUTE)}
        rules = "" if off else self.page.style_sheets.rules(rules, address)
        self._sheet_element(written | markup.media_attribute(attributes), rules)

    def _placeholder(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An empty element for one that is left out; what stands behind it follows with its end tag."""
        written = {name: attributes[name] for name in ("id", "class", UID_ATTRIBUTE) if name in attributes}
        if tag == "script":
            written["type"] = allowed.INERT_TYPE
        elif tag != "link":
            written["style"] = restoring.HIDDEN
        before, behind = self.nesting.start(tag)
        self.parts += before, f"<{tag}{markup.attributes_text(written)}>", behind


class _Drawing(NamedTuple):
    """The start tag of an outermost `svg`, by its number among the parts that were written."""

    number: int
    attributes: dict[str, str]


class _Sheet(NamedTuple):
    """A style element being read."""

    attributes: dict[str, str]
    text: list[str]


def _attributes(token: Token | sprites.Piece) -> Iterator[tuple[str, str]]:
    return ((name, value or "") for name, value in token.attrs or ())




def _written_name(tag: str) -> str:
    """The element that is written for one of this name: another where that one may not stand."""
    name = _OTHER_NAMES.get(tag, tag)
    return name if allowed.element(name) or name in allowed.STRUCTURE else "span"




