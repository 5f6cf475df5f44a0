"""Differences between two annotations of one recording, and the edits that turn the first into the second; pure.

Turns are matched by their ids. What hangs together is one difference: an intent and its arguments, the target of a
pointer action and where the pointer was, two turns of typing that one of the two merged or split.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from curator_web.demonstrations.library.summary import moved
from pipeline.turns.edits import WITH_POINTER, apply_edits, standing
from schemas import InputError, types

TASK, LABEL, DROPPED, ACTION, INTENT, TARGET, ARGUMENTS, UTTERANCE, SPEAKER, PICTURE, TYPING, ADDED, ORDER, VIDEO = (
    "task", "label", "dropped", "action", "intent", "target", "arguments", "utterance", "speaker", "picture", "typing",
    "added", "order", "video")
OUTCOME = "outcome"
Annotated = tuple[types.Demonstration, list[types.Edit]]  # as it is after its edits, and these
ObservedCounts = dict[str, list[list[Any]]]


@dataclass(frozen=True)
class Difference:
    """`name`: of the label. `first`, `second`: what each has there, None for nothing. `edits`: what makes the second's
    of the first's; None where no edit can, so that it is done by hand."""

    what: str
    turn: str | None
    name: str
    first: Any
    second: Any
    edits: tuple[Any, ...] | None

    @property
    def key(self) -> str:
        """Tells it from the others of a demonstration."""
        return "/".join((self.what, self.turn or "", self.name))


def differences(first: Annotated, second: Annotated, labels: Sequence[Mapping[str, Any]]) -> list[Difference]:
    """All of them, in the order of the turns; of labels those that are asked (`labels.definitions`)."""
    (first_demonstration, log), (second_demonstration, other_log) = first, second
    first_turns, second_turns = ({turn["id"]: turn for turn in demonstration["turns"]}
                                 for demonstration in (first_demonstration, second_demonstration))
    all_differences = [*_demonstration_differences(first_demonstration, second_demonstration, labels)]
    joined: set[str] = set()
    for turn in [*second_demonstration["turns"],
                 *(turn for turn in first_demonstration["turns"] if turn["id"] not in second_turns)]:
        if turn["id"] not in first_turns or turn["id"] not in second_turns:
            all_differences += [difference for difference in (_added_turn_difference(turn, first_turns, second_turns,
                                                                                     second_demonstration, joined),)
                                if difference]
    for turn in first_demonstration["turns"]:
        if turn["id"] in second_turns:
            all_differences += _turn_differences(turn, second_turns[turn["id"]], labels, turn["id"] in joined)
    all_differences += _order(first_demonstration, second_demonstration, moved(log) | moved(other_log))
    if first_demonstration.get("alignment") != second_demonstration.get("alignment"):
        placements = [edit for _, edit in standing(other_log) if edit["op"] == "place_video"]
        all_differences.append(Difference(VIDEO, None, "", None, None, tuple(placements[-1:]) or None))
    order = {turn["id"]: number for number,
             turn in enumerate([*first_demonstration["turns"], *second_demonstration["turns"]])}
    return sorted((_without_failing_edits(difference, first_demonstration["turns"])
                   for difference in all_differences),
                  key=lambda difference: (difference.what in (ORDER, VIDEO), order.get(difference.turn or "", -1)))


def observed(first: types.Demonstration, second: types.Demonstration,
             labels: Sequence[Mapping[str, Any]]) -> ObservedCounts:
    """What both say of the same, counted, for the agreement: `dropped` of all turns, `intent` and `target` of those
    that both keep, and each label that both gave, named by scope and name. Texts are left out."""
    second_turns = {turn["id"]: turn for turn in second["turns"]}
    observed_counts: dict[str, Counter[tuple[str, str]]] = {kind: Counter() for kind in (DROPPED, INTENT, TARGET)}
    for first_turn in first["turns"]:
        second_turn = second_turns.get(first_turn["id"])
        if second_turn is None:
            continue
        observed_counts[DROPPED][_yes(first_turn["dropped"]), _yes(second_turn["dropped"])] += 1
        if first_turn["dropped"] or second_turn["dropped"]:
            continue
        if first_turn["type"] == "browser" and second_turn["type"] == "browser":
            observed_counts[INTENT][first_turn["intent"], second_turn["intent"]] += 1
            if first_turn["element"] or second_turn["element"]:
                observed_counts[TARGET][_uid(first_turn), _uid(second_turn)] += 1
        _count_labels(observed_counts, "turn", first_turn.get("labels", {}), second_turn.get("labels", {}), labels)
    _count_labels(observed_counts, "demonstration", first.get("labels", {}), second.get("labels", {}), labels)
    return {kind: [[*said, count] for said, count in sorted(counts.items())] for kind,
            counts in observed_counts.items()}


