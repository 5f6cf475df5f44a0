"""Assigns the splits of an export, near-duplicates included."""

from collections.abc import Iterable
from contextlib import ExitStack

from .manifest import Manifest
from .ordering import SpooledSources
from .source import Source
from .splits import Group, LeakCheck, Rule


def with_splits(stack: ExitStack, sources: Iterable[Source], rule: Rule, released: dict[str, str]
                ) -> tuple[Iterable[Source], LeakCheck]:
    """The sources with their splits, and the check that has seen them all when they were gone through; with
    near-duplicates they wait on the disk until the stack is closed."""
    groups: list[Group] = []
    if rule.near_duplicates:
        from .near_duplicates import near_duplicates  # here, as datasketch is slow to import

        spooled = stack.enter_context(SpooledSources())
        groups, sources = near_duplicates(spooled.spool(sources), rule), spooled
    leaks = LeakCheck(rule, groups, released)
    return leaks.watch(sources), leaks


def splits_of(manifest: Manifest) -> dict[str, str]:
    """The split of each demonstration of an export."""
    return {entry["id"]: entry["split"] for entry in manifest["demonstrations"] if "split" in entry}
