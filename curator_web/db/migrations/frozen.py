"""What migrations need of turns and edits: those of version 1 of their format. Frozen: never changed, and imports
nothing of ours, so that a database of any age is migrated the same way whatever becomes of the code.

`fold` is what `pipeline.edits.fold` was, without its checks: what a database holds was checked when it was stored. An
edit that does not fit is passed over; a migration is no place to refuse it.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Any

VALUE_LENGTH = 100
WORDS_LIMIT = 200
TEXTS = ("text", "value", "url", "message", "key")


def standing(edits: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The edits in force: `undo` takes back the last one, `redo` brings it back, any other forgets what was undone."""
    done: list[dict[str, Any]] = []
    undone: list[dict[str, Any]] = []
    for edit in edits:
        if edit["op"] == "undo":
            undone += [done.pop()] if done else []
        elif edit["op"] == "redo":
            done += [undone.pop()] if undone else []
        else:
            done.append(edit)
            undone.clear()
    return done


def fold(turns: list[dict[str, Any]], edits: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Turns after the edits; a check whose fix was applied is settled."""
    for edit in standing(edits):
        turns = [turn | {"checks": [one for one in turn.get("checks", ()) if one.get("fix") != edit]}
                 for turn in _applied(turns, edit)]
    return turns


def _applied(turns: list[dict[str, Any]], edit: dict[str, Any]) -> list[dict[str, Any]]:
    if edit["op"] == "add":
        return _moved([*turns, edit["added"]], len(turns), edit["after"])
    index = next((place for place, turn in enumerate(turns) if turn["id"] == edit["turn"]), None)
    if index is None:
        return turns
    turn = turns[index]
    if edit["op"] == "move":
        return _moved(turns, index, edit["after"])
    if edit["op"] == "merge":
        other = next((one for one in turns if one["id"] == edit["other"]), None)
        return turns if other is None else [_joined(turn, other) if one is turn else one
                                            for one in turns if one is not other]
    if edit["op"] == "split":
        later = set(edit["added"]["events"])
        first = turn | {"arguments": edit["arguments"], "events": [one for one in turn["events"] if one not in later]}
        return [*turns[:index], first, edit["added"], *turns[index + 1:]]
    return [*turns[:index], _changed(turn, edit), *turns[index + 1:]]


def _changed(turn: dict[str, Any], edit: dict[str, Any]) -> dict[str, Any]:
    """What an edit of one turn makes of it."""
    op, state = edit["op"], turn.get("state")
    if op in ("drop", "restore"):
        return turn | {"dropped": op == "drop"}
    if op == "settle":
        return turn | {"checks": [one for one in turn.get("checks", ()) if one["kind"] != edit["check"]]}
    if op == "retarget":
        return turn | {"element": edit["element"]}
    if op == "set_screenshot_status":
        return turn | {"state": state | {"screenshot_status": edit["status"]}} if state else turn
    if op == "set_screenshot":
        return turn | {"state": state | {"screenshot": edit["screenshot"]}} if state else turn
    return turn | {name: edit[name] for name in ("intent", "arguments", "utterance", "speaker") if name in edit}


def _joined(first: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return first | {"arguments": other["arguments"], "events": sorted({*first["events"], *other["events"]}),
                    "checks": [*first["checks"], *other["checks"]]}


def _moved(turns: list[dict[str, Any]], index: int, after: str | None) -> list[dict[str, Any]]:
    rest = turns[:index] + turns[index + 1:]
    place = 0 if after is None else next((i for i, turn in enumerate(rest, 1) if turn["id"] == after), len(rest))
    return [*rest[:place], turns[index], *rest[place:]]


def facets(demonstration_id: str, site: str, task: str, base: list[dict[str, Any]], edits: list[dict[str, Any]],
           people: Iterable[str]) -> dict[tuple[str, str], int]:
    """What a demonstration is found and counted by: (facet, value) -> count."""
    words = (word[:VALUE_LENGTH] for text in (demonstration_id, site, task)
             for word in re.findall(r"\w+", text.lower()))
    found: Counter = Counter({("word", word): 1 for word in list(dict.fromkeys(words))[:WORDS_LIMIT]})
    was_dropped = {turn["id"] for turn in base if turn.get("dropped")}
    for turn in fold(base, edits):
        kinds = {check["kind"][:VALUE_LENGTH] for check in turn.get("checks", ())}
        if not turn.get("dropped"):
            found["intent", turn.get("intent", "say")] += 1
            found.update(("check", kind) for kind in kinds)
        elif turn["id"] not in was_dropped:
            found.update(("dropped", kind) for kind in kinds or {"none"})
    fixed = {(edit["op"], edit.get("turn")) for edit in standing(edits) if edit["op"] not in ("drop", "restore")}
    found.update(("fixed", op) for op, _ in fixed)
    return dict(found) | {("person", who): 1 for who in people}


def searched(demonstration_id: str, site: str, task: str) -> str:
    """What a search goes through: small letters without accents."""
    letters = unicodedata.normalize("NFKD", f"{demonstration_id} {site} {task}")
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()[:4000]


def compared(base: list[dict[str, Any]], edits: list[dict[str, Any]], first: int) -> dict[str, float | None]:
    """How the turns after the `first` edits agree with those after all: intents, boxes of targets, texts."""
    ours, theirs = ([turn for turn in fold(base, some) if not turn.get("dropped")] for some in (edits[:first], edits))
    pairs = _pairs(ours, theirs)
    turns = len(ours) + len(theirs) - len(pairs)
    same = sum(_intent(x) == _intent(y) for x, y in pairs)
    boxes = [_iou(_box(x), _box(y)) for x, y in pairs if x.get("element") or y.get("element")]
    texts = [_chrf(_text(x), _text(y)) for x, y in pairs if _text(x) is not None or _text(y) is not None]
    return {"turns": turns, "intent_match": same / turns if turns else None,
            "element_iou": sum(boxes) / len(boxes) if boxes else None,
            "chrf": sum(texts) / len(texts) if texts else None}


def _pairs(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Turns that are the same: by id, the rest by the events that they fold, and chat by its place in the order."""
    left = {turn["id"]: turn for turn in theirs}
    pairs = [(turn, left.pop(turn["id"])) for turn in ours if turn["id"] in left]
    paired = {id(turn) for turn, _ in pairs}
    rest, others = [turn for turn in ours if id(turn) not in paired], list(left.values())
    by_event = {number: turn for turn in others for number in turn.get("events", ())}
    for turn in list(rest):
        found = next((by_event[number] for number in turn.get("events", ()) if number in by_event), None)
        if found is not None:
            pairs.append((turn, found))
            rest.remove(turn)
            others.remove(found)
            for number in found["events"]:
                by_event.pop(number, None)
    matcher = SequenceMatcher(None, [_look(turn) for turn in rest], [_look(turn) for turn in others], autojunk=False)
    for start, other, size in matcher.get_matching_blocks():
        pairs += list(zip(rest[start:start + size], others[other:other + size], strict=True))
    return pairs


def _look(turn: dict[str, Any]) -> tuple:
    return turn["type"], turn.get("speaker"), _intent(turn), turn.get("utterance")


def _intent(turn: dict[str, Any]) -> str:
    return turn.get("intent", "say")


def _text(turn: dict[str, Any]) -> str | None:
    if turn["type"] == "chat":
        return turn["utterance"]
    return next((turn["arguments"][name] for name in TEXTS if isinstance(turn["arguments"].get(name), str)), None)


def _box(turn: dict[str, Any]) -> dict[str, Any] | None:
    return (turn.get("element") or {}).get("bbox")


def _chrf(a: str | None, b: str | None) -> float:
    if a is None or b is None:
        return 0.0
    from sacrebleu import sentence_chrf  # here: few databases have second reviews to be worked out again

    return sentence_chrf(a, [b]).score / 100


def _iou(a: dict[str, Any] | None, b: dict[str, Any] | None) -> float:
    """Intersection over union of two boxes; 0 when one is missing or both are empty."""
    if not a or not b:
        return 0.0
    width, height = (max(0.0, min(a[at] + a[size], b[at] + b[size]) - max(a[at], b[at]))
                     for at, size in (("x", "width"), ("y", "height")))
    union = a["width"] * a["height"] + b["width"] * b["height"] - width * height
    return width * height / union if union else 0.0