def agreed(base: types.Demonstration, known: Annotated, answer: Annotated,
           labels: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """On how many points one annotation is like another, and of how many: labels but texts, what is dropped, intents
    and targets, each where one of the two has it otherwise than `base`, as it was recorded. What both left as it was
    is no point, so that nobody agrees by doing nothing; nor is what is said of a turn that only one of them keeps."""
    texts = {label["name"] for label in labels if label["kind"] == "text"}
    recorded: Annotated = (base, [])
    differing, *changed = (_points(differences(*both, labels), texts)
                           for both in ((known, answer), (recorded, known), (recorded, answer)))
    lone = {turn for kind, turn, _ in differing if kind == DROPPED}
    points = {point for point in differing.union(*changed) if point[0] == DROPPED or point[1] not in lone}
    return len(points - differing), len(points)


def counts(difference: Difference, labels: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a difference is one of those that `agreed` counts."""
    return bool(_points([difference], {label["name"] for label in labels if label["kind"] == "text"}))


def _points(differences: list[Difference], texts: AbstractSet[str]) -> set[tuple[str, str | None, str]]:
    points = set()
    for difference in differences:
        if difference.what == ACTION:
            points |= {(INTENT, difference.turn, ""), (TARGET, difference.turn, "")}
        elif difference.what in (DROPPED, INTENT, TARGET) or (difference.what == LABEL
                                                              and difference.name not in texts):
            points.add((difference.what, difference.turn, difference.name))
    return points


def _count_labels(observed_counts: dict[str, Counter[tuple[str, str]]], scope: str,
                  first_labels: Mapping[str, list[str]],
                  second_labels: Mapping[str, list[str]], labels: Sequence[Mapping[str, Any]]) -> None:
    for label in labels:
        name = label["name"]
        if label["scope"] == scope and label["kind"] != "text" and first_labels.get(name) and second_labels.get(name):
            counts = observed_counts.setdefault(f"{scope}: {name}", Counter())
            counts["\n".join(sorted(first_labels[name])), "\n".join(sorted(second_labels[name]))] += 1


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _uid(turn: types.BrowserTurn) -> str:
    return turn["element"]["uid"] or "" if turn["element"] else ""


def _demonstration_differences(first: types.Demonstration, second: types.Demonstration,
                               labels: Sequence[Mapping[str, Any]]) -> Iterator[Difference]:
    if first["task"] != second["task"]:
        yield Difference(TASK, None, "", first["task"], second["task"], ({"op": "set_task", "task": second["task"]},))
    first_outcome, second_outcome = first.get("outcome"), second.get("outcome")
    if first_outcome != second_outcome:
        yield Difference(OUTCOME, None, "", first_outcome, second_outcome,
                         ({"op": "set_outcome", "outcome": second_outcome},))
    yield from _labels(first.get("labels", {}), second.get("labels", {}), "demonstration", None, labels)


def _labels(first_labels: Mapping[str, list[str]], second_labels: Mapping[str, list[str]], scope: str, turn: str | None,
            labels: Sequence[Mapping[str, Any]]) -> Iterator[Difference]:
    for name in (label["name"] for label in labels if label["scope"] == scope):
        first_values, second_values = first_labels.get(name, []), second_labels.get(name, [])
        if sorted(first_values) != sorted(second_values):
            edit = {"op": "label", "label": name, "said": second_values} | ({"turn": turn} if turn else {})
            yield Difference(LABEL, turn, name, first_values, second_values, (edit,))


def _turn_differences(first: types.Turn, second: types.Turn, labels: Sequence[Mapping[str, Any]],
                      joined: bool) -> Iterator[Difference]:
    """Of a turn that both have. `joined`: what was typed there is part of another difference."""
    turn, changes = first["id"], list(_content(first, second))
    if joined:
        changes = [change for change in changes if change.what not in (ARGUMENTS, ACTION)]
    changes += _labels(first.get("labels", {}), second.get("labels", {}), "turn", turn, labels)
    if first["dropped"] != second["dropped"]:  # what else differs comes along: it is of no turn that both keep
        edits = [edit for change in changes for edit in change.edits or ()]
        op = {"op": "drop" if second["dropped"] else "restore", "turn": turn}
        yield Difference(DROPPED, turn, "", first["dropped"], second["dropped"], (op, *edits))
    elif not first["dropped"]:
        yield from changes


def _content(first: types.Turn, second: types.Turn) -> Iterator[Difference]:
    turn = first["id"]
    if first["type"] == "chat" or second["type"] == "chat":
        for field in (UTTERANCE, SPEAKER):
            if first.get(field) != second.get(field):
                edit = {"op": f"set_{field}", "turn": turn, field: second.get(field)}
                yield Difference(field, turn, "", first.get(field), second.get(field), (edit,))
        return
    yield from _action(first, second)
    yield from _picture(first, second)


def _action(first: types.BrowserTurn, second: types.BrowserTurn) -> Iterator[Difference]:
    turn = first["id"]
    targets, intents = first["element"] != second["element"], first["intent"] != second["intent"]
    said = {"op": "set_arguments", "turn": turn, "arguments": second["arguments"]}
    if intents:
        said |= {"op": "set_intent", "intent": second["intent"]}
    retarget = {"op": "retarget", "turn": turn, "element": second["element"]}
    does = intents or first["arguments"] != second["arguments"]
    if targets and does and {first["intent"], second["intent"]} & set(WITH_POINTER):
        yield Difference(ACTION if intents else TARGET, turn, "", first, second, (retarget, said))
        return
    if targets:
        yield Difference(TARGET, turn, "", first, second, (retarget,) if second["element"] else None)
    if does:
        yield Difference(INTENT if intents else ARGUMENTS, turn, "", first, second, (said,))


def _picture(first: types.BrowserTurn, second: types.BrowserTurn) -> Iterator[Difference]:
    first_state, second_state = first["state"], second["state"]
    if not first_state or not second_state:
        return
    edits: list[dict[str, Any]] = []
    if first_state["screenshot"] != second_state["screenshot"]:
        edits.append({"op": "set_screenshot", "turn": first["id"], "screenshot": second_state["screenshot"],
                      "screenshot_time": second_state["screenshot_time"],
                      "source": second_state.get("screenshot_source", "captured")})
    if edits or first_state.get("screenshot_status") != second_state.get("screenshot_status"):
        edits.append({"op": "set_screenshot_status", "turn": first["id"],
                      "status": second_state.get("screenshot_status", "good")})
        yield Difference(PICTURE, first["id"], "", first, second, tuple(edits))


def _added_turn_difference(turn: types.Turn, first_turns: Mapping[str, types.Turn],
                           second_turns: Mapping[str, types.Turn],
                           second: types.Demonstration, joined: set[str]) -> Difference | None:
    """Of a turn that one of them has alone: one that was added, or typing that was split or merged."""
    name, only_second = turn["id"], turn["id"] not in first_turns
    if turn["type"] == "chat" or not turn["events"]:
        if only_second:
            return Difference(ADDED, name, "", None, turn, (
                {"op": "add", "turn": name, "added": turn, "after": _before(name, second["turns"], first_turns)},))
        return None if turn["dropped"] else Difference(ADDED, name, "", turn, None, ({"op": "drop", "turn": name},))
    source_turn = next((candidate for candidate in (first_turns if only_second else second_turns).values()
                        if candidate["type"] == "browser"
                        and set(turn["events"]) < set(candidate["events"])), None)
    parted = second_turns.get(source_turn["id"]) if source_turn and only_second else source_turn
    if source_turn is None or parted is None or parted["type"] == "chat" or source_turn["id"] not in first_turns:
        return Difference(TYPING, name, "", None, turn, None) if only_second else Difference(
            TYPING, name, "", turn, None, ({"op": "drop", "turn": name},))
    joined.add(source_turn["id"])
    if only_second:
        return Difference(TYPING, source_turn["id"], "", [source_turn], [parted, turn], (
            {"op": "split", "turn": source_turn["id"], "arguments": parted["arguments"], "added": turn},))
    return Difference(TYPING, source_turn["id"], "", [first_turns[source_turn["id"]], turn], [parted], (
        {"op": "merge", "turn": source_turn["id"], "other": name},
        {"op": "set_arguments", "turn": source_turn["id"], "arguments": parted["arguments"]}))


def _before(name: str, turns: Sequence[types.Turn], present: Mapping[str, Any]) -> str | None:
    """The turn before one, of those that are there."""
    last = None
    for turn in turns:
        if turn["id"] == name:
            return last
        last = turn["id"] if turn["id"] in present else last
    return last


def _order(first_demonstration: types.Demonstration, second_demonstration: types.Demonstration,
           moved_ids: set[str]) -> Iterator[Difference]:
    """The order of the turns that both have; `placed`: those that somebody moved."""
    second_ids = {turn["id"] for turn in second_demonstration["turns"]}
    first_ids = {turn["id"] for turn in first_demonstration["turns"]}
    first, second = ([turn["id"] for turn in demonstration["turns"] if turn["id"] in first_ids & second_ids]
                     for demonstration in (first_demonstration, second_demonstration))
    if first != second:
        edits = tuple({"op": "move", "turn": name, "after": second[index - 1] if index else None}
                      for index, name in enumerate(second) if name in moved_ids)
        yield Difference(ORDER, None, "", first, second, edits)


def _without_failing_edits(difference: Difference, turns: list[types.Turn]) -> Difference:
    """With no edits, where they do not fit."""
    try:
        apply_edits(turns, difference.edits or ())
    except (InputError, KeyError):
        return Difference(difference.what, difference.turn, difference.name, difference.first, difference.second, None)
    return difference
