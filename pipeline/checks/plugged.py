"""Checks of demotape and of other packages: the contract, and running checks that may fail in isolation."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from pipeline import plugins
from pipeline.plugins import Plugin
from schemas import types
from schemas.formats.demonstration import CheckSchema

from .material import Finding, Material


@dataclass(frozen=True)
class Check:
    """`find(material)` gives findings; `kinds` are all that they may be of, none of which another check has."""

    kinds: tuple[str, ...]
    find: Callable[[Material], Iterable[Finding]]


def plugin_checks(names: Collection[str], kinds: Collection[str]) -> list[tuple[Plugin, Check]]:
    """The checks of other packages that work; `names` and `kinds` are demotape's own. Complains of the others."""
    checks = [(plugin, check) for plugin, check in plugins.load_each(plugins.CHECKS, _fault, names)
             if isinstance(check, Check)]
    counts = Counter(kind for _, check in checks for kind in {*check.kinds})
    results = []
    for plugin, check in checks:
        if doubled := [kind for kind in check.kinds if kind in kinds or counts[kind] > 1]:
            plugins.complain(f"{plugin} is skipped: the kind {doubled[0]!r} is used by another check; rename it")
        else:
            results.append((plugin, check))
    return results


def find(material: Material, checks: Iterable[tuple[Plugin, Check]]) -> Iterator[tuple[str, types.Check]]:
    """What the checks of other packages find, by the turn's id. One that breaks is complained of and finds nothing."""
    for plugin, check in checks:
        try:
            yield from _run_check(material.copy(), check)
        except Exception as error:  # foreign code; the demonstration does not depend on it
            plugins.complain(f"{plugins.failure(plugin, error)}; its checks are skipped")


def _run_check(material: Material, check: Check) -> list[tuple[str, types.Check]]:
    """All findings of a check as entries; raises ValueError for one that is not as the contract has it."""
    turns, entries = {turn["id"] for turn in material.turns}, []
    for finding in check.find(material):
        if not isinstance(finding, Finding):
            raise ValueError(f"{type(finding).__name__} is not a Finding")
        if finding.kind not in check.kinds:
            raise ValueError(f"the kind {finding.kind!r} is not among its kinds")
        if finding.turn not in turns:
            raise ValueError(f"unknown turn {finding.turn!r}")
        entry = entry_of(finding)
        if wrong := CheckSchema().validate(entry):
            raise ValueError(f"a finding of kind {finding.kind!r} is wrong: {wrong}")
        entries.append((finding.turn, entry))
    return entries


def entry_of(finding: Finding) -> types.Check:
    """A finding as it stands in a demonstration; see CheckSchema."""
    entry: types.Check = {"kind": finding.kind, "reason": finding.reason}
    if finding.fix:
        entry["fix"] = finding.fix
    return entry


def _fault(name: str, check: object) -> str:
    if not isinstance(check, Check) or not callable(check.find):
        return "it is not a pipeline.checks.Check(kinds, find)"
    if not isinstance(check.kinds, tuple) or not check.kinds:
        return "its kinds are not a tuple of names"
    wrong = [kind for kind in check.kinds if not isinstance(kind, str) or not plugins.NAME.fullmatch(kind)]
    return f"its kind {wrong[0]!r} must consist of lower case letters, digits, hyphens and underscores" if wrong else ""
