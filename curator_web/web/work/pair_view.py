"""View objects of double annotation: rows of the list, and each difference with both values."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l

from curator_web.db.models.core import Demonstration
from curator_web.demonstrations.leases.training_attempts import AnswerComparison
from curator_web.demonstrations.library.pairs import ANNOTATING, TO_COMPARE, Paired
from curator_web.demonstrations.measuring import differences as kinds
from curator_web.demonstrations.measuring.differences import Difference
from curator_web.demonstrations.workflow.adjudicating import Comparison
from curator_web.users import Account
from curator_web.web.review.presentation import ReviewView, TurnView, target_name
from curator_web.web.shell.display_names import PICTURES
from pipeline.outcomes import wording

SHOWN = 300  # characters of a value
NOTHING = "–"
_SAID = ("text", "value", "label", "checked", "key")  # arguments that tell what an added action does
STATE_WORDS = {ANNOTATING: _l("Being annotated"), TO_COMPARE: _l("To compare"), "set-aside": _l("Exclude"),
               "settled": _l("Settled"), "agreed": _l("Nothing differed"), "ended": _l("Ended")}
_WORDS = {kinds.TASK: _l("Task"), kinds.OUTCOME: _l("Outcome checks"), kinds.LABEL: _l("Label"),
          kinds.DROPPED: _l("Dropped or kept"), kinds.ACTION: _l("Intent and target"), kinds.INTENT: _l("Intent"),
          kinds.TARGET: _l("Target"), kinds.ARGUMENTS: _l("Arguments"), kinds.UTTERANCE: _l("Utterance"),
          kinds.SPEAKER: _l("Speaker"), kinds.PICTURE: _l("Screenshot"),
          kinds.TYPING: _l("Typing in one turn or two"), kinds.ADDED: _l("Chat turn in one annotation only"),
          kinds.ORDER: _l("Order of the turns"), kinds.VIDEO: _l("Placement of the video")}


@dataclass(frozen=True)
class PairRow:
    """A pair in the list, as far as who asks may see it. `row`: the one whose task is told; `opens`, `compares`: ids of
    what is opened or compared."""

    paired: Paired
    row: Demonstration
    first: str
    second: str
    opens: str | None
    compares: str | None

    @property
    def state(self) -> str:
        return str(STATE_WORDS[self.paired.state])


@dataclass(frozen=True)
class DifferenceView:
    """A difference: its turn, what it is about, and (field, the first's, the second's) of each that differs."""

    difference: Difference
    turn: TurnView | None
    what: str
    rows: list[tuple[str, ...]]
    pictures: tuple[str | None, str | None]


def row_of(paired: Paired, own_ids: set[str], account: Account) -> PairRow:
    """`own_ids`: which of the two this person annotates. What the other one does is told once both have submitted."""
    is_revealed = account.leads or paired.state != ANNOTATING
    first, second = (_annotator(row) if is_revealed or row.id in own_ids else _("another user")
                     for row in (paired.first, paired.second))
    own = next((row for row in (paired.first, paired.second) if row.id in own_ids), None)
    return PairRow(paired, paired.first if is_revealed or own is None else own, first, second, own.id if own else None,
                   paired.first.id if is_revealed and account.reviews else None)


def _annotator(row: Any) -> str:
    return row.submitted_by or row.lease_who or row.assigned_to or _("none yet")


def shown(comparison: Comparison | AnswerComparison) -> list[DifferenceView]:
    """The differences with words for what both have."""
    first, second = ReviewView(comparison.first), ReviewView(comparison.second)
    turns = {turn.id: turn for view in (second, first) for turn in view.turns}
    return [DifferenceView(difference, turns.get(difference.turn or ""), _words(difference),
                           list(_rows(difference, turns)),
                           _screenshots(difference))
            for difference in comparison.differences]


def _words(difference: Difference) -> str:
    if difference.what == kinds.ADDED and (difference.first or difference.second)["type"] == "browser":
        return _("Added action in one annotation only")
    return _("Label: %(name)s",
             name=difference.name) if difference.what == kinds.LABEL else str(_WORDS[difference.what])


def _rows(difference: Difference, turns: dict[str, TurnView]) -> Iterator[tuple[str, ...]]:
    if difference.what in (kinds.ACTION, kinds.INTENT, kinds.TARGET, kinds.ARGUMENTS):
        yield from _fields(difference.first, difference.second)
    elif difference.what == kinds.PICTURE:
        yield ("marked", *(str(PICTURES[turn["state"].get("screenshot_status") or "good"])
                         for turn in (difference.first, difference.second)))
    elif difference.what == kinds.DROPPED:
        yield ("turn", *(_("dropped") if dropped else _("kept") for dropped in (difference.first, difference.second)))
    elif difference.what == kinds.TYPING:
        yield ("text", *(_typed(side) for side in (difference.first, difference.second)))
    elif difference.what == kinds.ORDER:
        yield ("order", *(_order(names, turns) for names in (difference.first, difference.second)))
    elif difference.what == kinds.ADDED:
        yield ("says" if (difference.first or difference.second)["type"] == "chat" else "does",
               *(_lone(turn) if turn else NOTHING for turn in (difference.first, difference.second)))
    elif difference.what == kinds.OUTCOME:
        first, second = map(wording.describe_outcome, (difference.first, difference.second))
        yield ("checks", *_checks(first, second))
    elif difference.what == kinds.VIDEO:
        yield ("video", _("position"), _("different position"))
    else:
        yield (difference.what, *(_text(value) for value in (difference.first, difference.second)))


def _fields(first: Any, second: Any) -> Iterator[tuple[str, ...]]:
    """The fields of two browser turns that differ."""
    sides = [{"intent": turn["intent"], "target": _target(turn["element"]), **turn["arguments"]}
             for turn in (first, second)]
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        first_text, second_text = (_text(side.get(name)) for side in sides)
        if first_text != second_text:
            yield name, first_text, second_text


def _checks(first: list[str], second: list[str]) -> tuple[str, str]:
    """What only one of two outcomes asks for, beside how much both do; all of both where only the order differs."""
    in_both = sum(check in second for check in first)
    both = [_("%(count)s in both", count=in_both)] if in_both else []
    differing = [[check for check in side if check not in other_side] for side,
                 other_side in ((first, second), (second, first))]
    first_part, second_part = ("; ".join([*both, *side])
                               for side in differing) if any(differing) else map("; ".join, (first, second))
    return _text(first_part), _text(second_part)


def _target(element: Any) -> str:
    """An element in words, with what tells it from others that are called so."""
    if not element:
        return NOTHING
    return _("%(role)s “%(name)s” at %(css)s", role=element["role"] or element["tag"], name=target_name(element),
             css=element["css"])


def _lone(turn: Any) -> str:
    """A turn that was added, in words."""
    if turn["type"] == "chat":
        return _text(f"{turn['speaker']}: {turn['utterance']}")
    said = ", ".join(f"{name} {_text(value)}" for name, value in turn["arguments"].items() if name in _SAID)
    return _text(" ".join(part for part in (turn["intent"], _target(turn["element"]), said) if part))


def _typed(turns: Any) -> str:
    turns = turns if isinstance(turns, list) else [turns] if turns else []
    return _text(" | ".join(str(turn["arguments"].get("text", turn["intent"])) for turn in turns))


def _order(names: list[str], turns: dict[str, TurnView]) -> str:
    """The turns by their numbers in the first."""
    return _text(", ".join(str(turns[name].number) for name in names))


def _screenshots(difference: Difference) -> tuple[str | None, str | None]:
    """The blobs of both screenshots if these are what differs; None and None for any other difference."""
    if difference.what != kinds.PICTURE:
        return None, None
    return difference.first["state"]["screenshot"], difference.second["state"]["screenshot"]


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = ", ".join(value)
    text = value if isinstance(value, str) else NOTHING if value is None else json.dumps(value, ensure_ascii=False)
    return (text if len(text) <= SHOWN else text[:SHOWN] + "…") or NOTHING
