"""Normalised text: what a text says without the ways in which it may be written, and where each part is in the text.

Undone are percent-encoding, HTML character references, escapes of JSON, JavaScript, CSS and Markdown, quoted-printable,
also one inside another; compatibility characters such as full-width digits; invisible characters; the many spaces and
hyphens. What stands in base64 or is compressed is not looked into.
"""

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

_MAX_NESTED = 4  # encodings inside one another that are undone
_MAX_REPLACED_ONE_BY_ONE = 12  # different characters; from more on, a table is faster than a pass for each

_HEX = "[0-9A-Fa-f]"
_UTF8_REST = f"%[89ABab]{_HEX}"
_STARTS = r"[%&\\\ufb00-\ufb06]"
_ESCAPE = re.compile(
    # The first character alone lets the search skip all text between escapes.
    rf"{_STARTS}(?:(?P<percent>(?<=%)(?:[0-7]{_HEX}|[CDcd]{_HEX}{_UTF8_REST}|[Ee]{_HEX}(?:{_UTF8_REST}){{2}}"
    rf"|[Ff][0-4](?:{_UTF8_REST}){{3}}))"
    r"|(?P<reference>(?<=&)(?:\#[0-9]{1,7};?|\#[xX][0-9A-Fa-f]{1,6};?|[A-Za-z][A-Za-z0-9]{1,31};))"
    rf"|(?<=\\)(?:(?P<script>u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}|u{_HEX}{{4}}|u\{{{_HEX}{{1,6}}\}}"
    rf"|x{_HEX}{{2}})|(?P<style>0{{0,4}}(?:40|2[0BDEbde]|3[0-9])(?!{_HEX})[ ]?)"
    r"|(?P<plain>[ -/:-@\[-`{-~])|(?P<space>[nrt]))|(?P<ligature>(?<=[\ufb00-\ufb06])))")
_WHITE_SPACE = {"n": "\n", "r": "\r", "t": "\t"}
_ESCAPE_STARTS = re.compile(_STARTS)

# Default-ignorable code points (Unicode, DerivedCoreProperties): they are shown by nothing.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+")
# A letter and its marks, kana with its voicing mark, the jamo of a syllable.
_DECOMPOSED = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u04ff][\u0300-\u036f]{1,4}|[\u3040-\u30ff][\u3099\u309a]"
                         "|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?")
_COMBINING = re.compile("[\u0300-\u036f\u3099\u309a\u1161-\u1175]")
# Dashes that may also stand between words: a hyphen only between digits.
_DASHES = frozenset("\u2012\u2013\u2014\u2015\u2212\u30fc")
_DASH_IN_NUMBER = re.compile("[\u2012-\u2015\u2212\u30fc](?<=[0-9)].)(?=[0-9(])")
# Signs with a wide or small form. Others, such as the full-width colon, end a word of Chinese or Japanese: they stay.
_SIGNS = str.maketrans("＠﹫．﹒․＋﹢％﹪＿－﹣‐‑／（）", "@@...++%%_----/()")
_WIDE = 0xFEE0  # from the code of a sign to that of its wide form
# Inside a word of wide letters and digits, every wide sign is a part of it.
_WIDE_INSIDE = re.compile("[\uff01-\uff5e](?<=[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a].)"
                          "(?=[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a])")
_WIDE_SIGNS = {ord(sign): ord(sign) + _WIDE for sign in "!\"#$&'*,:;<=>?[\\]^`{|}~"}  # those that may stay

_IN_PARAMETERS = re.compile(rf"\+|=[\r\n]|=[2-7]{_HEX}")  # what may be another sign beside an equals sign
_PARAMETER = re.compile(r"[?&;][\w.\[\]%-]{1,60}=([^&#\s\"'<>=]{3,2000})")
_PLUS = re.compile(r"(?<=[^+=])\+(?=[^+])")
_MAIL_SIGN = re.compile(r"@|%2540")
_QUOTED_MARKS = ("=3D", "quoted-printable", "Quoted-Printable", "?Q?", "?q?")
_QUOTED_SIGN = re.compile(rf"=[2-7]{_HEX}")
_QUOTED_SIGNS = re.compile(rf"=[2-7]{_HEX}=[2-7]{_HEX}")
_QUOTED = re.compile(rf"=\r?\n|=[2-7]{_HEX}|=[CDcd]{_HEX}=[89ABab]{_HEX}|=[Ee]{_HEX}(?:=[89ABab]{_HEX}){{2}}")
_QUOTED_AT = re.compile(r"(?<![?&])(?<=[\w.+-])=40(?=[A-Za-z](?!(?:m|t|x|in|em|pt|x)\b)[\w-]{0,60}\.[A-Za-z]{2})")


