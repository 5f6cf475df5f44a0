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

from .action_forms import BROWSERGYM, NUMBERS, WEBLINX, Asked, Call, Value, Wrong, find, made, said

LONGEST = 20_000  # characters of a string
_CALL = re.compile(r"([A-Za-z_]\w{0,99})\s*\(")
_WRAPPINGS = ((re.compile(r"```(?:[A-Za-z]{1,20}[ \t]*(?=[\r\n]))?"), "```"),
              (re.compile("<action>", re.I), "</action>"))
_LABEL = re.compile(r"[ \t]*Action[ \t]*:\s*", re.I)
_AFTER_THOUGHT = re.compile(r"^[ \t]*(?:Element|Action)[ \t]*:", re.M | re.I)
_RIGHT = "click('12')"
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
_WHOLE_PAGE = re.compile(r"\s*(?:\[\s*window\s*\]|window\b)", re.I)
_WAY = re.compile(r"\s*[;, ]\s*(?:\[\s*(up|down)\s*\]|(up|down)\b)", re.I)
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


def parse(text: str, grammar: str | None = None) -> Asked:
    """The action that a string asks for. Without a grammar it is guessed; raises InputError with the place that is
    wrong, and what would be right."""
    if grammar is not None and grammar not in _READERS:
        raise InputError(f"{grammar[:40]!r} is no grammar of actions; use one of {', '.join(_READERS)}")
    if len(text) > LONGEST:
        raise InputError(f"the action is longer than {LONGEST} characters; give one action alone")
    start, inside = _unwrapped(text)
    try:
        return _READERS[grammar or _guess(inside)](inside)
    except Wrong as wrong:
        at = min(start + max(wrong.at, 0), len(text)) + 1
        raise InputError(f"the action is wrong at character {at}: {wrong.what}; right is for example "
                         f"{wrong.right}") from None


def _unwrapped(text: str) -> tuple[int, str]:
    """The action without what agents write around it, and where it begins: a thought, a label, a fence, a tag."""
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if text[start:start + 8].lower() == "thought:" and (label := _AFTER_THOUGHT.search(text, start)):
        start = label.start()
    start, end = _bared(text, start, end)
    if (label := _LABEL.match(text, start, end)) and not _is_choice(text[start:end]):
        start, end = _bared(text, label.end(), end)
    return start, text[start:end]


