"""Nesting of a page that an HTML parser would change: detected from the sequence of tags alone.

Scripts may put any element into any other; who reads a text as HTML nests by rules of its own (HTML standard, section
13.2.6: a block ends a paragraph, a link another link, what is no row leaves a table). The text of a snapshot has an end
tag for each element, so its tags tell how the page was nested. What would come to stand elsewhere is written into a
`template` of its own, in which a parser begins anew, or in SVG into a `foreignObject`; `restoring.js` takes it out
again. To do so where it were not needed changes nothing.
"""

from enum import IntFlag, auto
from typing import NamedTuple

from .allowed import HTML_ONLY, names

# The attribute of what holds such an element; its value names the parent where that is not around it.
COMPLETE_ATTRIBUTE = "data-demotape-whole"
_VOID = names("area base br col embed frame hr img input link meta param source track wbr")
_HEADINGS = names("h1 h2 h3 h4 h5 h6")
_ENDS_PARAGRAPH = _HEADINGS | names("""address article aside blockquote center dd details dialog dir div dl dt
fieldset figcaption figure footer form header hgroup hr li listing main menu nav ol p plaintext pre search section
summary table ul xmp""")
_IMPLIED = names("dd dt li optgroup option p rb rp rt rtc")  # ended by some that begin in them
_RUBY = names("rb rp rt rtc")
_IN_SELECTS = names("hr optgroup option")  # end them, too, in a select
_SETS_OFF = names("applet caption marquee object table td template th html foreignobject")  # "in scope"
_MARKED = names("applet caption marquee object td template th")  # where links and the like begin anew
_SPECIAL = _ENDS_PARAGRAPH | _SETS_OFF | names("""area base basefont bgsound body br button col colgroup embed frame
frameset head iframe img input keygen link meta noembed noframes noscript param script select source style tbody
textarea tfoot thead title tr track wbr""")
_THROUGH = _SPECIAL - {"address", "dialog", "div", "p"}  # a list's item is not looked for beyond these
_SILENT = names("script style template")
_IN_TABLES = {  # what may stand in parts of a table
    "table": _SILENT | {"caption", "colgroup", "thead", "tbody", "tfoot"}, "colgroup": frozenset({"col", "template"}),
    "thead": _SILENT | {"tr"}, "tbody": _SILENT | {"tr"}, "tfoot": _SILENT | {"tr"}, "tr": _SILENT | {"td", "th"},
}
_TABLE_PARTS = names("caption col colgroup thead tbody tfoot tr td th")
_IN_HEADS = _SILENT | names("base basefont bgsound link meta noframes noscript title")
_STRUCTURE = names("html head body frameset frame")
_FOREIGN = frozenset(("svg", "math"))
_HTML_INSIDE = names("foreignobject desc title mi mo mn ms mtext annotation-xml")  # of SVG and MathML


class _Open(IntFlag):
    """What is open around an element, and would be ended by another of its kind."""

    PARAGRAPH = auto()
    LINK = auto()
    BUTTON = auto()
    FORM = auto()
    NO_BREAK = auto()
    ITEM = auto()
    TERM = auto()
    SELECT = auto()
    OPTION = auto()


_OPENS = {"p": _Open.PARAGRAPH, "a": _Open.LINK, "button": _Open.BUTTON, "form": _Open.FORM, "nobr": _Open.NO_BREAK,
          "li": _Open.ITEM, "dd": _Open.TERM, "dt": _Open.TERM, "select": _Open.SELECT, "option": _Open.OPTION}


def _closed_by(tag: str) -> _Open:
    """What is not open any more in an element of this name."""
    closed = _Open(0)
    if tag in _SETS_OFF:
        closed |= _Open.PARAGRAPH | _Open.BUTTON | _Open.NO_BREAK
    if tag == "button":
        closed |= _Open.PARAGRAPH
    if tag in _MARKED:
        closed |= _Open.LINK
    if tag in _THROUGH:
        closed |= _Open.ITEM | _Open.TERM
    if tag in ("template", "select"):
        closed |= _Open.OPTION
    return closed | (_Open.FORM | _Open.SELECT if tag == "template" else _Open(0))


# What stays open in elements, and what they open; numbers, as flags are slow.
_INSIDE = {tag: (int(~_closed_by(tag)), int(_OPENS.get(tag, 0))) for tag in _SPECIAL | _OPENS.keys()}
_ALL = int(~_Open(0)), 0
_ENDED_BY = {tag: int(open_) for tag, open_ in (*_OPENS.items(), *dict.fromkeys(
    ("input", "textarea", "keygen"), _Open.SELECT).items(), ("optgroup", _Open.OPTION))}
