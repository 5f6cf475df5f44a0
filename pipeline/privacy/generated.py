"""Attributes that style sheets display: `content: attr(data-mail)` paints text that is in no element."""

from collections.abc import Iterable, Iterator
from typing import Any

import tinycss2

from .patterns import pattern, spans

_ATTR = pattern(r"attr\(\s*([a-zA-Z_][\w-]{0,100})", ignore_case=True)
_HOLDING = ("media", "supports", "layer", "container")  # rules that hold rules
_DEEPEST = 8  # rules in rules


def shown_attributes(sheets: Iterable[str]) -> frozenset[str]:
    """Names of the attributes that style sheets show on a screen, in lower case."""
    return frozenset(name for sheet in sheets if any(_named_in(sheet)) for name in _on_a_screen(sheet))


def _on_a_screen(sheet: str) -> set[str]:
    try:
        return set(_shown_by(tinycss2.parse_stylesheet(sheet, True, True), 0))
    except RecursionError:  # blocks in blocks, more than any site has
        return set(_named_in(sheet))


def _shown_by(rules: Iterable[Any], depth: int) -> Iterator[str]:
    """Without those that are for paper alone."""
    for rule in rules:
        if rule.type not in ("at-rule", "qualified-rule") or rule.content is None:
            continue
        holding = rule.type == "at-rule" and rule.lower_at_keyword in _HOLDING
        if holding and tinycss2.serialize(rule.prelude).strip().lower() == "print":
            continue
        if holding and depth < _DEEPEST:
            yield from _shown_by(tinycss2.parse_rule_list(rule.content, True, True), depth + 1)
        else:
            yield from _named_in(tinycss2.serialize(rule.content))


def _named_in(text: str) -> Iterator[str]:
    yield from (text[start:end].lower() for start, end in spans(_ATTR, text, 1))
