"""Assignment of demonstrations to shards: those whose ids' SHA-256 are in the same range. Pure.

A range is halved where its demonstrations are more than one shard holds. So a shard depends on the ids in its range
and on nothing else: adding a demonstration changes one shard, or halves it.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

_BITS = 256
_DIGITS = 6  # of a name, at least

Item = TypeVar("Item")


def order_key(demonstration_id: str) -> int:
    """Where a demonstration lies among all there can be: 0 to 2 ** 256 - 1. Exports go through them in this order."""
    return int.from_bytes(hashlib.sha256(demonstration_id.encode("utf-8", "surrogatepass")).digest(), "big")


place = order_key  # its name in earlier versions


@dataclass(frozen=True)
class Shard(Generic[Item]):
    """Demonstrations that share a shard, in order. `name`: hexadecimal digits: the first ones of where its range
    begins; of the demonstration itself where it is larger than a shard by itself, so that no neighbour changes it."""

    name: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class _Range:
    """The places whose first `depth` bits are those of `start`."""

    start: int
    depth: int

    def halves(self) -> tuple["_Range", "_Range"]:
        middle = self.start | 1 << (_BITS - self.depth - 1)
        return _Range(self.start, self.depth + 1), _Range(middle, self.depth + 1)

    def contains(self, key: int) -> bool:
        return (key ^ self.start) >> (_BITS - self.depth) == 0

    def name(self, key: int) -> str:
        digits = max(_DIGITS, -(-self.depth // 4))
        return f"{key >> (_BITS - 4 * digits):0{digits}x}"


class Partition(Generic[Item]):
    """Takes items in the order of their places, and gives back shards of at most `limit` bytes, where more than one
    item is in them. What it holds meanwhile is hardly more than one shard."""

    def __init__(self, limit: int):
        self._limit = limit
        self._range = _Range(0, 0)  # that the waiting ones lie in; what holds this range is more than one shard
        self._waiting: list[tuple[int, int, Item]] = []

    def add(self, key: int, size: int, item: Item) -> Iterator[Shard[Item]]:
        """Take in the next; gives the shards that are complete. Raises ValueError when it is not behind the last."""
        if self._waiting:
            last = self._waiting[-1][0]
            if key <= last:
                raise ValueError("not in the order of their places")
            if not self._range.contains(key):
                yield from self._complete_shards(self._range, self._waiting)
                depth = _BITS - (key ^ last).bit_length() + 1  # of the half that this one is in and the last is not
                self._range = _Range(key >> (_BITS - depth) << (_BITS - depth), depth)
                self._waiting = []
        self._waiting.append((key, size, item))
        while len(self._waiting) > 1 and _size(self._waiting) > self._limit:
            left, right = self._range.halves()
            number = sum(left.contains(key) for key, _, _ in self._waiting)
            if number < len(self._waiting):
                yield from self._complete_shards(left, self._waiting[:number])
                self._range, self._waiting = right, self._waiting[number:]
            else:
                self._range = left

    def end(self) -> Iterator[Shard[Item]]:
        """All are taken in: the last shards."""
        yield from self._complete_shards(self._range, self._waiting)
        self._waiting = []

    def _complete_shards(self, here: _Range, items: list[tuple[int, int, Item]]) -> Iterator[Shard[Item]]:
        """The shards of a range into which no more come."""
        if not items:
            return
        if len(items) > 1 and _size(items) > self._limit:
            left, right = here.halves()
            number = sum(left.contains(key) for key, _, _ in items)
            yield from self._complete_shards(left, items[:number])
            yield from self._complete_shards(right, items[number:])
            return
        begin = here.start if _size(items) <= self._limit else items[0][0]
        yield Shard(here.name(begin), tuple(item for _, _, item in items))


def _size(items: list[tuple[int, int, Item]]) -> int:
    return sum(size for _, size, _ in items)
