"""Secrets in what goes over the network, by the names of the fields, members and elements that hold them."""

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
_LEAST, _LONG = 10, 20  # characters of a value that was made by a machine; from so many on whatever it is made of


def _looks_made(value: str) -> bool:
    """Whether a value is a token rather than a word, a label or a year, which pages hold elsewhere as well."""
    if len(value) < _LEAST or any(each.isspace() for each in value):
        return False
    return len(value) >= _LONG or (any(map(str.isdigit, value)) and any(map(str.isalpha, value)))


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
        yield from (value for name, value in parse_qsl(text) if is_secret_name(name) and _looks_made(value))
    elif "html" in kind:
        for tag in _TAG.finditer(text):
            told = {name.lower(): html.unescape(one or two or three)
                    for name, one, two, three in _ATTRIBUTE.findall(tag[0])}
            value = told.get("value") or told.get("content") or ""
            if is_secret_name(told.get("name", "")) and _looks_made(value):
                yield value


def _members(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _members(item, depth + 1)
    elif isinstance(value, dict):
        for name, item in value.items():
            if isinstance(item, str) and is_secret_name(name) and _looks_made(item):
                yield item
            else:
                yield from _members(item, depth + 1)
