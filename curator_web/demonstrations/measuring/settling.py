"""The edits that settle differences between two annotations, verified against what was chosen; pure."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pipeline.turns.edits import in_force, standing
from pipeline.turns.programs import PAGE_FIELDS, PICTURE_FIELDS, Program
from schemas import InputError, types

from .difference import (
    ACTION,
    ADDED,
    ARGUMENTS,
    DROPPED,
    INTENT,
    LABEL,
    ORDER,
    PICTURE,
    TARGET,
    TYPING,
    VIDEO,
    Annotated,
    Difference,
)

_Labels = Sequence[Mapping[str, Any]]
_UNCOMPARED = {"checks", "dropped", "labels", "state"}  # of a turn; labels and state are compared in part


def edits_of_all(first: Annotated, second: Annotated, listed: Sequence[Difference], labels: _Labels
                 ) -> list[tuple[Any, ...] | None]:
    """For each difference the edits that take the second's, one after the other; None where no edit does it. Together
    they make exactly the turns that the second keeps: where they would not, those of the turns concerned are None."""
    program = Program(first[0]["turns"])
    edits = [_edits(program, difference, second, labels) for difference in listed]
    wrong = _mismatches(program.turns, second[0]["turns"], labels)
    if wrong and not _requires_hand(listed, edits):
        concerned = [_concerns(difference, wrong) for difference in listed]
        edits = [None if not any(concerned) or concerned[number] else steps for number, steps in enumerate(edits)]
    return edits


def edits_of_chosen(first: Annotated, second: Annotated, listed: Sequence[Difference], chosen: Collection[str],
                    labels: _Labels) -> list[Any]:
    """The edits that take the second's of the differences with these keys.

    Raises InputError where no edit does it; where all are chosen, also unless the result is exactly what the second
    keeps.
    """
    program = Program(first[0]["turns"])
    steps: list[Any] = []
    for difference in listed:
        if difference.key in chosen:
            edits = _edits(program, difference, second, labels)
            if edits is None:
                raise InputError(f"field {difference.key[:80]}: no edit takes the second's with these choices")
            steps += edits
    if len(chosen) == len(listed) and (wrong := _mismatches(program.turns, second[0]["turns"], labels)):
        raise InputError(f"field turn: no edits make {min(wrong)[:80]!r} as the second has it")
    return steps


def _edits(program: Program, difference: Difference, second: Annotated, labels: _Labels) -> tuple[Any, ...] | None:
    """The edits of one difference after those that the program made; it is as before where there are none."""
    turns, count = program.turns, len(program.edits)
    try:
        if difference.turn is None and difference.what != ORDER:
            return _edits_of_demonstration(difference, second)
        _take(program, difference, second, labels)
    except (InputError, KeyError):
        program.turns, program.edits[count:] = turns, []
        return None
    return tuple(program.edits[count:])


def _edits_of_demonstration(difference: Difference, second: Annotated) -> tuple[Any, ...] | None:
    """Of the demonstration as a whole: no turns change."""
    if difference.what == VIDEO:
        return tuple(edit for _, edit in standing(second[1]) if edit["op"] == "place_video")[-1:] or None
    if difference.what == LABEL:
        return ({"op": "label", "label": difference.name, "said": difference.second},)
    return ({"op": f"set_{difference.what}", difference.what: difference.second},)


def _take(program: Program, difference: Difference, second: Annotated, labels: _Labels) -> None:
    """What the second has of a turn, or its order of all turns."""
    order = [turn["id"] for turn in second[0]["turns"]]
    what, name = difference.what, difference.turn or ""
    if what == ORDER:
        program.arrange(order)
    elif what == ADDED and difference.second is None:
        program.set_dropped(name, True)
    elif what == ADDED:
        program.add(difference.second, order, _added(second[1], name))
    elif what == TYPING:
        program.regroup([turn["id"] for turn in difference.first], difference.second, order)
    elif what == LABEL:
        program.make({"op": "label", "label": difference.name, "said": difference.second, "turn": name})
    elif what == DROPPED and difference.second:
        program.set_dropped(name, True)
    else:
        wanted: Any = next(turn for turn in second[0]["turns"] if turn["id"] == name)
        _take_content(program, what, wanted, labels)


def _take_content(program: Program, what: str, wanted: Any, labels: _Labels) -> None:
    name = wanted["id"]
    if what == DROPPED:
        program.set_content(name, wanted)
        _take_labels(program, wanted, labels)
    elif what in (ACTION, TARGET):
        program.set_target(name, wanted["element"])
        if what == ACTION or "x" in wanted["arguments"]:
            program.set_action(name, wanted)
    elif what in (INTENT, ARGUMENTS):
        program.set_action(name, wanted)
    elif what == PICTURE:
        program.set_picture(name, wanted["state"])
    else:
        program.make({"op": f"set_{what}", "turn": name, what: wanted[what]})


def _take_labels(program: Program, wanted: Any, labels: _Labels) -> None:
    present, other = (turn.get("labels", {}) for turn in (program.turn(wanted["id"]), wanted))
    for label in (label["name"] for label in labels if label["scope"] == "turn"):
        if sorted(present.get(label, [])) != sorted(other.get(label, [])):
            program.make({"op": "label", "label": label, "said": other.get(label, []), "turn": wanted["id"]})


def _added(log: Sequence[types.Edit], name: str) -> types.Turn | None:
    return next((edit["added"] for _, edit in in_force(log) if edit["op"] == "add" and edit["turn"] == name), None)


# ---- Verification -------------------------------------------------------------------------------------------------


def _mismatches(turns: Sequence[types.Turn], wanted: Sequence[types.Turn], labels: _Labels) -> set[str]:
    """Ids of the kept turns that are not as wanted: other content, other position, or not there at all."""
    label_names = {label["name"] for label in labels if label["scope"] == "turn"}
    now, then = ({turn["id"]: _compared(turn, label_names) for turn in side if not turn["dropped"]}
                 for side in (turns, wanted))
    wrong = {name for name in now.keys() | then.keys() if now.get(name) != then.get(name)}
    order, wanted_order = ([name for name in side if name in now and name in then] for side in (now, then))
    return wrong | {name for name, other in zip(order, wanted_order, strict=True) if name != other}


def _compared(turn: types.Turn, label_names: Collection[str]) -> Any:
    """What annotators can make differ in a turn: neither its checks, nor where a placement puts it in the video."""
    compared: dict[str, Any] = {name: value for name, value in turn.items() if name not in _UNCOMPARED}
    compared["labels"] = {name: sorted(said) for name, said in turn.get("labels", {}).items() if name in label_names}
    if turn["type"] == "browser" and turn["state"]:
        compared["state"] = {name: turn["state"].get(name) for name in (*PAGE_FIELDS, *PICTURE_FIELDS)}
    return compared


def _requires_hand(listed: Sequence[Difference], edits: Sequence[tuple[Any, ...] | None]) -> bool:
    return any(steps is None for difference, steps in zip(listed, edits, strict=True) if difference.what != VIDEO)


def _concerns(difference: Difference, names: set[str]) -> bool:
    """Whether a difference is of one of these turns, or of their positions."""
    if difference.what == TYPING:
        return any(turn["id"] in names for turn in [*difference.first, *difference.second])
    return difference.turn in names or difference.what == ORDER
