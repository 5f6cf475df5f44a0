"""View objects of the page of outcome checks: checks, and their result for each session."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flask_babel import gettext as _

from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.demonstrations.workflow import outcomes
from curator_web.users import Account
from curator_web.web.shell.display_names import KINDS_OF_CHECK, verdict
from pipeline.outcomes import wording
from schemas.types.outcome import Outcome, OutcomeCheck


@dataclass(frozen=True)
class Item:
    """A check in its place. `within`: where a group takes checks; `changes`: whether the form can show it."""

    path: str
    name: str
    kind: str
    words: str
    within: str
    changes: bool
    first: bool
    last: bool
    parts: "tuple[Item, ...]"


@dataclass(frozen=True)
class TriedSession:
    """What the checks say of a session. `own`: it is the one that they were written for."""

    row: Mapping[str, Any]
    demonstration: Demonstration
    who: str
    own: bool
    reasons: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """In words that colours go with."""
        if "failed" in self.row:
            return "unknown"
        return {True: "holds", False: "fails"}.get(self.row["holds"], "unknown")


@dataclass(frozen=True)
class Trial:
    """A trial: its rows, how many of each one's sessions did the task, and the checks as they were tried."""

    rows: list[TriedSession]
    by: dict[str, tuple[int, int]]
    outcome: Outcome


def items(outcome: Outcome | None, section: str) -> list[Item]:
    """The checks of a section of an outcome."""
    sections: Any = outcome or {}
    listed = sections.get(section, ())
    return [_item(entry.get("check", entry), f"{section}.{number}", entry.get("name", ""), number, len(listed))
            for number, entry in enumerate(listed)]


def kind_of(check: OutcomeCheck) -> str:
    """The kind of a check in a word or two."""
    name = wording.kind_of(check)
    return str(KINDS_OF_CHECK.get(name, name))


def _item(check: OutcomeCheck, path: str, name: str, number: int, count: int) -> Item:
    negated = check["kind"] == "not"
    inner, inside = (check["checks"][0], f"{path}.0") if negated else (check, path)
    groups = inner["kind"] in ("all", "any")
    parts = inner["checks"] if groups else []
    return Item(path, name, _("Not: %(kind)s", kind=kind_of(inner)) if negated else kind_of(check),
                wording.describe_check(check), inside if groups else "", inner["kind"] != "not", number == 0,
                number == count - 1, tuple(_item(part, f"{inside}.{part_index}", "", part_index, len(parts))
                                           for part_index, part in enumerate(parts)))


def navigator_name(row: Demonstration, manifest: Mapping[str, Any]) -> str:
    """Who acted in a session, in words."""
    about = manifest.get("provenance", {})
    return _navigator_name(row, about.get("actor", ""), about.get("agent", ""))


def tried(db: Database, result: Mapping[str, Any], account: Account) -> Trial:
    """A trial as this person may see it."""
    visible = outcomes.visible_rows(db, [row["id"] for row in result["rows"]], account)
    rows = [TriedSession(row, visible[row["id"]],
                         _navigator_name(visible[row["id"]], row.get("actor", ""), row.get("agent", "")),
                         row["id"] == result["demonstration"], tuple(_reasons(row, result["outcome"])))
            for row in result["rows"] if row["id"] in visible]
    done = defaultdict(list)
    for tried_row in rows:
        done[tried_row.who].append(tried_row.verdict == "holds")
    return Trial(rows, {name: (sum(results), len(results)) for name, results in done.items()}, result["outcome"])


def _reasons(row: Mapping[str, Any], outcome: Outcome) -> Iterator[str]:
    if "failed" in row:
        yield row["failed"]
    for check, result in zip(outcome["checks"], row.get("checks", ()), strict=False):
        if not result["holds"]:
            state = verdict("unknown" if result["holds"] is None else "fails")
            yield f"{state}: {wording.describe_check(check)}" + (f" ({result['reason']})" if result["reason"] else "")


def _navigator_name(row: Demonstration, actor: str, agent: str) -> str:
    if actor in ("agent", "script"):
        return f"{actor} {agent}".strip()
    return row.recorded_by or (_("a person") if actor == "person" else _("unknown user"))
