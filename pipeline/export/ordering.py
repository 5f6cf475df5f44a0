"""Demonstrations in the order that shards need, by their position (partition.py), readable repeatedly."""

import os
import pickle
import tempfile
from collections.abc import Iterable, Iterator, Sequence

from .partition import order_key
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
        return sorted(sources, key=_order_key)
    return _sorted_on_disk(sources)


class SpooledSources:
    """Sources on the disk, to be gone through again; a context, after which they are gone."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="demotape-sources-")  # noqa: SIM115 - closed at the end of the context
        self._starts: list[tuple[int, int]] = []  # place, and where it begins

    def __enter__(self) -> "SpooledSources":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def spool(self, sources: Iterable[Source]) -> Iterator[Source]:
        """The same sources, taken in one by one."""
        for source in sources:
            self._file.seek(0, os.SEEK_END)
            self._starts.append((_order_key(source), self._file.tell()))
            pickle.dump(source, self._file, pickle.HIGHEST_PROTOCOL)
            yield source

    def __iter__(self) -> Iterator[Source]:
        return self._read(self._starts)

    def in_order(self) -> Iterator[Source]:
        """By their places."""
        return self._read(sorted(self._starts))

    def _read(self, starts: Iterable[tuple[int, int]]) -> Iterator[Source]:
        for _, start in starts:
            self._file.seek(start)
            yield pickle.load(self._file)


def _order_key(source: Source) -> int:
    return order_key(source.id)


def _sorted_on_disk(sources: Iterable[Source]) -> Iterator[Source]:
    with SpooledSources() as spooled:
        for _ in spooled.spool(sources):
            pass
        yield from spooled.in_order()
