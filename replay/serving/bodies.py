"""How alike two bodies of requests are, by their content type. Pure functions.

A body is compared by value: JSON and GraphQL member by member, a form field by field, a multipart form part by part,
without the boundary; other text as text, other content as equal or not. What varies by itself counts little, what was
chosen counts so much that one choice is enough to be below the threshold of matching.py.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl

from replay.archive.multipart import Part, parts
from schemas import REDACTED

from .volatile_values import StableParts, is_made, made_words, masked, may_vary, nothing_stable, varies_by_name

STAND_IN = re.compile(r"demotape-secret-[0-9]+")
_VALUE = re.compile(r"[A-Za-z0-9_.:+-]+")
LARGEST = 1 << 20  # bytes that are compared by value; more are equal or not
UNKNOWN = 0.9  # likeness when the recorded body was not kept
LEAST_VARIED = 0.93  # likeness when all that differs varies by itself
_ONE_VARIED, _ONE_FITTED = 0.02, 0.005  # what one such value, one stand-in takes away
_CHOSEN = 0.7  # what is left for each choice that differs
_LONGEST_SECRET = 16384  # characters of what may stand where a stand-in is
_EMPTY: tuple[object, ...] = (None, "", [], {})

Pair = tuple[str, str]  # a recorded value and the actual one


@dataclass
class Tally:
    """The result of a comparison: how many values agree, vary by themselves, fit a stand-in, were chosen otherwise, or
    are there in one alone; `differences`: those that differ and may, recorded and actual.

    `learnt`: names whose values vary, as the recording shows. `any_value`: it does not matter what is sent. `typed`: a
    page sends what is being typed, as far as that has come.
    """

    fixed: StableParts = nothing_stable
    learnt: frozenset[str] = frozenset()
    any_value: bool = False
    typed: bool = False
    agreed: int = 0
    varied: int = 0
    fitted: int = 0
    chosen: int = 0
    missing: int = 0
    differences: list[Pair] = field(default_factory=list)

    def likeness(self) -> float:
        """From 0 to 1; 1 is equal. A value that one alone has counts as one that was chosen otherwise."""
        fine = self.agreed + self.varied + self.fitted + 1
        chosen = self.chosen + self.missing
        return self.similarity() * _CHOSEN ** min(chosen, 100) * fine / (fine + chosen)

    def similarity(self) -> float:
        """What is left of likeness after what varied by itself."""
        return 1 - min(1 - LEAST_VARIED, _ONE_VARIED * self.varied + _ONE_FITTED * self.fitted)

    def text(self, name: str, recorded: str, actual: str) -> None:
        """Compare two texts of one name."""
        if recorded == actual:
            self.agreed += 1
        elif fits(recorded, actual):
            self.fitted += 1
            self.differences.append((recorded, actual))
        elif self.any_value or name in self.learnt or may_vary(name, recorded, actual, self.fixed):
            self.varied += 1
            self.differences.append((recorded, actual))
        elif self.typed and (recorded.startswith(actual) or actual.startswith(recorded)):
            self.varied += 1
        else:
            self.chosen += 1

    def alone(self, name: str, value: object) -> None:
        """Count a value that only one of the two has."""
        if self.any_value or value in _EMPTY or name in self.learnt or varies_by_name(name):
            self.varied += 1
        else:
            self.missing += 1

    def differ(self, name: str = "", times: int = 1) -> None:
        """Count what cannot be compared."""
        if self.any_value or varies_by_name(name):
            self.varied += times
        else:
            self.chosen += times


def has_stand_in(recorded: str) -> bool:
    """Whether a secret was replaced in a recorded text."""
    return REDACTED in recorded or bool(STAND_IN.search(recorded))


def fits(recorded: str, actual: str) -> bool:
    """Whether an actual text may be the recorded one with its secrets as they were: where a stand-in is, something has
    to stand, of one line."""
    if not has_stand_in(recorded):
        return False
    pieces = STAND_IN.split(recorded.replace(REDACTED, "demotape-secret-0"))
    first, *middle, last = pieces
    if not (actual.startswith(first) and actual.endswith(last)):
        return False
    inside = actual[len(first):len(actual) - len(last)]
    if len(first) + len(last) >= len(actual) or "\n" in inside or len(inside) > _LONGEST_SECRET:
        return False
    offset = 0
    for piece in middle:
        index = inside.find(piece, offset + 1)
        if index < 0:
            return False
        offset = index + len(piece)
    return offset < len(inside)


def likeness(recorded: bytes | None, actual: bytes | None, content_type: str = "",
             tally: Tally | None = None) -> float:
    """How alike two bodies are, from 0 to 1; 1 when they are equal. `content_type`: of the actual request. `tally`: a
    new one that knows what varies."""
    if (recorded or b"") == (actual or b""):
        return 1.0
    if recorded is None:
        return UNKNOWN
    tally = tally or Tally()
    if not recorded or not actual:
        return LEAST_VARIED if tally.any_value else 0.0
    compare(recorded, actual, content_type, tally)
    return min(tally.likeness(), 0.999)


def compare(recorded: bytes, actual: bytes, content_type: str, tally: Tally) -> None:
    """Add to a tally what agrees and what differs in two bodies."""
    kind = _kind(content_type, actual)
    if kind == "multipart":
        _compare_parts(recorded, actual, tally)
    elif kind == "binary" or max(len(recorded), len(actual)) > LARGEST:
        _equal_or_not(recorded, actual, tally)
    elif kind == "form":
        compare_pairs(fields(recorded), fields(actual), tally)
    elif kind == "text" or not _compared_as_json(recorded, actual, tally):
        _compare_texts("", _text(recorded), _text(actual), tally)


def _compared_as_json(recorded: bytes, actual: bytes, tally: Tally) -> bool:
    """Whether both are JSON, not too deep; then they are compared."""
    counted = replace(tally, differences=[])
    try:
        _compare_values("", parsed(recorded), parsed(actual), counted)
    except (ValueError, RecursionError):
        return False
    tally.agreed, tally.varied, tally.fitted = counted.agreed, counted.varied, counted.fitted
    tally.chosen, tally.missing = counted.chosen, counted.missing
    tally.differences += counted.differences
    return True


def outline(body: bytes, content_type: str) -> int:
    """The same number for bodies that differ in nothing but what varies by how it looks or by its name: finds those
    that are worth a comparison among many."""
    kind = _kind(content_type, body)
    if kind == "multipart":
        return hash(tuple(sorted((part.name, part.filename) for part in parts(body))))
    if len(body) > LARGEST:
        return hash(body)
    if kind == "json":
        try:
            return hash(json.dumps(_outlined("", parsed(body)), sort_keys=True))
        except (ValueError, RecursionError):
            kind = "text"
    if kind == "form":
        return hash(tuple(sorted((name, _mask(name, value)) for name, value in fields(body))))
    return hash(masked(_text(body)) if kind == "text" else body)


def _kind(content_type: str, body: bytes) -> str:
    """How a body is compared; where its type does not tell, by how it begins."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind.startswith("multipart/"):
        return "multipart"
    if kind.endswith("json") or kind == "application/graphql":
        return "json" if kind.endswith("json") else "text"
    if kind == "application/x-www-form-urlencoded":
        return "form"
    if kind.startswith("text/") or not kind:
        start = body[:64].lstrip()[:1]
        if start in (b"{", b"["):
            return "json"
        return "form" if not kind and b"=" in body and not set(body[:4096]) & set(b" \r\n\0") else "text"
    return "text" if kind.endswith(("xml", "javascript")) else "binary"


