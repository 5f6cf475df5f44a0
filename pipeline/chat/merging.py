"""Merging utterances with the actions."""

from collections.abc import Container, Iterator
from itertools import count

from schemas.types.recordings import ChatTurn, Check, Demonstration, Reaction, Turn

from .log import MINUTE, ChatLine, ChatLog
from .log import Reaction as ChatReaction

_ROUNDING = 1.0  # seconds: up to here a written time is truncated rather than vague


def merge_chat(demonstration: Demonstration, log: ChatLog) -> Demonstration:
    """The demonstration with one chat turn a line; turns that it has keep their order.

    Written times are truncated, so the truth lies up to `precision` later. An instructor's utterance goes to the
    earliest place, so that it stands before the action that answers it. A navigator cannot type and act at once and
    mostly tells what was just done, so a navigator's goes to the latest place that does not overtake the log's order.
    """
    turns = demonstration["turns"]
    order = sorted(range(len(log.lines)),
                   key=lambda line_number: log.lines[line_number].time)  # stable: equal times keep the log's order
    positions = _positions(turns, [log.lines[line_number] for line_number in order])
    ids = dict(zip(order, (f"chat-{number}" for number in free_numbers({turn["id"] for turn in turns})), strict=False))
    merged: list[Turn] = []
    done = 0
    for line_number, position in zip(order, positions, strict=True):
        merged += turns[done:position]
        done = position
        merged.append(_turn(log.lines[line_number], ids, line_number, log.roles, merged))
    return {**demonstration, "turns": merged + turns[done:]}


place = merge_chat  # its name in earlier versions


def _positions(turns: list[Turn], lines: list[ChatLine]) -> list[int]:
    """Before which turn each line stands."""
    positions, lowest = [], 0
    for line in lines:
        latest = line.time + (line.precision if line.role == "navigator" and line.precision <= _ROUNDING else 0)
        while lowest < len(turns) and turns[lowest]["timestamp"] < line.time:
            lowest += 1
        position = lowest
        while position < len(turns) and turns[position]["timestamp"] < latest:
            position += 1
        positions.append(position)
    for index in range(len(positions) - 2, -1, -1):
        positions[index] = min(positions[index], positions[index + 1])
    return positions


def _turn(line: ChatLine, ids: dict[int, str], index: int, roles: dict[str, str], before: list[Turn]) -> ChatTurn:
    """A chat turn; within what its time leaves open, its timestamp follows the turn before it."""
    previous = before[-1]["timestamp"] if before else 0.0
    time = max(line.time, 0.0)
    if time < previous < line.time + line.precision:
        time = previous
    doubt = line.doubt or ("The chat log contains only the minute of this "
                           "utterance." if line.precision >= MINUTE else "")
    checks: list[Check] = [{"kind": "coarse-time", "reason": doubt}] if doubt else []
    turn: ChatTurn = {"id": ids[index], "type": "chat", "timestamp": round(time, 3), "speaker": line.role,
                      "utterance": line.utterance, "checks": checks, "dropped": False}
    if line.source:
        turn["source"] = line.source
    if line.reply_to is not None:
        turn["reply_to"] = ids[line.reply_to]
    if line.reactions:
        turn["reactions"] = [_reaction(reaction, roles) for reaction in line.reactions]
    if line.pointing:
        turn["pointing"] = line.pointing
    if line.model:
        turn["model"] = line.model
    return turn


def _reaction(reaction: ChatReaction, roles: dict[str, str]) -> Reaction:
    """As the demonstration tells it: nobody by name, and whom the log gives a role by that."""
    result: Reaction = {"emoji": reaction.emoji, "count": reaction.count}
    known = dict.fromkeys(roles[speaker] for speaker in reaction.speakers if speaker in roles)
    return {**result, "speakers": list(known)} if known else result


def free_numbers(used: Container[str]) -> Iterator[int]:
    """Numbers of chat turns, in order, whose ids are not used."""
    return (number for number in count(1) if f"chat-{number}" not in used)
