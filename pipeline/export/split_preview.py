"""The splits that an export would assign, and which demonstrations it would move, without writing anything."""

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from . import releases
from .assigning import splits_of, with_splits
from .manifest import Manifest, ManifestSource
from .selection import Selection, select
from .source import Source, leave_out_dropped
from .splits import Rule


@dataclass(frozen=True)
class Move:
    """A demonstration that changes its split."""

    id: str
    before: str
    after: str
    reason: str


@dataclass(frozen=True)
class SplitPreview:
    """What an export would assign. `compared_with`: the earlier export, empty without one; `new` and `gone` count the
    demonstrations that only this export, or only the earlier one, has."""

    splits: Counter[str]
    near_duplicates: int
    compared_with: str
    moves: list[Move]
    new: int
    gone: int


def preview_splits(sources: Iterable[Source], destination: Path | str, rule: Rule | None = None, *,
                   release: str | None = None, new_splits: bool = False, selection: Selection | None = None,
                   not_selected: Counter[str] | None = None, endpoint_url: str | None = None) -> SplitPreview:
    """The splits that `export` with the same arguments would assign, compared with the earlier export at the
    destination, or with the previous release. Writes nothing.

    Raises InputError where the export would: for a rule that is broken, a release that exists already, and a
    demonstration that cannot be read; also for an earlier export whose manifest is damaged.
    """
    rule = rule or Rule()
    location, before = _earlier(destination, release, endpoint_url)
    known = {entry["id"]: entry for entry in before["demonstrations"]} if before else {}
    released = splits_of(before) if before and release and not new_splits else {}
    if selection is not None:
        sources = select(sources, selection, rule, Counter() if not_selected is None else not_selected)
    with ExitStack() as stack:
        sources, leaks = with_splits(stack, leave_out_dropped(sources, Counter()), rule, released)
        assigned = [(source.id, source.split, source.near_duplicate_of) for source in sources]
        leaks.verify()
    moves = [Move(name, known[name]["split"], split, _reason(known[name], split, duplicate_of, known))
             for name, split, duplicate_of in assigned if name in known and known[name].get("split", split) != split]
    names = {name for name, _, _ in assigned}
    return SplitPreview(Counter(split for _, split, _ in assigned), sum(bool(other) for _, _, other in assigned),
                        location if before else "", moves, len(names - known.keys()), len(known.keys() - names))


def _earlier(destination: Path | str, release: str | None, endpoint_url: str | None) -> tuple[str, Manifest | None]:
    """The export that a new one is compared with, and where it is."""
    if release:
        previous = releases.previous_release(destination, release, endpoint_url)
        location = releases.release_location(destination, previous) if previous else ""
        return location, releases.read_export(location, endpoint_url) if previous else None
    try:
        return str(destination), releases.read_export(destination, endpoint_url)
    except releases.NoExport:
        return "", None


def _reason(before: ManifestSource, split: str, duplicate_of: str, known: dict[str, ManifestSource]) -> str:
    """Why a demonstration changes its split."""
    was_duplicate_of = before.get("near_duplicate_of", "")
    if duplicate_of and duplicate_of != was_duplicate_of:
        return f"near-duplicate of {duplicate_of}{'' if duplicate_of in known else ', which is new'}"
    if was_duplicate_of and duplicate_of != was_duplicate_of:
        return f"no longer a near-duplicate of {was_duplicate_of}"
    if duplicate_of:
        return f"as {duplicate_of}, of which it is a near-duplicate"
    return f"the rule assigns {split}; the rule, or what it knows of the demonstration, has changed"