_STRICT = _IN_TABLES.keys() | {"head", "html"}  # that hold no text, and few elements
_MAY_MOVE = _TABLE_PARTS | _ENDS_PARAGRAPH | _RUBY | _IN_SELECTS | _ENDED_BY.keys()
_PARAGRAPH, _SELECT = int(_Open.PARAGRAPH), int(_Open.SELECT)


class _Element(NamedTuple):
    """An open element. `open`: what is, in it; `drawn`: what it holds is SVG's or MathML's; `alone`: it is ours, and
    holds one that a parser would move; `end`: what is written behind its end."""

    tag: str
    open: int = 0
    drawn: bool = False
    alone: bool = False
    end: str = ""


class Nesting:
    """The elements of one document that are open, as its tags are met one after the other, with names in lower case."""

    def __init__(self) -> None:
        self._stack = [_Element("")]
        self._count: dict[str, int] = {}  # of the open elements, by name

    def start(self, tag: str, *, closed: bool = False) -> tuple[str, str]:
        """What is to be written before and behind a start tag; `closed`: it says that no end tag follows."""
        before, behind = self._around(tag)
        closed = closed and (self._stack[-1].drawn or tag in _FOREIGN)  # in HTML that is not heard
        if tag in _VOID or closed:
            self._leave_alone()
            return before, behind
        self._push(tag, end=behind)
        return before, ""

    def end(self, tag: str) -> str:
        """What is to be written behind an end tag."""
        if not self._count.get(tag):
            return ""
        ends = ""
        while self._stack[-1].tag != tag:
            ends += self._pop().end
        ends += self._pop().end
        self._leave_alone()
        return ends

    @property
    def is_drawn(self) -> bool:
        """Whether what the innermost element holds is SVG's or MathML's."""
        return self._stack[-1].drawn

    def text(self, text: str) -> tuple[str, str]:
        """What is to be written before and behind a text."""
        parent = self._stack[-1]
        if parent.tag not in _STRICT or parent.drawn or text.isspace():
            return "", ""
        return _template(parent.tag)

    def _around(self, tag: str) -> tuple[str, str]:
        """What is to stand around an element, which is taken in as open."""
        parent = self._stack[-1]
        if parent.drawn:
            if tag not in HTML_ONLY or not self._count.get("svg"):
                return "", ""
            self._push("foreignobject", alone=True)
            before, behind = self._around(tag)
            return f'<foreignObject {COMPLETE_ATTRIBUTE}="">{before}', f"{behind}</foreignObject>"
        if parent.tag not in _STRICT and tag not in _MAY_MOVE:
            return "", ""
        anew = parent.alone and parent.tag == "template"
        if tag in _STRUCTURE or not parent.tag or anew or not _is_moved(tag, parent):
            return "", ""
        self._push("template", alone=True)
        return _template(parent.tag)

    def _leave_alone(self) -> None:
        """Leave what held one element, which has ended."""
        while self._stack[-1].alone:
            self._pop()

    def _pop(self) -> _Element:
        element = self._stack.pop()
        self._count[element.tag] -= 1
        return element

    def _push(self, tag: str, *, alone: bool = False, end: str = "") -> None:
        parent = self._stack[-1]
        drawn = (parent.drawn or tag in _FOREIGN) and tag not in _HTML_INSIDE
        self._count[tag] = self._count.get(tag, 0) + 1
        allowed, opened = _ALL if drawn else _INSIDE.get(tag, _ALL)
        self._stack.append(_Element(tag, parent.open & allowed | opened, drawn, alone, end))


def _is_moved(tag: str, parent: _Element) -> bool:
    """Whether a parser would not leave an element where it stands, in HTML."""
    if parent.tag in _IN_TABLES:
        return tag not in _IN_TABLES[parent.tag]
    if parent.tag == "head":
        return tag not in _IN_HEADS
    if parent.tag == "html" or tag in _TABLE_PARTS:
        return True
    if tag in _ENDS_PARAGRAPH and parent.open & _PARAGRAPH:
        return True
    if (tag in _HEADINGS and parent.tag in _HEADINGS) or (tag in _RUBY and parent.tag in _IMPLIED):
        return True
    if tag in _IN_SELECTS and parent.open & _SELECT and parent.tag in _IMPLIED and parent.tag != "optgroup":
        return True
    return bool(parent.open & _ENDED_BY.get(tag, 0))


def _template(parent: str) -> tuple[str, str]:
    return f'<template {COMPLETE_ATTRIBUTE}="{"html" if parent == "html" else ""}">', "</template>"