def is_query(body: bytes | None) -> bool:
    """Whether a body is GraphQL that only asks: it changes nothing, though it is sent by POST."""
    if not body or len(body) > LARGEST or b'"query"' not in body:
        return False
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return False
    operations = value if isinstance(value, list) else [value]
    return bool(operations) and all(isinstance(operation, dict) and _is_read_only(operation.get("query"))
                                    for operation in operations)


def _is_read_only(query: object) -> bool:
    return isinstance(query, str) and query.lstrip().startswith(("query", "{", "fragment")) and (
        "mutation" not in query and "subscription" not in query)


def parsed(body: bytes) -> Any:
    """The value of JSON, with GraphQL in it in one form. Raises ValueError or RecursionError for what is none."""
    value = json.loads(body)
    if isinstance(value, list):
        return [_graphql(operation) for operation in value]
    return _graphql(value)


def _graphql(value: Any) -> Any:
    """GraphQL with its query without white space, and with what may be left out; anything else as it is."""
    if not isinstance(value, dict) or not isinstance(value.get("query"), str):
        return value
    query = value["query"].strip()
    if not value.keys() & {"variables", "operationName"} and not query.startswith(("query", "mutation", "{")):
        return value
    return value | {"query": "".join(query.split()), "variables": value.get("variables") or {},
                    "operationName": value.get("operationName") or ""}


