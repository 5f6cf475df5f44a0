"""Demonstrations in the order that shards need: that of their places (partition.py)."""

import pickle
import tempfile
from collections.abc import Iterable, Iterator, Sequence

from .partition import place
from .source import Source


class InOrder:
    """Sources that come in the order of their places already, so that nobody need hold them all to sort them."""

    def __init__(self, sources: Iterable[Source]):
        self._sources = sources

    def __iter__(self) -> Iterator[Source]:
        return iter(self._sources)


def in_order(sources: Iterable[Source]) -> Iterable[Source]:
    """The same sources, in order; those that come one after the other wait on the disk until all have come."""
    if isinstance(sources, InOrder):
        return sources
    if isinstance(sources, Sequence):
        return sorted(sources, key=_place)
    return _sorted_on_disk(sources)


def _place(source: Source) -> int:
    return place(source.id)


def _sorted_on_disk(sources: Iterable[Source]) -> Iterator[Source]:
    with tempfile.TemporaryFile(prefix="demotape-sources-") as file:
        starts = []
        for source in sources:
            starts.append((_place(source), file.tell()))
            pickle.dump(source, file, pickle.HIGHEST_PROTOCOL)
        for _, start in sorted(starts):
            file.seek(start)
            yield pickle.load(file)
