"""Truncating text to a token budget by WebLINX's rule (appendix B.2): the longest first, in the middle.

Tokens are counted without a model's tokenizer: words in pieces of at most six letters, and signs. That is about what
the common subword tokenizers make of web pages, rather more than less.
"""

import re
from collections.abc import Sequence

ELLIPSIS = "..."
_TOKEN = re.compile(r"\w{1,6}|[^\w\s]")
_ELLIPSIS_TOKENS = 3
_ATTEMPTS = 5


def tokens(text: str) -> int:
    """How many tokens a text has."""
    return sum(1 for _ in _TOKEN.finditer(text))


def reduce_texts(lengths: Sequence[int], limit: int) -> list[int]:
    """Lengths whose sum is at most `limit`: all above one threshold are brought down to it, in the order given.

    What rounding leaves over goes to the longest, one token each.
    """
    if sum(lengths) <= limit:
        return list(lengths)
    if limit <= 0:
        return [0] * len(lengths)
    order = sorted(range(len(lengths)), key=lambda index: lengths[index])
    new, left = list(lengths), limit
    for rank, index in enumerate(order):
        threshold, over = divmod(left, len(order) - rank)
        if lengths[index] > threshold:
            rest = order[rank:]
            for number, other in enumerate(rest):
                new[other] = threshold + (number >= len(rest) - over)
            break
        left -= lengths[index]
    return new


def cut(text: str, limit: int) -> str:
    """The text with its middle taken out, so that it has at most `limit` tokens; empty when not even dots fit."""
    spans = [match.span() for match in _TOKEN.finditer(text)]
    if len(spans) <= limit:
        return text
    if limit < _ELLIPSIS_TOKENS:
        return ""
    available = limit - _ELLIPSIS_TOKENS
    start, end = (available + 1) // 2, available // 2
    before = text[:spans[start - 1][1]] if start else ""
    after = text[spans[len(spans) - end][0]:] if end else ""
    return before + ELLIPSIS + after


def fit(texts: Sequence[str], limit: int) -> list[str]:
    """The texts cut so that together they have at most `limit` tokens, the longest first."""
    lengths = [tokens(text) for text in texts]
    return [cut(text, length) for text, length in zip(texts, reduce_texts(lengths, limit), strict=True)]


def fit_tree(root, render, limit: int) -> str:
    """Render an lxml tree within `limit` tokens: its texts and attribute values are cut, the longest first.

    Changes the tree. `render` makes text of it. When what is not text or value is too long already, the rendered text
    is cut at its middle.
    """
    text = render(root)
    for _ in range(_ATTEMPTS):
        over = tokens(text) - limit
        if over <= 0:
            return text
        parts = [(node, name) for node in root.iter() for name in (None, "tail", *node.attrib.keys())]
        values = [_value(node, name) for node, name in parts]
        total = sum(map(tokens, values))
        for (node, name), value, new in zip(parts, values, fit(values, total - over), strict=True):
            if new != value:
                _put(node, name, new)
        text = render(root)
    return cut(text, limit)


def _value(node, name: str | None) -> str:
    return (node.text if name is None else node.tail if name == "tail" else node.get(name)) or ""


def _put(node, name: str | None, value: str) -> None:
    if name is None:
        node.text = value
    elif name == "tail":
        node.tail = value
    else:
        node.set(name, value)
