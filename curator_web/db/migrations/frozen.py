"""Functions on turns and edits that migrations need, as of version 1 of the format. Frozen: never changed, and imports
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
        turns = [turn | {"checks": [check for check in turn.get("checks", ()) if check.get("fix") != edit]}
                 for turn in _applied(turns, edit)]
    return turns


def _applied(turns: list[dict[str, Any]], edit: dict[str, Any]) -> list[dict[str, Any]]:
    if edit["op"] == "add":
        return _moved([*turns, edit["added"]], len(turns), edit["after"])
    index = next((position for position, turn in enumerate(turns) if turn["id"] == edit["turn"]), None)
    if index is None:
        return turns
    turn = turns[index]
    if edit["op"] == "move":
        return _moved(turns, index, edit["after"])
    if edit["op"] == "merge":
        other_turn = next((turn_ for turn_ in turns if turn_["id"] == edit["other"]), None)
        return turns if other_turn is None else [_joined(turn, other_turn) if one is turn else one
                                                 for one in turns if one is not other_turn]
    if edit["op"] == "split":
        later = set(edit["added"]["events"])
        first = turn | {"arguments": edit["arguments"],
                        "events": [event for event in turn["events"] if event not in later]}
        return [*turns[:index], first, edit["added"], *turns[index + 1:]]
    return [*turns[:index], _changed(turn, edit), *turns[index + 1:]]


def _changed(turn: dict[str, Any], edit: dict[str, Any]) -> dict[str, Any]:
    """What an edit of one turn makes of it."""
    op, state = edit["op"], turn.get("state")
    if op in ("drop", "restore"):
        return turn | {"dropped": op == "drop"}
    if op == "settle":
        return turn | {"checks": [check for check in turn.get("checks", ()) if check["kind"] != edit["check"]]}
    if op == "retarget":
        return turn | {"element": edit["element"]}
    if op == "set_screenshot_status":
        return turn | {"state": state | {"screenshot_status": edit["status"]}} if state else turn
    if op == "set_screenshot":
        return turn | {"state": state | {"screenshot": edit["screenshot"]}} if state else turn
    return turn | {name: edit[name] for name in ("intent", "arguments", "utterance", "speaker") if name in edit}


def _joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    return first | {"arguments": second["arguments"], "events": sorted({*first["events"], *second["events"]}),
                    "checks": [*first["checks"], *second["checks"]]}


def _moved(turns: list[dict[str, Any]], index: int, after: str | None) -> list[dict[str, Any]]:
    remaining = turns[:index] + turns[index + 1:]
    target_index = 0 if after is None else next((i for i, turn in enumerate(remaining, 1) if turn["id"] == after),
                                                len(remaining))
    return [*remaining[:target_index], turns[index], *remaining[target_index:]]


def facets(demonstration_id: str, site: str, task: str, base: list[dict[str, Any]], edits: list[dict[str, Any]],
           people: Iterable[str]) -> dict[tuple[str, str], int]:
    """What a demonstration is found and counted by: (facet, value) -> count."""
    words = (word[:VALUE_LENGTH] for text in (demonstration_id, site, task)
             for word in re.findall(r"\w+", text.lower()))
    counts: Counter = Counter({("word", word): 1 for word in list(dict.fromkeys(words))[:WORDS_LIMIT]})
    was_dropped = {turn["id"] for turn in base if turn.get("dropped")}
    for turn in fold(base, edits):
        kinds = {check["kind"][:VALUE_LENGTH] for check in turn.get("checks", ())}
        if not turn.get("dropped"):
            counts["intent", turn.get("intent", "say")] += 1
            counts.update(("check", kind) for kind in kinds)
        elif turn["id"] not in was_dropped:
            counts.update(("dropped", kind) for kind in kinds or {"none"})
    fixed = {(edit["op"], edit.get("turn")) for edit in standing(edits) if edit["op"] not in ("drop", "restore")}
    counts.update(("fixed", op) for op, _ in fixed)
    return dict(counts) | {("person", user_name): 1 for user_name in people}


def searched(demonstration_id: str, site: str, task: str) -> str:
    """What a search goes through: small letters without accents."""
    letters = unicodedata.normalize("NFKD", f"{demonstration_id} {site} {task}")
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()[:4000]


def compared(base: list[dict[str, Any]], edits: list[dict[str, Any]], first: int) -> dict[str, float | None]:
    """How the turns after the `first` edits agree with those after all: intents, boxes of targets, texts."""
    first_turns, final_turns = ([turn for turn in fold(base, some) if not turn.get("dropped")]
                                for some in (edits[:first], edits))
    pairs = _pairs(first_turns, final_turns)
    turns = len(first_turns) + len(final_turns) - len(pairs)
    same_intents = sum(_intent(x) == _intent(y) for x, y in pairs)
    boxes = [_iou(_box(x), _box(y)) for x, y in pairs if x.get("element") or y.get("element")]
    texts = [_chrf(_text(x), _text(y)) for x, y in pairs if _text(x) is not None or _text(y) is not None]
    return {"turns": turns, "intent_match": same_intents / turns if turns else None,
            "element_iou": sum(boxes) / len(boxes) if boxes else None,
            "chrf": sum(texts) / len(texts) if texts else None}


def _pairs(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Turns that are the same: by id, the rest by the events that they fold, and chat by its place in the order."""
    unmatched = {turn["id"]: turn for turn in second}
    pairs = [(turn, unmatched.pop(turn["id"])) for turn in first if turn["id"] in unmatched]
    paired = {id(turn) for turn, _ in pairs}
    remaining, candidates = [turn for turn in first if id(turn) not in paired], list(unmatched.values())
    by_event = {number: turn for turn in candidates for number in turn.get("events", ())}
    for turn in list(remaining):
        match = next((by_event[number] for number in turn.get("events", ()) if number in by_event), None)
        if match is not None:
            pairs.append((turn, match))
            remaining.remove(turn)
            candidates.remove(match)
            for number in match["events"]:
                by_event.pop(number, None)
    matcher = SequenceMatcher(None, [_alignment_key(turn) for turn in remaining],
                              [_alignment_key(turn) for turn in candidates],
                              autojunk=False)
    for start, other_start, size in matcher.get_matching_blocks():
        pairs += list(zip(remaining[start:start + size], candidates[other_start:other_start + size], strict=True))
    return pairs


def _alignment_key(turn: dict[str, Any]) -> tuple:
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
    width, height = (max(0.0, min(a[origin] + a[size], b[origin] + b[size]) - max(a[origin], b[origin]))
                     for origin, size in (("x", "width"), ("y", "height")))
    union = a["width"] * a["height"] + b["width"] * b["height"] - width * height
    return width * height / union if union else 0.0
