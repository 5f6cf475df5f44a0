"""Finds names of persons and postal addresses in text, in seven languages."""

from collections.abc import Callable, Iterable, Iterator

from pipeline.pages.dom import Element
from pipeline.privacy.finding import Span, find_normalised, merge_spans
from schemas.normalised_text import normalise

from . import chinese, japanese, korean, labels, latin, postal


def find(text: str) -> list[Span]:
    """Spans in order; none overlaps another. Needs the extra `names`; raises InputError without it (lists.versions)."""
    normalised = normalise(text)
    if normalised.is_raw:
        return _find_plain(text)
    # Some scripts are found by signs that normal form does not have: the text as it is counts, too.
    spans = find_normalised(normalised, _find_plain(normalised.text))
    return merge_spans(spans, [span for span in _find_plain(text) if not normalised.cuts_escape(span.start, span.end)])


def _find_plain(text: str) -> list[Span]:
    spans: list[Span] = []
    for kind, finder in FINDERS:
        spans = merge_spans(spans, [Span(start, end, kind) for start, end in sorted(set(finder(text)), key=_sort_key)])
    return spans


def _sort_key(span: tuple[int, int]) -> tuple[int, int]:
    return span[0], -span[1]


# A street may be named after somebody, and a name may be written in one way only: the order is the order of trust.
FINDERS: tuple[tuple[str, Callable[[str], Iterator[tuple[int, int]]]], ...] = (
    ("address", postal.addresses), ("person", latin.persons), ("person", korean.persons),
    ("person", japanese.persons), ("person", chinese.persons))


def findings(texts: Iterable[str]) -> list[tuple[str, str]]:
    """What is found in texts: values with their kinds, each pair once, in the order of the texts."""
    values: dict[tuple[str, str], None] = {}
    for text in texts:
        if any(character.isalpha() for character in text):
            values |= dict.fromkeys((text[span.start:span.end].strip(), span.kind) for span in find(text))
    return list(values)


def on_page(texts: Iterable[str], root: Element) -> list[tuple[str, str]]:
    """What a page shows: in its texts, by its labels, and in its fields."""
    return list(dict.fromkeys([*findings(texts), *findings(labels.contexts(root)), *labels.in_fields(root)]))
