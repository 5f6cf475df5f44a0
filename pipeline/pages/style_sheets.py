"""Captured style sheets as allowed in a rendered page: parsed with tinycss2 and rewritten, token by token.

Nothing in them names an address: where one stood, what was kept of it is put in as a data: URI. Nothing in them ends
the element or the attribute in which they stand.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import tinycss2

# What reading all style sheets of a page may cost: a character one, and what is a token for itself nine. That is some
# four million characters as people write them, and less than one of brackets alone; ten seconds.
MAX_COST = 8 << 20
_TOKENS = "(){}[];:,\"'#"
MAX_IMPORTS = 200  # of one page
_MAX_DEEP = 8
_ADDRESS_FUNCTIONS = ("url", "src")  # and, as nothing else may look like them, all whose names end so
# Strings in these are addresses.
_HOLDING = {"image-set", "-webkit-image-set", "image", "cross-fade", "-webkit-cross-fade"}
# Pseudo-classes of states that only scripts and the browser can give, and the attributes by which the capture script
# reports them (docs/format.md).
_FULLSCREEN = '[data-demotape-lifted="fullscreen"]'
_PSEUDO_CLASSES = {
    "fullscreen": _FULLSCREEN, "-webkit-full-screen": _FULLSCREEN, "defined": ":not([data-demotape-undefined])",
} | {name: f'[data-demotape-pseudo~="{name}"]' for name in ("user-valid", "user-invalid", "autofill")} | {
    "-webkit-autofill": '[data-demotape-pseudo~="autofill"]'}
_STATE = re.compile(r"[\w-]{1,100}")
# A type of CSS values, as in `attr(data-w type(<length>))`: no tag that would do anything.
_TYPE = re.compile(r"<(?=(?:angle|color|custom-ident|dashed-ident|image|integer|length|length-percentage|number"
                   r"|percentage|resolution|string|time|transform-function|transform-list|url)>)")
_BRACKETS = {"() block": ("(", ")"), "[] block": ("[", "]"), "{} block": ("{", "}")}
_INERT = str.maketrans({"<": r"\3c ", "@": r"\40 ", "(": r"\28 "})  # in a string
_HARMLESS = frozenset("\\(@<")  # a declaration without any of these names no address


@dataclass(frozen=True)
class _Address:
    """An address in a style sheet, to be replaced."""

    text: str


@dataclass(frozen=True)
class _Import:
    """An imported style sheet; `before` and `after`: the rules of its conditions around it."""

    text: str
    before: str
    after: str


_Piece: TypeAlias = str | _Address | _Import


class StyleSheets:
    """Writes the style sheets of one page.

    `data_uri` gives what was kept of an image or font as a data: URI, `sheet` the text of a style sheet, None where it
    was not kept; `absolute` makes an address of a base and an address.
    """

    def __init__(self, data_uri: Callable[[str], str], sheet: Callable[[str], str | None],
                 absolute: Callable[[str, str], str]):
        self._data_uri, self._sheet, self._absolute = data_uri, sheet, absolute
        self._left, self._imports = MAX_COST, MAX_IMPORTS

    def rules(self, text: str, base: str, depth: int = 0) -> str:
        """A style sheet's text; empty where the page has had too many."""
        self._left -= len(text) + sum(8 * text.count(token) for token in _TOKENS)
        if self._left < 0:
            return ""
        pieces = _small if len(text) < _SMALL else _large
        return "".join(self._written(pieces(text), base, depth))

    def declarations(self, text: str, base: str) -> str:
        """The text of a style attribute, or of one that holds a value of CSS."""
        return text if _HARMLESS.isdisjoint(text) else self.rules(text, base, _MAX_DEEP)

    def _written(self, pieces: Iterable[_Piece], base: str, depth: int) -> Iterator[str]:
        for piece in pieces:
            if isinstance(piece, str):
                yield piece
            elif isinstance(piece, _Address):
                yield f"url({self._address(piece.text, base)})"
            elif depth < _MAX_DEEP and self._imports > 0:
                self._imports -= 1
                address = self._absolute(base, piece.text)
                inner = self._sheet(address)
                if inner is not None:
                    yield f"{piece.before}{self.rules(inner, address, depth + 1)}{piece.after}"

    def _address(self, address: str, base: str) -> str:
        replacement = address if address.startswith("#") else self._data_uri(self._absolute(base, address))
        return css_string(replacement)


