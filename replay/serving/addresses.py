"""Addresses as requests are matched by them: in one form, in parts, and how alike two are. Pure functions."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qsl

from schemas.addresses import split_address

from .bodies import Pair, Tally, compare_pairs, fits, has_stand_in
from .volatile_values import StableParts, is_made_segment, nothing_stable

ONE_MISSING = 1.5  # what a parameter that only one has counts against those that agree
ONE_SEGMENT, MOST_SEGMENTS = 0.03, 0.06  # what each part of a path that varies takes away, and all together
_PORTS = {"http": ":80", "https": ":443"}


@dataclass(frozen=True)
class Address:
    """An address without the part after #. `path`: all of it where it cannot be parsed."""

    origin: str
    path: str
    query: str

    @cached_property
    def pairs(self) -> list[Pair]:
        """Its parameters."""
        return parse_qsl(self.query, keep_blank_values=True, errors="replace")

    @cached_property
    def segments(self) -> tuple[str, ...]:
        """The parts of its path."""
        return tuple(self.path.split("/"))


def address(url: str) -> Address:
    """An address in one form, so that equal ones are found."""
    parts = split_address(url)
    base = _origin(parts.scheme, parts.netloc)
    if not base:
        start, _, query = url.partition("#")[0].partition("?")
        return Address("", start, query)
    return Address(base, parts.path or "/", parts.query)


def origin(url: str) -> str:
    """Scheme and host of an address, without a port that goes without saying; empty for what has none."""
    parts = split_address(url)
    return _origin(parts.scheme, parts.netloc)


def _origin(scheme: str, netloc: str) -> str:
    if not scheme or not netloc:
        return ""
    host = netloc.rpartition("@")[2].lower()
    return f"{scheme}://{host.removesuffix(_PORTS.get(scheme, '/'))}"


def query_likeness(recorded: Iterable[Pair], actual: Iterable[Pair], tally: Tally) -> float:
    """How alike the parameters of two addresses are, from 0 to 1; one that was chosen otherwise makes it 0."""
    compare_pairs(recorded, actual, tally)
    if tally.chosen:
        return 0.0
    return tally.similarity() * (1 + tally.agreed) / (1 + tally.agreed + ONE_MISSING * tally.missing)


def path_likeness(recorded: Address, actual: Address, fixed: StableParts = nothing_stable,
                  differences: list[Pair] | None = None) -> float:
    """How alike two paths are: 0 where a part differs that does not look as if it was made by chance."""
    if recorded.path == actual.path:
        return 1.0
    if len(recorded.segments) != len(actual.segments):
        return 0.0
    differing = [(recorded_part, actual_part) for recorded_part,
                 actual_part in zip(recorded.segments, actual.segments, strict=True) if recorded_part != actual_part]
    for recorded_part, actual_part in differing:
        if not (fits(recorded_part, actual_part)
                or (is_made_segment(recorded_part) and is_made_segment(actual_part) and not fixed(recorded_part))):
            return 0.0
    if differences is not None:
        differences += differing
    return 1 - min(MOST_SEGMENTS, ONE_SEGMENT * len(differing))


def is_wild(recorded: Address) -> bool:
    """Whether a secret was replaced in a path."""
    return has_stand_in(recorded.path)
