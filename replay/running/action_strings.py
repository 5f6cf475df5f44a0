"""Reads one action as agents write it: in the grammars of WebLINX, Mind2Web, WebVoyager and BrowserGym. Pure.

Nothing of a string is ever evaluated: BrowserGym's values are read as literals of Python from its syntax tree.
"""

import ast
import re
import warnings
from collections.abc import Callable
from html import unescape
from typing import Any

from schemas import UID_ATTRIBUTE, InputError

from .action_forms import (
    BROWSERGYM,
    NUMBERS,
    WEBLINX,
    ActionSyntaxError,
    Call,
    ParsedAction,
    Value,
    find,
    parsed_action,
    said,
)

LONGEST = 20_000  # characters of a string
_CALL = re.compile(r"([A-Za-z_]\w{0,99})\s*\(")
_WRAPPINGS = ((re.compile(r"```(?:[A-Za-z]{1,20}[ \t]*(?=[\r\n]))?"), "```"),
              (re.compile("<action>", re.I), "</action>"))
_LABEL = re.compile(r"[ \t]*Action[ \t]*:\s*", re.I)
_AFTER_THOUGHT = re.compile(r"^[ \t]*(?:Element|Action)[ \t]*:", re.M | re.I)
_EXAMPLE = "click('12')"
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_MOST_VALUES = 20

# Mind2Web
_ROLE = re.compile(r"\[([^\[\]\n]{0,200})\]")
_ARROW = re.compile(r"->[ \t]*([A-Za-z]{1,20})[ \t]*(:|\Z)")
_FIELD = re.compile(r"^[ \t]*(Element|Action|Value)[ \t]*:[ \t]*", re.M | re.I)
_OPERATIONS = {"CLICK": "click", "HOVER": "hover", "ENTER": "press", "TYPE": "textInput", "SELECT": "change"}
_VALUED = {"TYPE": "text", "SELECT": "label"}
_OPENING = re.compile(r"""<([A-Za-z][\w:-]{0,99})((?:"[^"]*"|'[^']*'|[^>"'])*)>""")
_ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]{1,100})\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_UIDS = ("uid", UID_ATTRIBUTE, "data-webtasks-id", "bid", "backend_node_id", "data_pw_testid_buckeye")
_NAMES = ("aria-label", "aria_label", "alt", "title", "placeholder", "value")
_PLAIN = re.compile(r"[\w.:-]{1,200}")
_LETTER = re.compile(r"[A-Z]\.")
_MARKED = "[button]  Search -> CLICK"
_CHOSEN = 'the lines "Element: 12", "Action: TYPE" and "Value: Paris"'

# WebVoyager
_WORD = re.compile(r"(click|type|scroll|wait|go ?back|google|answer)\b(?!\s*\()", re.I)
_BOX = re.compile(r"\s*(?:\[\s*(\d{1,9})\s*\]|(\d{1,9})(?!\d))")
_PAGE_SCROLL = re.compile(r"\s*(?:\[\s*window\s*\]|window\b)", re.I)
_DIRECTION = re.compile(r"\s*[;, ]\s*(?:\[\s*(up|down)\s*\]|(up|down)\b)", re.I)
_SEPARATED = re.compile(r"\s*[;:]\s*|\s+")
_BARE = {"wait": "wait", "goback": "back", "google": "load"}
_EXAMPLES = {"click": "Click [12]", "type": "Type [3]; [Paris]", "scroll": "Scroll [WINDOW]; [down]", "wait": "Wait",
             "goback": "GoBack", "google": "Google", "answer": "ANSWER; [It is done.]"}
_SEARCH = "https://www.google.com/"

# WebLINX
_KEY = re.compile(r"\s*([A-Za-z_]\w{0,99})\s*=\s*")
_BARE_VALUE = re.compile(r"[^\s,()\"'=]+")
_AFTER = re.compile(r"""\s*(?:\)\s*\Z|,\s*[A-Za-z_]\w{0,99}\s*=\s*["'\w.+-])""")  # what may follow a closing quote
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def parse(text: str, grammar: str | None = None) -> ParsedAction:
    """The action that a string asks for. Without a grammar it is guessed; raises InputError with the place that is
    wrong, and what would be right."""
    if grammar is not None and grammar not in _READERS:
        raise InputError(f"unknown grammar {grammar[:40]!r}; use one of {', '.join(_READERS)}")
    if len(text) > LONGEST:
        raise InputError(f"the action is longer than {LONGEST} characters; pass a single action")
    start, inside = _unwrapped(text)
    try:
        return _READERS[grammar or _guess(inside)](inside)
    except ActionSyntaxError as wrong:
        offset = min(start + max(wrong.offset, 0), len(text)) + 1
        raise InputError(f"the action is invalid at character {offset}: {wrong.problem}; a valid example is "
                         f"{wrong.example}") from None


