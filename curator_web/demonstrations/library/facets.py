"""Facets for filters and counts: one row per demonstration, facet and value, updated by edits.

| facet | values | count |
|---|---|---|
| intent | intents of the turns that stand | turns |
| check | kinds of checks of the turns that stand | turns |
| dropped | why turns that a person dropped asked for a look, or `none` | turns |
| fixed | what was changed: the edits' op | turns |
| label | what is said by labels, as `name=value`, of it or of turns that stand | how often |
| person | who recorded, edited, was assigned or decided | 1 |
| waiting | instructor, navigator: who was waited for, where both speak | seconds |
"""

from collections import Counter
from collections.abc import Iterable

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from curator_web.db.models.core import Facet
from pipeline.chat.signals import waiting_seconds
from pipeline.turns.edits import in_force, turns_of_others
from schemas import types
from schemas.formats.recording import SPEAKERS

VALUE_LENGTH = 100
WAITING = "waiting"
UNCHECKED = "none"
_NO_FIX = ("drop", "restore", "end_before", "begin_at", "join")
Facets = dict[tuple[str, str], int]


def of_turns(base: list[types.Turn], turns: list[types.Turn], edits: list[types.Edit]) -> Facets:
    """The facets of the turns as they are now."""
    counts: Counter = Counter()
    was_dropped = {turn["id"] for turn in base if turn["dropped"]}
    counts.update(("intent", turn["intent"] if turn["type"] == "browser" else "say")
                  for turn in turns if not turn["dropped"])
    for turn in turns:
        if not turn["checks"] and not turn["dropped"]:
            continue
        kinds = {check["kind"] for check in turn["checks"]}
        if not turn["dropped"]:
            counts.update(("check", kind[:VALUE_LENGTH]) for kind in kinds)
        elif turn["id"] not in was_dropped:
            counts.update(("dropped", kind[:VALUE_LENGTH]) for kind in kinds or {UNCHECKED})
    fixed = {(edit["op"], edit.get("turn")) for _, edit in in_force(edits) if edit["op"] not in _NO_FIX}
    away = {turn["id"] for part in turns_of_others(base, edits) for turn in part}
    counts.update(("fixed", op[:VALUE_LENGTH]) for op, turn_id in fixed if turn_id not in away)
    return dict(counts)


def of_labels(labels: dict[str, list[str]], turns: list[types.Turn]) -> Facets:
    """The facets of what people say of a demonstration and of its turns."""
    said: list[dict[str, list[str]]] = [labels, *(turn["labels"] for turn in turns
                                                  if "labels" in turn and not turn["dropped"])]
    return dict(Counter(("label", f"{name}={value}"[:VALUE_LENGTH]) for labels_said in said
                        for name, values in labels_said.items() for value in values))


def of_waiting(demonstration: types.Demonstration) -> Facets:
    """How long each of two speakers was waited for in the session; nothing where one alone speaks."""
    turns, signals = demonstration["turns"], demonstration.get("signals", [])
    speakers = {turn["speaker"] for turn in turns if turn["type"] == "chat"} | {signal["speaker"] for signal in signals}
    if len(speakers) < len(SPEAKERS):
        return {}
    return {(WAITING, role): round(seconds) for role, seconds in waiting_seconds(turns, signals).items()}


def refresh(session: Session, demonstration_id: str, wanted: Facets, kinds: Iterable[str],
            person: str | None = None) -> None:
    """Make the demonstration's facets of these kinds the wanted ones, touching only what differs.

    `person`: somebody who has to do with it from now on.
    """
    is_own, before = Facet.demonstration_id == demonstration_id, stored_facets(session, demonstration_id,
                                                                               [*kinds, "person"])
    wanted = wanted | {key: count for key, count in before.items() if key[0] == "person"}
    if person:
        wanted["person", person] = 1
    for facet, value in [key for key, count in before.items() if wanted.get(key) != count]:
        session.execute(delete(Facet).where(is_own, Facet.facet == facet, Facet.value == value))
    new = [{"facet": facet, "value": value, "demonstration_id": demonstration_id, "count": count}
           for (facet, value), count in wanted.items() if before.get((facet, value)) != count]
    if new:
        session.execute(insert(Facet), new)


def stored_facets(session: Session, demonstration_id: str, kinds: Iterable[str]) -> Facets:
    """The facets of these kinds that a demonstration has."""
    rows = session.execute(select(Facet.facet, Facet.value, Facet.count).where(
        Facet.demonstration_id == demonstration_id, Facet.facet.in_(list(kinds))))
    return {(facet, value): count for facet, value, count in rows}


TURN_KINDS = ("intent", "check", "dropped", "fixed", "label")


def add_person(session: Session, demonstration_id: str, user_name: str) -> None:
    """Note that somebody has to do with a demonstration."""
    if session.get(Facet, ("person", user_name, demonstration_id)) is None:
        session.add(Facet(facet="person", value=user_name, demonstration_id=demonstration_id, count=1))