class _Step(NamedTuple):
    """Replacements of one pass, in order: where they are in its output and in its input."""

    out_starts: list[int]
    out_ends: list[int]
    in_starts: list[int]
    in_ends: list[int]

    def locate(self, position: int) -> tuple[int, int]:
        """Start and end in the input of the character at a position of the output."""
        index = bisect_right(self.out_starts, position) - 1
        if index < 0:
            return position, position + 1
        if position < self.out_ends[index]:
            return self.in_starts[index], self.in_ends[index]
        moved = self.in_ends[index] + position - self.out_ends[index]
        return moved, moved + 1


class NormalisedText:
    """The normalised `text` of a raw one. `is_raw`: whether it is the same, character by character."""

    def __init__(self, raw: str, text: str, steps: list[_Step]):
        self.text, self.is_raw = text, not steps and raw == text
        self._steps = steps
        self._escape_spans: list[tuple[int, int]] | None = None

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """Where characters from `start` to before `end` are in the raw text: with all of every escape, without what is
        invisible around them. The span must not be empty."""
        last = end - 1
        for step in reversed(self._steps):
            start, last = step.locate(start)[0], step.locate(last)[1] - 1
        return start, last + 1

    def cuts_escape(self, start: int, end: int) -> bool:
        """Whether a span of the raw text begins or ends inside an escape."""
        if self._escape_spans is None:
            self._escape_spans = sorted(set(self._escapes()))
        return any(self._is_inside(position) for position in (start, end))

    def _is_inside(self, position: int) -> bool:
        assert self._escape_spans is not None
        index = bisect_right(self._escape_spans, (position, 0)) - 1
        # A nested escape contains shorter ones: the few before are compared, too.
        return any(first < position < last for first, last in self._escape_spans[max(0, index - _MAX_NESTED):index + 1])

    def _escapes(self) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        for number, step in enumerate(self._steps):
            for start, end in zip(step.in_starts, step.in_ends, strict=True):
                last = end - 1
                for earlier in reversed(self._steps[:number]):
                    start, last = earlier.locate(start)[0], earlier.locate(last)[1] - 1
                spans.append((start, last + 1))
        return spans


def normalise(raw: str) -> NormalisedText:
    """The text without its encodings, with the way back to its positions; time is linear in its length."""
    if raw.isascii() and not ("%" in raw or "&" in raw or "\\" in raw or ("=" in raw and _IN_PARAMETERS.search(raw))):
        return NormalisedText(raw, raw, [])
    text, steps = raw, list[_Step]()
    is_quoted = "=" in text and _is_quoted_printable(text)
    if "=" in text:
        text = _undo_quoted_printable(text, is_quoted, steps)
        text = _PARAMETER.sub(_parameter_spaces, "&" + text)[1:] if "+" in text else text
    for _ in range(_MAX_NESTED):
        if not _ESCAPE_STARTS.search(text):
            break
        before, text = text, _replace(_ESCAPE, text, _unescape, steps)
        if text == before:
            break
    if text != raw and "=" in text:
        text = _undo_quoted_printable(text, is_quoted or _is_quoted_printable(text), steps)
    return NormalisedText(raw, text if text.isascii() else _normalise_characters(text, steps), steps)


def forms_in_normalised(value: str) -> set[str]:
    """The ways in which normalised text may contain a value: some wide signs stay in it."""
    usual = normalise(value).text
    return {usual, usual.translate(_WIDE_SIGNS), usual[:-1] + usual[-1:].translate(_WIDE_SIGNS)}