def _pieces(text: str) -> tuple[_Piece, ...]:
    """A style sheet's text, safe to be written, with the addresses in it."""
    pieces: list[_Piece] = []
    try:
        read = tinycss2.parse_component_value_list(text)
    except ValueError:  # a number of more digits than Python reads
        return ()
    if _NAMED.search(text):
        _replace_pseudo_classes(read)
    nodes = iter(read)
    for node in nodes:
        if node.type == "at-keyword" and node.lower_value == "import":
            if imported := _import(nodes):
                pieces.append(imported)
        elif node.type == "at-keyword" and node.lower_value == "namespace":
            pieces.append("@namespace")
            pieces.extend(_namespace(nodes))
        else:
            pieces.extend(_flat([node]))
    return tuple(_joined(pieces))


_NAMED = re.compile(f":({'|'.join(map(re.escape, _PSEUDO_CLASSES))}|state\\()", re.IGNORECASE)


def _replace_pseudo_classes(nodes: list[Any]) -> None:
    """Have rules for states that a rendered page cannot have apply to what had them: only an attribute tells. In
    place."""
    waiting = [nodes]
    while waiting:
        inside = waiting.pop()
        for number, node in enumerate(inside):
            if node.type == "{} block":
                waiting.append(node.content)
            elif node.type == "function":
                waiting.append(node.arguments)
            replacement = _replacement(node)
            if replacement and _is_selected(inside[max(0, number - 2):number]):
                position = node.source_line, node.source_column
                first, *rest = tinycss2.parse_component_value_list(replacement)
                inside[number - 1] = first
                inside[number] = rest[0] if rest else tinycss2.ast.Comment(*position, "")


def _replacement(node: Any) -> str | None:
    """What stands for a pseudo-class, without its colon; None for what is none of those to be replaced."""
    if node.type == "ident":
        return _PSEUDO_CLASSES.get(node.lower_value)
    if node.type == "function" and node.lower_name == "state":
        name = "".join(part.value for part in node.arguments if part.type == "ident")
        return f'[data-demotape-states~="{name}"]' if _STATE.fullmatch(name) else None
    return None


def _is_selected(before: list[Any]) -> bool:
    """Whether a name, with those tokens before it, is a pseudo-class: no pseudo-element, no variable's value."""
    *first, colon = before or [None]
    if colon is None or colon.type != "literal" or colon.value != ":":
        return False
    return not first or not (first[0].type == "literal" and first[0].value == ":"
                             or first[0].type == "ident" and first[0].value.startswith("--"))


# Pages of a recording share their style sheets.
_SMALL = 1 << 14
_small = lru_cache(maxsize=2048)(_pieces)
_large = lru_cache(maxsize=32)(_pieces)