def _compare_values(name: str, recorded: Any, actual: Any, tally: Tally) -> None:
    if isinstance(recorded, dict) and isinstance(actual, dict):
        for key in recorded.keys() | actual.keys():
            if key in recorded and key in actual:
                _compare_values(key, recorded[key], actual[key], tally)
            else:
                tally.alone(key, recorded.get(key, actual.get(key)))
    elif isinstance(recorded, list) and isinstance(actual, list):
        for recorded_value, actual_value in zip(recorded, actual, strict=False):
            _compare_values(name, recorded_value, actual_value, tally)
        tally.differ(times=abs(len(recorded) - len(actual)))
    elif isinstance(recorded, str) and isinstance(actual, str):
        _compare_texts(name, recorded, actual, tally)
    elif type(recorded) is type(actual) and recorded == actual:
        tally.agreed += 1
    elif _is_plain(recorded) and _is_plain(actual):
        tally.text(name, _written(recorded), _written(actual))
    else:
        tally.differ(name)


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _written(value: str | int | float) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _compare_texts(name: str, recorded: str, actual: str, tally: Tally) -> None:
    """Two texts, which may be long: then words in them may vary by themselves."""
    if recorded != actual and masked(recorded) == masked(actual) and not has_stand_in(recorded):
        for recorded_word, actual_word in zip(made_words(recorded), made_words(actual), strict=True):
            tally.text(name, recorded_word, actual_word)
        return
    tally.text(name, recorded, actual)


def _outlined(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _outlined(key, inner) for key, inner in value.items() if not varies_by_name(key)
                and inner not in _EMPTY}
    if isinstance(value, list):
        return [_outlined(name, inner) for inner in value]
    if isinstance(value, str):
        return masked(_mask(name, value))
    return _mask(name, _written(value)) if _is_plain(value) else value


def _mask(name: str, value: str) -> str:
    return "\x00" if varies_by_name(name) or is_made(value) else value


def fields(body: bytes) -> list[Pair]:
    """Names and values of a form, as it is sent."""
    return parse_qsl(_text(body), keep_blank_values=True, errors="replace")


def compare_pairs(recorded: Iterable[Pair], actual: Iterable[Pair], tally: Tally) -> None:
    """Two lists of names and values; names may come again, and their order among others does not count."""
    remaining = _by_name(recorded)
    for name, values in _by_name(actual).items():
        recorded_values = remaining.pop(name, [])
        for recorded_value, actual_value in zip(recorded_values, values, strict=False):
            tally.text(name, recorded_value, actual_value)
        for value in (*recorded_values[len(values):], *values[len(recorded_values):]):
            tally.alone(name, value)
    for name, values in remaining.items():
        for value in values:
            tally.alone(name, value)


def _by_name(pairs: Iterable[Pair]) -> dict[str, list[str]]:
    by_name: dict[str, list[str]] = {}
    for name, value in pairs:
        by_name.setdefault(name, []).append(value)
    return by_name


def _compare_parts(recorded: bytes, actual: bytes, tally: Tally) -> None:
    remaining = _parts_by_name(recorded)
    for name, ours in _parts_by_name(actual).items():
        recorded_parts = remaining.pop(name, [])
        for recorded_part, actual_part in zip(recorded_parts, ours, strict=False):
            _compare_part(recorded_part, actual_part, tally)
        for part in (*recorded_parts[len(ours):], *ours[len(recorded_parts):]):
            tally.alone(name, part.content and part.name)
    for name, parts_left in remaining.items():
        for part in parts_left:
            tally.alone(name, part.content and part.name)


def _parts_by_name(body: bytes) -> dict[str, list[Part]]:
    by_name: dict[str, list[Part]] = {}
    for part in parts(body):
        by_name.setdefault(part.name, []).append(part)
    return by_name


def _compare_part(recorded: Part, actual: Part, tally: Tally) -> None:
    """Two parts of one name. Browsers do not tell what files held: then the name of the file decides."""
    if recorded.filename != actual.filename:
        tally.text(recorded.name, recorded.filename, actual.filename)
    if recorded.content == actual.content:
        tally.agreed += 1
    elif recorded.filename and not recorded.content:
        tally.varied += 1
    elif recorded.filename or max(len(recorded.content), len(actual.content)) > LARGEST:
        tally.differ(recorded.name)
    else:
        _compare_field(recorded, actual, tally)


def _compare_field(recorded: Part, actual: Part, tally: Tally) -> None:
    if recorded.content_type.lower().startswith("application/json"):
        try:
            _compare_values(recorded.name, parsed(recorded.content), parsed(actual.content), tally)
            return
        except (ValueError, RecursionError):
            pass
    tally.text(recorded.name, _text(recorded.content), _text(actual.content))


def _equal_or_not(recorded: bytes, actual: bytes, tally: Tally) -> None:
    """Content that is not looked into, but for a short one with a stand-in."""
    if recorded == actual:
        tally.agreed += 1
    elif len(recorded) <= LARGEST and fits(recorded.decode("latin-1"), actual.decode("latin-1")):
        tally.fitted += 1
    else:
        tally.differ()


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def made_values(body: bytes | None) -> Iterator[str]:
    """The values in a body that look random or are moments: of these it counts whether an answer gave them."""
    if body and len(body) <= LARGEST:
        yield from filter(is_made, _VALUE.findall(_text(body)))
        yield from made_words(_text(body))