def _bared(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the action begins and ends within a fence or a tag."""
    for opening, closing in _WRAPPINGS:
        if (found := opening.match(text, start)) and text[found.end():end].lower().endswith(closing):
            start, end = _skipped(text, found.end()), end - len(closing)
            end = start + len(text[start:end].rstrip())
    return start, end


def _is_choice(text: str) -> bool:
    """Whether it is Mind2Web's answer in three lines, of which some may be missing."""
    fields = [found[1].lower() for found in _FIELD.finditer(text)]
    operation = re.match(r"[ \t]*Action[ \t]*:[ \t]*(CLICK|TYPE|SELECT|HOVER|ENTER)[ \t]*$", text, re.M)
    return "element" in fields or operation is not None


def _guess(text: str) -> str:
    if text.startswith("[") or _is_choice(text):
        return "mind2web"
    if _WORD.match(text):
        return "webvoyager"
    if not (call := _CALL.match(text)):
        raise Wrong(0, f"{text[:40]!r} is the beginning of no action" if text else "it is empty", _RIGHT)
    by_key = _KEY.match(text, call.end())
    if call[1] in BROWSERGYM and not (by_key and by_key[1] in ("uid", "x", "y") and _plain(call[1]) in WEBLINX):
        return "browsergym"
    return "weblinx" if _plain(call[1]) in WEBLINX or by_key else "browsergym"


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _name(text: str, right: str) -> re.Match[str]:
    if not (call := _CALL.match(text)):
        raise Wrong(0, "the name of an action and an opening bracket are missing", right)
    return call


# --- WebLINX


def _weblinx(text: str) -> Asked:
    head = _name(text, WEBLINX["click"].right)
    name = _plain(head[1])
    right = find(name, WEBLINX, "weblinx").right
    named, at = _pairs(text, head.end(), right)
    if text[at + 1:].strip():
        raise Wrong(at + 1, "something stands after the action", right)
    return made(Call(name, (), tuple(named), at), WEBLINX, "weblinx")


def _pairs(text: str, at: int, right: str) -> tuple[list[tuple[str, Value]], int]:
    """What stands in the brackets, and where they end."""
    named: list[tuple[str, Value]] = []
    while True:
        at = _skipped(text, at)
        if text[at:at + 1] == ")" and (not named or text[:at].rstrip()[-1] != ","):
            return named, at
        if not (key := _KEY.match(text, at)):
            raise Wrong(at, "the closing bracket is missing" if at >= len(text) else "a value has no name", right)
        begin = key.end()
        value, at = _quoted(text, begin, right) if text[begin:begin + 1] in ('"', "'") else _bare(text, begin, right)
        named.append((key[1], Value(begin, _as_number(value) if key[1] in NUMBERS else value)))
        at = _skipped(text, at)
        if text[at:at + 1] == ",":
            at += 1
        elif text[at:at + 1] != ")":
            raise Wrong(at, "the closing bracket is missing" if at >= len(text) else "a comma is missing", right)


def _skipped(text: str, at: int) -> int:
    while text[at:at + 1].isspace():
        at += 1
    return at


def _quoted(text: str, at: int, right: str) -> tuple[str, int]:
    """A text in quotes, and where it ends. A quote in it need not be escaped, as WebLINX does not: one closes the text
    where an end or another value follows."""
    quote, end = text[at], at
    while (end := text.find(quote, end + 1)) >= 0:
        if _AFTER.match(text, end + 1):
            return _unescaped(text[at + 1:end], quote), end + 1
    raise Wrong(at, "the text in quotes does not end, or no bracket closes after it", right)


def _unescaped(text: str, quote: str) -> str:
    return re.sub(r"\\([ntr\"'])", lambda found: found[0] if found[1] in "\"'" and found[1] != quote
                  else _ESCAPES.get(found[1], found[1]), text)


def _bare(text: str, at: int, right: str) -> tuple[str, int]:
    if not (found := _BARE_VALUE.match(text, at)):
        raise Wrong(at, "a value is missing", right)
    return found[0], found.end()


def _as_number(value: str) -> Any:
    """A number; what is none stays as it is, and is told by the action's form."""
    try:
        return float(value) if len(value) < 40 and value.isascii() else value
    except ValueError:
        return value


# --- BrowserGym


def _browsergym(text: str) -> Asked:
    head = _name(text, _RIGHT)
    right = find(head[1], BROWSERGYM, "browsergym").right
    call = _tree(text, right)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise Wrong(0, "it has to be one action alone", right)
    if len(call.args) + len(call.keywords) > _MOST_VALUES:
        raise Wrong(0, "it has too many values", right)
    positional = tuple(_literal(text, each, right) for each in call.args)
    named = tuple((each.arg or "**", _literal(text, each.value, right)) for each in call.keywords)
    return made(Call(call.func.id, positional, named, len(text) - 1), BROWSERGYM, "browsergym")


def _tree(text: str, right: str) -> Any:
    try:
        return _parsed(text, "eval").body
    except SyntaxError as error:
        at = _starts(text, error.lineno or 1) + max((error.offset or 1) - 1, 0)
        what = (error.msg or "not to be read").partition(" (")[0]
        raise Wrong(min(at, len(text)), _second(text) or what, right) from None
    except (RecursionError, MemoryError):
        raise Wrong(0, "too many brackets or signs", right) from None
    except ValueError:  # a null byte, half of a character
        raise Wrong(0, "a character that no text has", right) from None


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
    ends = [found.end() for found in _LINE_ENDS.finditer(text)]
    return ([0, *ends, len(text)])[min(max(line, 1) - 1, len(ends) + 1)]


def _place(text: str, part: ast.expr) -> int:
    """Where a part of a syntax tree stands in its source, which it tells by line and byte."""
    start = _starts(text, part.lineno)
    line = text[start:start + part.col_offset].encode("utf-8", "surrogatepass")
    return start + len(line[:part.col_offset].decode("utf-8", "ignore"))


def _literal(text: str, part: ast.expr, right: str) -> Value:
    at = _place(text, part)
    try:
        return Value(at, ast.literal_eval(part))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise Wrong(at, "a value is no literal", right) from None


# --- Mind2Web


def _mind2web(text: str) -> Asked:
    return _choice(text) if _is_choice(text) else _marked(text)


def _marked(text: str) -> Asked:
    """`[button]  Search -> CLICK`."""
    if not (role := _ROLE.match(text)) or not role[1].strip():
        raise Wrong(0, "the role or tag of the element in square brackets is missing", _MARKED)
    arrow = None
    for arrow in _ARROW.finditer(text, role.end()):
        operation = arrow[1].upper()
        if operation in _OPERATIONS and (operation in _VALUED) == bool(arrow[2]):
            described = role[1].strip(), " ".join(text[role.end():arrow.start()].split())
            return _done(operation, text[arrow.end():].strip(), None, described)
    if arrow is None:
        at = text.find("->", role.end())
        raise Wrong(len(text) if at < 0 else at, "an arrow and an operation are missing", _MARKED)
    operation = arrow[1].upper()
    if operation not in _OPERATIONS:
        raise Wrong(arrow.start(1), f"{arrow[1]!r} is no operation", _MARKED)
    what = "takes no value" if arrow[2] else "needs a value behind a colon"
    raise Wrong(arrow.end(1), f"{operation} {what}",
                "[textbox]  City -> TYPE: Paris" if operation in _VALUED else f"[button]  Search -> {operation}")


def _choice(text: str) -> Asked:
    """`Element: …`, `Action: TYPE`, `Value: Paris`, each in a line."""
    found = list(_FIELD.finditer(text))
    if text[:found[0].start()].strip():
        raise Wrong(0, "something stands before the three lines", _CHOSEN)
    parts: dict[str, tuple[int, str]] = {}
    for number, field in enumerate(found):
        name = field[1].lower()
        if name == "value" or name not in parts:
            end = found[number + 1].start() if number + 1 < len(found) and name != "value" else len(text)
            parts.setdefault(name, (field.end(), text[field.end():end].strip()))
        elif "value" not in parts:
            raise Wrong(field.start(), f"{field[1]} is told twice", _CHOSEN)
    for name in ("element", "action"):
        if not parts.get(name, (0, ""))[1]:
            at = parts[name][0] if name in parts else len(text)
            raise Wrong(at, f"the line {name.title()}: is missing or empty", _CHOSEN)
    at, operation = parts["action"][0], parts["action"][1].upper()
    if operation not in _OPERATIONS:
        raise Wrong(at, f"{parts['action'][1][:40]!r} is no operation", _CHOSEN)
    if operation in _VALUED and "value" not in parts:
        raise Wrong(len(text), f"{operation} needs the line Value:", _CHOSEN)
    return _done(operation, parts.get("value", (0, ""))[1], *_element(*parts["element"]))


def _element(at: int, told: str) -> tuple[str | None, tuple[str, str] | None]:
    """The uid of an element and what is said of it, from its HTML or the uid alone."""
    if not told.startswith("<"):
        if _LETTER.fullmatch(told):
            raise Wrong(at, "a letter names a choice that is not known here", _CHOSEN)
        if not _PLAIN.fullmatch(told):
            raise Wrong(at, "it is neither HTML of an element nor a uid", _CHOSEN)
        return told, None
    if not (opening := _OPENING.match(told)):
        raise Wrong(at, "the tag of the element does not end", 'Element: <button aria-label="Search">')
    attributes = {found[1].lower(): unescape(found[2] or found[3] or found[4] or "")
                  for found in _ATTRIBUTE.finditer(opening[2])}
    text = unescape(re.sub(r"<[^<>]*>", " ", told[opening.end():]))
    name = next((attributes[key] for key in _NAMES if attributes.get(key, "").strip()), text)
    uid = next((attributes[key].strip() for key in _UIDS if attributes.get(key, "").strip()), None)
    return uid, (attributes.get("role", "").strip() or opening[1].lower(), " ".join(name.split()))


def _done(operation: str, value: str, uid: str | None, described: tuple[str, str] | None) -> Asked:
    arguments: dict[str, Any] = {"key": "Enter"} if operation == "ENTER" else {}
    if operation in _VALUED:
        arguments[_VALUED[operation]] = value
    return Asked(_OPERATIONS[operation], arguments, uid, described=described, grammar="mind2web")


# --- WebVoyager


def _webvoyager(text: str) -> Asked:
    if not (word := _WORD.match(text)):
        raise Wrong(0, "it begins with no action of webvoyager", _EXAMPLES["click"])
    name, at = word[1].lower().replace(" ", ""), word.end()
    right = _EXAMPLES[name]
    number, arguments = None, {}
    if name == "answer":
        arguments, at = said(_content(text, at, right)), len(text)
    elif name in _BARE:
        arguments = {"url": _SEARCH} if name == "google" else {}
    elif name == "scroll" and (page := _WHOLE_PAGE.match(text, at)):
        arguments, at = _way(text, page.end(), right)
    else:
        if not (box := _BOX.match(text, at)):
            raise Wrong(_skipped(text, at), "the number of a box is missing", right)
        number, at = int(box[1] or box[2]), box.end()
        if name == "type":
            arguments, at = {"text": _content(text, at, right)}, len(text)
        elif name == "scroll":
            arguments, at = _way(text, at, right)
    if text[at:].strip(" \t\r\n.;"):
        raise Wrong(at, "something stands after the action", right)
    intent = {"click": "click", "type": "textInput", "scroll": "scroll", "answer": "say"}.get(name) or _BARE[name]
    return Asked(intent, arguments, number=number, grammar="webvoyager")


def _content(text: str, at: int, right: str) -> str:
    """What stands behind the semicolon, without the brackets around it."""
    separated = _SEPARATED.match(text, at)
    content = text[separated.end():].strip() if separated else ""
    if not content:
        raise Wrong(at, "a semicolon and a text are missing", right)
    return content[1:-1].strip() if content[0] == "[" and content[-1] == "]" else content


def _way(text: str, at: int, right: str) -> tuple[dict[str, Any], int]:
    if not (way := _WAY.match(text, at)):
        raise Wrong(at, "a semicolon and up or down are missing", right)
    return {"direction": (way[1] or way[2]).lower()}, way.end()


_READERS: dict[str, Callable[[str], Asked]] = {
    "weblinx": _weblinx, "mind2web": _mind2web, "webvoyager": _webvoyager, "browsergym": _browsergym}
GRAMMARS = tuple(_READERS)