def _joined(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """Texts beside each other as one."""
    texts: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            texts.append(piece)
            continue
        yield _separated("".join(texts))
        texts = []
        yield piece
    yield _separated("".join(texts))


def _separated(text: str) -> str:
    """With a blank behind each `<` that could begin a tag; not in `<=`, whose two tokens stay together, nor before the
    name of a type of values."""
    if "<" not in text:
        return text
    return _TYPE.sub("\0", text).replace("<", "< ").replace("< =", "<=").replace("\0", "<")


def _flat(nodes: Iterable[Any]) -> Iterator[_Piece]:
    """Nodes and all in them, in order; not by recursion, as they may be nested without end."""
    waiting: list[tuple[Iterator[Any], str, bool]] = [(iter(nodes), "", False)]
    while waiting:
        inside, closing, holding = waiting[-1]
        node = next(inside, None)
        if node is None:
            waiting.pop()
            yield closing
        elif node.type in _BRACKETS:
            opening, ending = _BRACKETS[node.type]
            yield opening
            waiting.append((iter(node.content), ending, False))
        elif node.type == "function" and node.lower_name.endswith(_ADDRESS_FUNCTIONS):
            yield _Address(_first_string(node.arguments))
        elif node.type == "function":
            yield _name(tinycss2.serializer.serialize_identifier(node.name)) + "("
            waiting.append((iter(node.arguments), ")", node.lower_name in _HOLDING))
        elif node.type == "url" or (node.type == "string" and holding):
            yield _Address(node.value)
        else:
            yield _leaf(node)


def _leaf(node: Any) -> str:
    """A token that names no address."""
    match node.type:
        case "comment":
            return "/**/"  # tokens beside it stay two
        case "string":
            return css_string(node.value)
        case "error":
            return node.kind if node.kind in (")", "]", "}") else " "
        case "literal":
            return " " if node.value in ("<!--", "-->") else node.value
        case "at-keyword":
            name = _name(tinycss2.serializer.serialize_identifier(node.value))
            return " " if node.lower_value.startswith("import") else f"@{name}"  # no rule has a longer name
        case "whitespace":
            return "\n" if "\n" in node.value else " "
        case _:  # a name, hash or number
            return _name(node.serialize())


def css_string(value: str) -> str:
    """A string of CSS, as it may stand in a rendered page."""
    return f'"{tinycss2.serializer.serialize_string_value(value).translate(_INERT)}"'


def _name(written: str) -> str:
    """A written name without what could be taken for a tag or a rule. Each stands escaped in it."""
    return written.replace(r"\<", r"\3c ").replace(r"\@", r"\40 ")


def _first_string(nodes: Iterable[Any]) -> str:
    return next((node.value for node in nodes if node.type in ("string", "url")), "")


def _until_semicolon(nodes: Iterator[Any]) -> list[Any]:
    """The rest of a statement."""
    tokens = []
    for node in nodes:
        if node.type == "literal" and node.value == ";":
            break
        if node.type != "comment":
            tokens.append(node)
        if node.type == "{} block":
            break
    return tokens


def _namespace(nodes: Iterator[Any]) -> Iterator[str]:
    """The rest of an @namespace: its address is a name, and fetched by nobody."""
    for node in _until_semicolon(nodes):
        if node.type in ("string", "url"):
            yield css_string(node.value)
        elif node.type == "function" and node.lower_name == "url":
            yield css_string(_first_string(node.arguments))
        elif node.type in ("ident", "whitespace"):
            yield _leaf(node)
    yield ";"


def _import(nodes: Iterator[Any]) -> _Import | None:
    """The rest of an @import (CSS Cascading and Inheritance, level 5, section 2), its conditions as rules around it."""
    rest = _until_semicolon(nodes)
    while rest and rest[0].type == "whitespace":
        rest.pop(0)
    if not rest or rest[-1].type == "{} block":
        return None
    first, *rest = rest
    if first.type == "function" and first.lower_name.endswith(_ADDRESS_FUNCTIONS):
        address = _first_string(first.arguments)
    elif first.type in ("string", "url"):
        address = first.value
    else:
        return None
    conditions: list[str] = []
    media: list[Any] = []
    for node in rest:
        if not media and node.type == "whitespace":
            continue
        if not media and node.type == "ident" and node.lower_value == "layer":
            conditions.append("@layer")
        elif not media and node.type == "function" and node.lower_name == "layer":
            conditions.append(f"@layer {_text(node.arguments)}")
        elif not media and node.type == "function" and node.lower_name == "supports":
            conditions.append(f"@supports ({_text(node.arguments)})")
        else:
            media.append(node)
    if media:
        conditions.append(f"@media {_text(media)}")
    return _Import(address, "".join(f"{condition}{{" for condition in conditions), "}" * len(conditions))


def _text(nodes: Iterable[Any]) -> str:
    return "".join(piece for piece in _flat(nodes) if isinstance(piece, str))
