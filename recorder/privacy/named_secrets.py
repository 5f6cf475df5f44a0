"""Secrets in the network, detected by the names of their fields, members and elements."""

import html
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from .secret_values import is_secret_name

_TAG = re.compile(r"<(?:input|meta)\b[^<>]{1,4000}>", re.I)
_ATTRIBUTE = re.compile(r"""([A-Za-z_:][\w:.-]{0,60})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'<>`]+))""")
_LONGEST = 1 << 22  # characters that are looked through
_MIN_CHARS, _LONG_CHARS = 10, 20  # of a value that was generated; from `_LONG_CHARS` on whatever it consists of


def _looks_random(value: str) -> bool:
    """Whether a value is a token rather than a word, a label or a year, which pages hold elsewhere as well."""
    if len(value) < _MIN_CHARS or any(character.isspace() for character in value):
        return False
    return len(value) >= _LONG_CHARS or (any(map(str.isdigit, value)) and any(map(str.isalpha, value)))


def named_secrets(text: str, kind: str) -> Iterator[str]:
    """Tokens in a body of a media type that are secret by their names: members of JSON, fields of a form, hidden fields
    and meta elements of HTML."""
    kind = kind.partition(";")[0].strip().lower()
    text = text[:_LONGEST]
    if kind.endswith("json"):
        try:
            yield from _members(json.loads(text), 0)
        except (ValueError, RecursionError):
            return
    elif kind == "application/x-www-form-urlencoded":
        yield from (value for name, value in parse_qsl(text) if is_secret_name(name) and _looks_random(value))
    elif "html" in kind:
        for tag in _TAG.finditer(text):
            attributes = {name.lower(): html.unescape(double_quoted or single_quoted or unquoted)
                    for name, double_quoted, single_quoted, unquoted in _ATTRIBUTE.findall(tag[0])}
            value = attributes.get("value") or attributes.get("content") or ""
            if is_secret_name(attributes.get("name", "")) and _looks_random(value):
                yield value


def _members(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _members(item, depth + 1)
    elif isinstance(value, dict):
        for name, item in value.items():
            if isinstance(item, str) and is_secret_name(name) and _looks_random(item):
                yield item
            else:
                yield from _members(item, depth + 1)
