"""Editing of outcome checks: add, replace, move, group, ungroup, remove. Pure functions.

A place names a check: `checks.0` is the first, `checks.0.2` the third in that group, `checkpoints.1` what is wanted at
the second checkpoint.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from schemas import VERSIONS, InputError
from schemas.formats.outcome import FORMAT
from schemas.types.outcome import Outcome, OutcomeCheck

CHECKS, CHECKPOINTS = SECTIONS = ("checks", "checkpoints")
_GONE = "field place: this check no longer exists; reload the page"


def check_at(outcome: Outcome, path: str) -> OutcomeCheck:
    """The check at a place; raises InputError when there is none."""
    _, siblings, index = _locate(outcome, path)
    return _inner(siblings[index])


def name_at(outcome: Outcome, path: str) -> str:
    """The name of the checkpoint at a place; empty for any other check."""
    _, siblings, index = _locate(outcome, path)
    return str(siblings[index].get("name", ""))


def add_check(outcome: Outcome | None, check: OutcomeCheck, name: str = "", within: str = "") -> Outcome:
    """With one check more, behind the others: in the group at `within`, as a checkpoint with this name, or else at the
    end of all. Raises InputError where `within` is no group, or there would be checkpoints alone."""
    if within and outcome:
        copy, siblings, index = _locate(outcome, within)
        group = _inner(siblings[index])
        if group["kind"] not in ("all", "any"):
            raise InputError("field within: checks can only be added to a group")
        group["checks"].append(check)
        return copy
    copy = deepcopy(outcome) if outcome else {"format": FORMAT, "version": VERSIONS[FORMAT], "checks": []}
    if name:
        copy.setdefault("checkpoints", []).append({"name": name, "check": check})
    else:
        copy["checks"].append(check)
    return _require_some(copy)


def replace_check(outcome: Outcome, path: str, check: OutcomeCheck, name: str = "") -> Outcome:
    """With another check at a place; `name`: of a checkpoint. Raises InputError."""
    copy, siblings, index = _locate(outcome, path)
    siblings[index] = {"name": name, "check": check} if "name" in siblings[index] else check
    return copy


def remove_check(outcome: Outcome, path: str) -> Outcome | None:
    """Without the check at a place, and without a group that has none left; None for the last of all. Raises
    InputError, also where checkpoints would be left alone."""
    copy, siblings, index = _locate(outcome, path)
    del siblings[index]
    parent = path.rpartition(".")[0]
    if not siblings and parent not in SECTIONS:
        return remove_check(outcome, parent)
    if not copy.get("checkpoints", True):
        del copy["checkpoints"]
    return _require_some(copy) if copy["checks"] or "checkpoints" in copy else None


def move_check(outcome: Outcome, path: str, step: int) -> Outcome:
    """With a check so many places further down among those beside it, or up. Raises InputError."""
    copy, siblings, index = _locate(outcome, path)
    siblings.insert(min(max(index + step, 0), len(siblings)), siblings.pop(index))
    return copy


def combine_checks(outcome: Outcome, paths: Sequence[str], kind: str) -> Outcome:
    """With checks that stand beside each other in one group of a kind, `all` or `any`, where the first stood. Raises
    InputError for fewer than two, and for checkpoints, which hold one after the other."""
    paths = sorted(set(paths), key=lambda path: [int(part) if part.isdecimal() else 0 for part in path.split(".")])
    if kind not in ("all", "any"):
        raise InputError("field kind: choose all or any")
    if len(paths) < 2:
        raise InputError("field place: select at least two checks")
    parents = {path.rpartition(".")[0] for path in paths}
    if len(parents) > 1 or parents == {CHECKPOINTS}:
        raise InputError("field place: select checks of the same list; checkpoints are reached in order")
    group: OutcomeCheck = {"kind": kind, "checks": [check_at(outcome, path) for path in paths]}
    copy, siblings, first = _locate(outcome, paths[0])
    for path in reversed(paths):
        del siblings[_locate(outcome, path)[2]]
    siblings.insert(first, group)
    return copy


def ungroup_check(outcome: Outcome, path: str) -> Outcome:
    """With the checks of a group in its place. Raises InputError for what is none, and for a checkpoint's."""
    copy, siblings, index = _locate(outcome, path)
    group = siblings[index]
    if group.get("kind") not in ("all", "any"):
        raise InputError("field place: only a group can be dissolved, unless a checkpoint or a “not” needs it")
    siblings[index:index + 1] = group["checks"]
    return copy


def _locate(outcome: Outcome, path: str) -> tuple[Outcome, list[Any], int]:
    """A copy, the list in it that a place is in, and where in that."""
    copy: Any = deepcopy(outcome)
    section, *numbers = path.split(".")
    if section not in SECTIONS or not numbers or not all(part.isascii() and part.isdecimal() and len(part) < 6
                                                         for part in numbers):
        raise InputError(_GONE)
    siblings: Any = copy.get(section, [])
    *way, last = (int(part) for part in numbers)
    for number in way:
        siblings = _inner(siblings[number]).get("checks", []) if number < len(siblings) else []
    if last >= len(siblings):
        raise InputError(_GONE)
    return copy, siblings, last


def _inner(entry: Any) -> Any:
    """The check itself, also of a checkpoint."""
    return entry["check"] if "name" in entry else entry


def _require_some(outcome: Outcome) -> Outcome:
    if not outcome["checks"]:
        raise InputError("field checks: checkpoints alone do not decide the task; add at least one check of the end")
    return outcome
