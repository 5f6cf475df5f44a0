"""Differences between two annotations of one recording; pure.

Turns are matched by their ids. What belongs together is one difference: an intent and its arguments, the target of a
pointer action and where the pointer was, all turns of typing that were made of the same events by merging or splitting.
The edits that turn the first into the second are those of `settling`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from pipeline.turns.edits import WITH_POINTER, standing
from pipeline.turns.programs import differs_in_picture
from schemas import types

from . import settling
from .difference import (
    ACTION,
    ADDED,
    ARGUMENTS,
    DROPPED,
    INTENT,
    LABEL,
    ORDER,
    OUTCOME,
    PICTURE,
    SPEAKER,
    TARGET,
    TASK,
    TYPING,
    UTTERANCE,
    VIDEO,
    Annotated,
    Difference,
)
from .typing_groups import typing_groups

ObservedCounts = dict[str, list[list[Any]]]


def differences(first: Annotated, second: Annotated, labels: Sequence[Mapping[str, Any]]) -> list[Difference]:
    """All of them, in the order of the turns; of labels those that are asked (`labels.definitions`). The edits of all,
    one after the other, make the first's turns equal to those that the second keeps."""
    listed = list_differences(first, second, labels)
    edits = settling.edits_of_all(first, second, listed, labels)
    return [replace(difference, edits=steps) for difference, steps in zip(listed, edits, strict=True)]


def list_differences(first: Annotated, second: Annotated, labels: Sequence[Mapping[str, Any]]) -> list[Difference]:
    """As `differences`, without edits."""
    (first_demonstration, log), (second_demonstration, other_log) = first, second
    first_turns, second_turns = ({turn["id"]: turn for turn in demonstration["turns"]}
                                 for demonstration in (first_demonstration, second_demonstration))
    listed = [*_demonstration_differences(first_demonstration, second_demonstration, labels)]
    groups = typing_groups(first_demonstration["turns"], second_demonstration["turns"])
    listed += [Difference(TYPING, group.key, "", group.first, group.second) for group in groups]
    regrouped = {turn["id"] for group in groups for turn in [*group.first, *group.second]}
    bases = {group.key for group in groups}
    answered = {turn["reply_to"] for turn in second_demonstration["turns"]
                if turn["type"] == "chat" and "reply_to" in turn and not turn["dropped"]}
    for turn in second_demonstration["turns"]:
        name = turn["id"]
        if name not in first_turns and name not in regrouped and (name in answered or not turn["dropped"]):
            listed.append(Difference(ADDED, name, "", None, turn))
    for turn in first_demonstration["turns"]:
        name = turn["id"]
        if name in second_turns and (name not in regrouped or name in bases):
            listed += _turn_differences(turn, second_turns[name], labels, name in bases)
        elif name not in second_turns and name not in regrouped and not turn["dropped"]:
            listed.append(Difference(ADDED, name, "", turn, None))
    listed += _order(first_turns, second_turns)
    if _placement(first_demonstration, log) != _placement(second_demonstration, other_log):
        listed.append(Difference(VIDEO, None, "", None, None))
    order = _positions(first_demonstration["turns"], second_demonstration["turns"])
    return sorted(listed, key=lambda difference: (difference.what in (ORDER, VIDEO),
                                                  order.get(difference.turn or "", -1)))


def _placement(demonstration: types.Demonstration, log: Sequence[types.Edit]) -> Any:
    """Where the external video is; where nothing says so, the last placement in force."""
    return demonstration.get("alignment") or [edit["place"] for _, edit in standing(log)
                                              if edit["op"] == "place_video"][-1:]


def _positions(first: Sequence[types.Turn], second: Sequence[types.Turn]) -> dict[str, float]:
    """Where the differences of each turn are listed; a reply behind what it answers, so that this is added first."""
    order: dict[str, float] = {turn["id"]: number for number, turn in enumerate([*first, *second])}
    for _ in range(2):  # a reply to a reply that was moved before it
        for turn in second:
            if turn["type"] == "chat" and turn.get("reply_to") in order:
                order[turn["id"]] = max(order[turn["id"]], order[turn["reply_to"]] + 0.5)
    return order


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
    differing, *changed = (_points(list_differences(*both, labels), texts)
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
        yield Difference(TASK, None, "", first["task"], second["task"])
    first_outcome, second_outcome = first.get("outcome"), second.get("outcome")
    if first_outcome != second_outcome:
        yield Difference(OUTCOME, None, "", first_outcome, second_outcome)
    yield from _labels(first.get("labels", {}), second.get("labels", {}), "demonstration", None, labels)


def _labels(first_labels: Mapping[str, list[str]], second_labels: Mapping[str, list[str]], scope: str, turn: str | None,
            labels: Sequence[Mapping[str, Any]]) -> Iterator[Difference]:
    for name in (label["name"] for label in labels if label["scope"] == scope):
        first_values, second_values = first_labels.get(name, []), second_labels.get(name, [])
        if sorted(first_values) != sorted(second_values):
            yield Difference(LABEL, turn, name, first_values, second_values)


def _turn_differences(first: types.Turn, second: types.Turn, labels: Sequence[Mapping[str, Any]],
                      regrouped: bool) -> Iterator[Difference]:
    """Of a turn that both have. `regrouped`: what was typed there is part of another difference."""
    turn = first["id"]
    if first["dropped"] != second["dropped"]:  # what else differs comes along: it is of no turn that both keep
        yield Difference(DROPPED, turn, "", first["dropped"], second["dropped"])
    elif not first["dropped"]:
        changes = _content(first, second)
        yield from (change for change in changes if not regrouped or change.what != ARGUMENTS)
        yield from _labels(first.get("labels", {}), second.get("labels", {}), "turn", turn, labels)


def _content(first: types.Turn, second: types.Turn) -> Iterator[Difference]:
    turn = first["id"]
    if first["type"] == "chat" or second["type"] == "chat":
        for field in (UTTERANCE, SPEAKER):
            if first.get(field) != second.get(field):
                yield Difference(field, turn, "", first.get(field), second.get(field))
        return
    yield from _action(first, second)
    first_state, second_state = first["state"], second["state"]
    if first_state and second_state and differs_in_picture(first_state, second_state):
        yield Difference(PICTURE, turn, "", first, second)


def _action(first: types.BrowserTurn, second: types.BrowserTurn) -> Iterator[Difference]:
    turn = first["id"]
    targets, intents = first["element"] != second["element"], first["intent"] != second["intent"]
    does = intents or first["arguments"] != second["arguments"]
    if targets and does and {first["intent"], second["intent"]} & set(WITH_POINTER):
        yield Difference(ACTION if intents else TARGET, turn, "", first, second)
        return
    if targets:
        yield Difference(TARGET, turn, "", first, second)
    if does:
        yield Difference(INTENT if intents else ARGUMENTS, turn, "", first, second)


def _order(first_turns: Mapping[str, types.Turn], second_turns: Mapping[str, types.Turn]) -> Iterator[Difference]:
    """The order of the turns that both have, and at least one keeps."""
    first, second = ([name for name in turns if name in first_turns and name in second_turns
                      and not (first_turns[name]["dropped"] and second_turns[name]["dropped"])]
                     for turns in (first_turns, second_turns))
    if first != second:
        yield Difference(ORDER, None, "", first, second)