def _normalise_characters(text: str, steps: list[_Step]) -> str:
    """The text with characters in their usual form, and without invisible ones."""
    distinct = set(text)
    changing = {character: usual for character in distinct if (usual := _USUAL[character]) != character}
    if "" in changing.values():
        text = _replace(_INVISIBLE, text, lambda match: "", steps)
        changing = {character: usual for character, usual in changing.items() if usual}
    if any("\uff10" <= character <= "\uff5a" for character in changing):
        text = _WIDE_INSIDE.sub(lambda match: chr(ord(match[0]) - _WIDE), text)
    if len(changing) > _MAX_REPLACED_ONE_BY_ONE:
        text = text.translate({ord(character): usual for character, usual in changing.items()})
    else:
        for character, usual in changing.items():
            text = text.replace(character, usual)
    if any(map(_COMBINING.match, distinct)) or any(map(_COMBINING.match, changing.values())):
        text = _replace(_DECOMPOSED, text, lambda match: unicodedata.normalize("NFC", match[0]), steps)
    return text if distinct.isdisjoint(_DASHES) else _DASH_IN_NUMBER.sub("-", text)


class _UsualForms(dict[str, str]):
    """One character in its usual form, by each that has occurred; an invisible one is nothing."""

    def __missing__(self, character: str) -> str:
        self[character] = usual = _usual_form(character)
        return usual


def _usual_form(character: str) -> str:
    if character.isascii():
        return character
    if _INVISIBLE.match(character):
        return ""
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Zs":
        return " "
    if category[0] == "L" or character in "\uff9e\uff9f":
        usual = unicodedata.normalize("NFKC", character)
        return usual if len(usual) == 1 else character
    return character.translate(_SIGNS)


_USUAL = _UsualForms()


def _unescape(match: re.Match[str]) -> str | None:
    return _unescaped(match[0], match.lastgroup)


@lru_cache(maxsize=4096)
def _unescaped(escape: str, kind: str | None) -> str | None:
    """What an escape stands for; None for what is none."""
    if kind == "percent":
        try:
            return bytes.fromhex(escape.replace("%", "")).decode()
        except UnicodeDecodeError:
            return None
    if kind == "reference":
        character = html.unescape(escape)
        return character if character != escape else None
    if kind == "script":
        codes = [int(code, 16) for code in re.findall(r"[0-9A-Fa-f]+", escape.replace("u", " ").replace("x", " "))]
        if len(codes) == 2:
            return chr(0x10000 + ((codes[0] - 0xD800) << 10) + codes[1] - 0xDC00)
        return chr(codes[0]) if codes[0] <= 0x10FFFF else None
    if kind == "style":
        return chr(int(escape[1:], 16))
    if kind == "space":
        return _WHITE_SPACE[escape[1]]
    return escape[1:] if kind == "plain" else unicodedata.normalize("NFKC", escape)


def _parameter_spaces(match: re.Match[str]) -> str:
    """A parameter with spaces for its plus signs, unless they are part of an e-mail address that is not encoded."""
    value = match[1]
    if "+" not in value or _MAIL_SIGN.search(value):
        return match[0]
    return match[0][:match.start(1) - match.start()] + _PLUS.sub(" ", value)


def _is_quoted_printable(text: str) -> bool:
    """Whether an equals sign and two digits are an escape in a text: elsewhere, they are a name and its number."""
    return (any(mark in text for mark in _QUOTED_MARKS) or _QUOTED_SIGNS.search(text) is not None
            or (("=\n" in text or "=\r\n" in text) and _QUOTED_SIGN.search(text) is not None))


def _undo_quoted_printable(text: str, is_quoted: bool, steps: list[_Step]) -> str:
    if is_quoted:
        return _replace(_QUOTED, text, _unquote, steps)
    return _replace(_QUOTED_AT, text, lambda match: "@", steps) if "=40" in text else text


def _unquote(match: re.Match[str]) -> str | None:
    if "\n" in match[0]:
        return ""
    try:
        return bytes.fromhex(match[0].replace("=", "")).decode()
    except UnicodeDecodeError:
        return None


def _replace(pattern: re.Pattern[str], text: str, by: Callable[[re.Match[str]], str | None], steps: list[_Step]) -> str:
    """The text with the matches of a pattern replaced, and the step back; those are left for which `by` is None."""
    parts: list[str] = []
    step, position, moved = _Step([], [], [], []), 0, 0
    for match in pattern.finditer(text):
        if (new := by(match)) is None:
            continue
        start, end = match.span()
        parts += (text[position:start], new)
        step.out_starts.append(start + moved)
        moved += len(new) - (end - start)
        step.out_ends.append(end + moved)
        step.in_starts.append(start)
        step.in_ends.append(end)
        position = end
    if not parts:
        return text
    steps.append(step)
    parts.append(text[position:])
    return "".join(parts)