def _unwrapped(text: str) -> tuple[int, str]:
    """The action without what agents write around it, and where it begins: a thought, a label, a fence, a tag."""
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if text[start:start + 8].lower() == "thought:" and (label := _AFTER_THOUGHT.search(text, start)):
        start = label.start()
    start, end = _strip_fence(text, start, end)
    if (label := _LABEL.match(text, start, end)) and not _is_choice(text[start:end]):
        start, end = _strip_fence(text, label.end(), end)
    return start, text[start:end]


def _strip_fence(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the action begins and ends within a fence or a tag."""
    for opening, closing in _WRAPPINGS:
        if (tag := opening.match(text, start)) and text[tag.end():end].lower().endswith(closing):
            start, end = _skip_spaces(text, tag.end()), end - len(closing)
            end = start + len(text[start:end].rstrip())
    return start, end


def _is_choice(text: str) -> bool:
    """Whether it is Mind2Web's answer in three lines, of which some may be missing."""
    fields = [field[1].lower() for field in _FIELD.finditer(text)]
    operation = re.match(r"[ \t]*Action[ \t]*:[ \t]*(CLICK|TYPE|SELECT|HOVER|ENTER)[ \t]*$", text, re.M)
    return "element" in fields or operation is not None


def _guess(text: str) -> str:
    if text.startswith("[") or _is_choice(text):
        return "mind2web"
    if _WORD.match(text):
        return "webvoyager"
    if not (call := _CALL.match(text)):
        raise ActionSyntaxError(0, f"{text[:40]!r} does not begin an action" if text else "it is empty", _EXAMPLE)
    by_key = _KEY.match(text, call.end())
    if call[1] in BROWSERGYM and not (by_key and by_key[1] in ("uid", "x", "y") and _plain(call[1]) in WEBLINX):
        return "browsergym"
    return "weblinx" if _plain(call[1]) in WEBLINX or by_key else "browsergym"


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _name(text: str, example: str) -> re.Match[str]:
    if not (call := _CALL.match(text)):
        raise ActionSyntaxError(0, "the name of an action and an opening bracket are missing", example)
    return call


# --- WebLINX


def _weblinx(text: str) -> ParsedAction:
    head = _name(text, WEBLINX["click"].example)
    name = _plain(head[1])
    example = find(name, WEBLINX, "weblinx").example
    named, offset = _pairs(text, head.end(), example)
    if text[offset + 1:].strip():
        raise ActionSyntaxError(offset + 1, "unexpected text after the action", example)
    return parsed_action(Call(name, (), tuple(named), offset), WEBLINX, "weblinx")


def _pairs(text: str, offset: int, example: str) -> tuple[list[tuple[str, Value]], int]:
    """What stands in the brackets, and where they end."""
    named: list[tuple[str, Value]] = []
    while True:
        offset = _skip_spaces(text, offset)
        if text[offset:offset + 1] == ")" and (not named or text[:offset].rstrip()[-1] != ","):
            return named, offset
        if not (key := _KEY.match(text, offset)):
            raise ActionSyntaxError(offset, "the closing bracket is missing" if offset >= len(text)
                                    else "a value has no name",
                                    example)
        begin = key.end()
        value, offset = _quoted(text, begin, example) if text[begin:begin + 1] in ('"', "'") else _bare(text, begin,
                                                                                                        example)
        named.append((key[1], Value(begin, _as_number(value) if key[1] in NUMBERS else value)))
        offset = _skip_spaces(text, offset)
        if text[offset:offset + 1] == ",":
            offset += 1
        elif text[offset:offset + 1] != ")":
            raise ActionSyntaxError(offset, "the closing bracket is missing" if offset >= len(text)
                                    else "a comma is missing",
                                    example)


def _skip_spaces(text: str, offset: int) -> int:
    while text[offset:offset + 1].isspace():
        offset += 1
    return offset


def _quoted(text: str, offset: int, example: str) -> tuple[str, int]:
    """A text in quotes, and where it ends. A quote in it need not be escaped, as WebLINX does not: one closes the text
    where an end or another value follows."""
    quote, end = text[offset], offset
    while (end := text.find(quote, end + 1)) >= 0:
        if _AFTER.match(text, end + 1):
            return _unescaped(text[offset + 1:end], quote), end + 1
    raise ActionSyntaxError(offset, "the text in quotes does not end, or no bracket closes after it", example)


def _unescaped(text: str, quote: str) -> str:
    return re.sub(r"\\([ntr\"'])", lambda escape: escape[0] if escape[1] in "\"'" and escape[1] != quote
                  else _ESCAPES.get(escape[1], escape[1]), text)


def _bare(text: str, offset: int, example: str) -> tuple[str, int]:
    if not (value := _BARE_VALUE.match(text, offset)):
        raise ActionSyntaxError(offset, "a value is missing", example)
    return value[0], value.end()


def _as_number(value: str) -> Any:
    """A number; what is none stays as it is, and is told by the action's form."""
    try:
        return float(value) if len(value) < 40 and value.isascii() else value
    except ValueError:
        return value


# --- BrowserGym


def _browsergym(text: str) -> ParsedAction:
    head = _name(text, _EXAMPLE)
    example = find(head[1], BROWSERGYM, "browsergym").example
    call = _tree(text, example)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ActionSyntaxError(0, "it must be a single action", example)
    if len(call.args) + len(call.keywords) > _MOST_VALUES:
        raise ActionSyntaxError(0, "it has too many values", example)
    positional = tuple(_literal(text, argument, example) for argument in call.args)
    named = tuple((keyword.arg or "**", _literal(text, keyword.value, example)) for keyword in call.keywords)
    return parsed_action(Call(call.func.id, positional, named, len(text) - 1), BROWSERGYM, "browsergym")


def _tree(text: str, example: str) -> Any:
    try:
        return _parsed(text, "eval").body
    except SyntaxError as error:
        offset = _starts(text, error.lineno or 1) + max((error.offset or 1) - 1, 0)
        problem = (error.msg or "not to be read").partition(" (")[0]
        raise ActionSyntaxError(min(offset, len(text)), _second(text) or problem, example) from None
    except (RecursionError, MemoryError):
        raise ActionSyntaxError(0, "too many brackets or signs", example) from None
    except ValueError:  # a null byte, half of a character
        raise ActionSyntaxError(0, "a character that no text has", example) from None


def _parsed(text: str, mode: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of backslashes that escape nothing
        return ast.parse(text, mode=mode)


def _second(text: str) -> str:
    """What is wrong where there is more than one action."""
    try:
        several = len(_parsed(text, "exec").body) > 1
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return "there is more than one action" if several else ""


def _starts(text: str, line: int) -> int:
    """Where a line begins, as Python counts lines, from 1."""
    ends = [line_end.end() for line_end in _LINE_ENDS.finditer(text)]
    return ([0, *ends, len(text)])[min(max(line, 1) - 1, len(ends) + 1)]


def _offset(text: str, part: ast.expr) -> int:
    """Where a part of a syntax tree stands in its source, which it tells by line and byte."""
    start = _starts(text, part.lineno)
    line = text[start:start + part.col_offset].encode("utf-8", "surrogatepass")
    return start + len(line[:part.col_offset].decode("utf-8", "ignore"))


def _literal(text: str, part: ast.expr, example: str) -> Value:
    offset = _offset(text, part)
    try:
        return Value(offset, ast.literal_eval(part))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise ActionSyntaxError(offset, "a value is not a literal", example) from None


# --- Mind2Web


def _mind2web(text: str) -> ParsedAction:
    return _choice(text) if _is_choice(text) else _marked(text)


def _marked(text: str) -> ParsedAction:
    """`[button]  Search -> CLICK`."""
    if not (role := _ROLE.match(text)) or not role[1].strip():
        raise ActionSyntaxError(0, "the role or tag of the element in square brackets is missing", _MARKED)
    arrow = None
    for arrow in _ARROW.finditer(text, role.end()):
        operation = arrow[1].upper()
        if operation in _OPERATIONS and (operation in _VALUED) == bool(arrow[2]):
            described = role[1].strip(), " ".join(text[role.end():arrow.start()].split())
            return _done(operation, text[arrow.end():].strip(), None, described)
    if arrow is None:
        offset = text.find("->", role.end())
        raise ActionSyntaxError(len(text) if offset < 0 else offset, "an arrow and an operation are missing", _MARKED)
    operation = arrow[1].upper()
    if operation not in _OPERATIONS:
        raise ActionSyntaxError(arrow.start(1), f"unknown operation {arrow[1]!r}", _MARKED)
    problem = "takes no value" if arrow[2] else "needs a value behind a colon"
    raise ActionSyntaxError(arrow.end(1), f"{operation} {problem}",
                            "[textbox]  City -> TYPE: Paris" if operation in _VALUED
                            else f"[button]  Search -> {operation}")


def _choice(text: str) -> ParsedAction:
    """`Element: …`, `Action: TYPE`, `Value: Paris`, each in a line."""
    fields_found = list(_FIELD.finditer(text))
    if text[:fields_found[0].start()].strip():
        raise ActionSyntaxError(0, "unexpected text before the three lines", _CHOSEN)
    parts: dict[str, tuple[int, str]] = {}
    for number, field in enumerate(fields_found):
        name = field[1].lower()
        if name == "value" or name not in parts:
            end = fields_found[number + 1].start() if number + 1 < len(fields_found) and name != "value" else len(text)
            parts.setdefault(name, (field.end(), text[field.end():end].strip()))
        elif "value" not in parts:
            raise ActionSyntaxError(field.start(), f"{field[1]} occurs twice", _CHOSEN)
    for name in ("element", "action"):
        if not parts.get(name, (0, ""))[1]:
            offset = parts[name][0] if name in parts else len(text)
            raise ActionSyntaxError(offset, f"the line {name.title()}: is missing or empty", _CHOSEN)
    offset, operation = parts["action"][0], parts["action"][1].upper()
    if operation not in _OPERATIONS:
        raise ActionSyntaxError(offset, f"unknown operation {parts['action'][1][:40]!r}", _CHOSEN)
    if operation in _VALUED and "value" not in parts:
        raise ActionSyntaxError(len(text), f"{operation} needs the line Value:", _CHOSEN)
    return _done(operation, parts.get("value", (0, ""))[1], *_element(*parts["element"]))


def _element(offset: int, description: str) -> tuple[str | None, tuple[str, str] | None]:
    """The uid of an element and what is said of it, from its HTML or the uid alone."""
    if not description.startswith("<"):
        if _LETTER.fullmatch(description):
            raise ActionSyntaxError(offset, "a letter names an unknown choice", _CHOSEN)
        if not _PLAIN.fullmatch(description):
            raise ActionSyntaxError(offset, "it is neither HTML of an element nor a uid", _CHOSEN)
        return description, None
    if not (opening := _OPENING.match(description)):
        raise ActionSyntaxError(offset, "the tag of the element does not end", 'Element: <button aria-label="Search">')
    attributes = {attribute[1].lower(): unescape(attribute[2] or attribute[3] or attribute[4] or "")
                  for attribute in _ATTRIBUTE.finditer(opening[2])}
    text = unescape(re.sub(r"<[^<>]*>", " ", description[opening.end():]))
    name = next((attributes[key] for key in _NAMES if attributes.get(key, "").strip()), text)
    uid = next((attributes[key].strip() for key in _UIDS if attributes.get(key, "").strip()), None)
    return uid, (attributes.get("role", "").strip() or opening[1].lower(), " ".join(name.split()))


def _done(operation: str, value: str, uid: str | None, described: tuple[str, str] | None) -> ParsedAction:
    arguments: dict[str, Any] = {"key": "Enter"} if operation == "ENTER" else {}
    if operation in _VALUED:
        arguments[_VALUED[operation]] = value
    return ParsedAction(_OPERATIONS[operation], arguments, uid, described=described, grammar="mind2web")


# --- WebVoyager


def _webvoyager(text: str) -> ParsedAction:
    if not (word := _WORD.match(text)):
        raise ActionSyntaxError(0, "it does not begin with an action of webvoyager", _EXAMPLES["click"])
    name, offset = word[1].lower().replace(" ", ""), word.end()
    example = _EXAMPLES[name]
    number, arguments = None, {}
    if name == "answer":
        arguments, offset = said(_content(text, offset, example)), len(text)
    elif name in _BARE:
        arguments = {"url": _SEARCH} if name == "google" else {}
    elif name == "scroll" and (page := _PAGE_SCROLL.match(text, offset)):
        arguments, offset = _direction(text, page.end(), example)
    else:
        if not (box := _BOX.match(text, offset)):
            raise ActionSyntaxError(_skip_spaces(text, offset), "the number of a box is missing", example)
        number, offset = int(box[1] or box[2]), box.end()
        if name == "type":
            arguments, offset = {"text": _content(text, offset, example)}, len(text)
        elif name == "scroll":
            arguments, offset = _direction(text, offset, example)
    if text[offset:].strip(" \t\r\n.;"):
        raise ActionSyntaxError(offset, "unexpected text after the action", example)
    intent = {"click": "click", "type": "textInput", "scroll": "scroll", "answer": "say"}.get(name) or _BARE[name]
    return ParsedAction(intent, arguments, number=number, grammar="webvoyager")


def _content(text: str, offset: int, example: str) -> str:
    """What stands behind the semicolon, without the brackets around it."""
    separated = _SEPARATED.match(text, offset)
    content = text[separated.end():].strip() if separated else ""
    if not content:
        raise ActionSyntaxError(offset, "a semicolon and a text are missing", example)
    return content[1:-1].strip() if content[0] == "[" and content[-1] == "]" else content


def _direction(text: str, offset: int, example: str) -> tuple[dict[str, Any], int]:
    if not (direction := _DIRECTION.match(text, offset)):
        raise ActionSyntaxError(offset, "a semicolon and up or down are missing", example)
    return {"direction": (direction[1] or direction[2]).lower()}, direction.end()


_READERS: dict[str, Callable[[str], ParsedAction]] = {
    "weblinx": _weblinx, "mind2web": _mind2web, "webvoyager": _webvoyager, "browsergym": _browsergym}
GRAMMARS = tuple(_READERS)
