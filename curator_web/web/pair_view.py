"""What the pages of pairs show: rows of the list, and each difference with what both have there, as plain text."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l

from curator_web.db.models import Demonstration
from curator_web.demonstrations import differences as kinds
from curator_web.demonstrations.adjudicating import Comparison
from curator_web.demonstrations.differences import Difference
from curator_web.demonstrations.pairs import ANNOTATING, TO_COMPARE, Paired
from curator_web.demonstrations.tries import Compared
from curator_web.users import Account
from pipeline.outcomes import wording

from .presentation import ReviewView, TurnView, target_name
from .words import PICTURES

SHOWN = 300  # characters of a value
NOTHING = "–"
_SAID = ("text", "value", "label", "checked", "key")  # arguments that tell what an added action does
STATE_WORDS = {ANNOTATING: _l("Being annotated"), TO_COMPARE: _l("To compare"), "set-aside": _l("Set aside"),
               "settled": _l("Settled"), "agreed": _l("Nothing differed"), "ended": _l("Ended")}
_WORDS = {kinds.TASK: _l("Task"), kinds.OUTCOME: _l("Outcome checks"), kinds.LABEL: _l("Label"),
          kinds.DROPPED: _l("Dropped or kept"), kinds.ACTION: _l("Intent and target"), kinds.INTENT: _l("Intent"),
          kinds.TARGET: _l("Target"), kinds.ARGUMENTS: _l("Arguments"), kinds.UTTERANCE: _l("Utterance"),
          kinds.SPEAKER: _l("Speaker"), kinds.PICTURE: _l("Screenshot"),
          kinds.TYPING: _l("Typing in one turn or two"), kinds.ADDED: _l("Chat turn in one alone"),
          kinds.ORDER: _l("Order of the turns"), kinds.VIDEO: _l("Place of the video")}


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
class Shown:
    """A difference: its turn, what it is about, and (field, the first's, the second's) of each that differs."""

    difference: Difference
    turn: TurnView | None
    what: str
    rows: list[tuple[str, ...]]
    pictures: tuple[str | None, str | None]


def row_of(paired: Paired, mine: set[str], account: Account) -> PairRow:
    """`mine`: which of the two this person annotates. What the other one does is told once both have submitted."""
    told = account.leads or paired.state != ANNOTATING
    first, second = (_who(row) if told or row.id in mine else _("somebody else")
                     for row in (paired.first, paired.second))
    own = next((row for row in (paired.first, paired.second) if row.id in mine), None)
    return PairRow(paired, paired.first if told or own is None else own, first, second, own.id if own else None,
                   paired.first.id if told and account.reviews else None)


def _who(row: Any) -> str:
    return row.submitted_by or row.lease_who or row.assigned_to or _("nobody yet")


def shown(found: Comparison | Compared) -> list[Shown]:
    """The differences with words for what both have."""
    first, second = ReviewView(found.first), ReviewView(found.second)
    turns = {turn.id: turn for view in (second, first) for turn in view.turns}
    return [Shown(each, turns.get(each.turn or ""), _words(each), list(_rows(each, turns)), _pictures(each))
            for each in found.differences]


def _words(each: Difference) -> str:
    if each.what == kinds.ADDED and (each.first or each.second)["type"] == "browser":
        return _("Added action in one alone")
    return _("Label: %(name)s", name=each.name) if each.what == kinds.LABEL else str(_WORDS[each.what])


def _rows(each: Difference, turns: dict[str, TurnView]) -> Iterator[tuple[str, ...]]:
    if each.what in (kinds.ACTION, kinds.INTENT, kinds.TARGET, kinds.ARGUMENTS):
        yield from _fields(each.first, each.second)
    elif each.what == kinds.PICTURE:
        yield ("marked", *(str(PICTURES[turn["state"].get("screenshot_status") or "good"])
                         for turn in (each.first, each.second)))
    elif each.what == kinds.DROPPED:
        yield ("turn", *(_("dropped") if dropped else _("kept") for dropped in (each.first, each.second)))
    elif each.what == kinds.TYPING:
        yield ("text", *(_typed(each_side) for each_side in (each.first, each.second)))
    elif each.what == kinds.ORDER:
        yield ("order", *(_order(names, turns) for names in (each.first, each.second)))
    elif each.what == kinds.ADDED:
        yield ("says" if (each.first or each.second)["type"] == "chat" else "does",
               *(_lone(turn) if turn else NOTHING for turn in (each.first, each.second)))
    elif each.what == kinds.OUTCOME:
        yield ("checks", *_checks(wording.describe_outcome(each.first), wording.describe_outcome(each.second)))
    elif each.what == kinds.VIDEO:
        yield ("video", _("placed so"), _("placed otherwise"))
    else:
        yield (each.what, *(_text(value) for value in (each.first, each.second)))


def _fields(first: Any, second: Any) -> Iterator[tuple[str, ...]]:
    """The fields of two browser turns that differ."""
    sides = [{"intent": turn["intent"], "target": _target(turn["element"]), **turn["arguments"]}
             for turn in (first, second)]
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        ours, theirs = (_text(side.get(name)) for side in sides)
        if ours != theirs:
            yield name, ours, theirs


def _checks(first: list[str], second: list[str]) -> tuple[str, str]:
    """What only one of two outcomes asks for, beside how much both do; all of both where only the order differs."""
    same = sum(each in second for each in first)
    both = [_("%(count)s that both have", count=same)] if same else []
    apart = [[each for each in side if each not in other] for side, other in ((first, second), (second, first))]
    one, two = ("; ".join([*both, *side]) for side in apart) if any(apart) else map("; ".join, (first, second))
    return _text(one), _text(two)


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
    return _text(" ".join(each for each in (turn["intent"], _target(turn["element"]), said) if each))


def _typed(turns: Any) -> str:
    turns = turns if isinstance(turns, list) else [turns] if turns else []
    return _text(" | ".join(str(turn["arguments"].get("text", turn["intent"])) for turn in turns))


def _order(names: list[str], turns: dict[str, TurnView]) -> str:
    """The turns by their numbers in the first."""
    return _text(", ".join(str(turns[name].number) for name in names))


def _pictures(each: Difference) -> tuple[str | None, str | None]:
    """Screenshots of both, where these are what differs."""
    if each.what != kinds.PICTURE:
        return None, None
    return each.first["state"]["screenshot"], each.second["state"]["screenshot"]


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = ", ".join(value)
    text = value if isinstance(value, str) else NOTHING if value is None else json.dumps(value, ensure_ascii=False)
    return (text if len(text) <= SHOWN else text[:SHOWN] + "…") or NOTHING
