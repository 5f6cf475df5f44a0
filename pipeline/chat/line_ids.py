"""Ids of chat turns that stay with their lines when a recording is processed again."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from schemas.types.recordings import ChatTurn, Demonstration, Turn

from .merging import free_numbers


def keep_chat_ids(demonstration: Demonstration, earlier: Demonstration) -> Demonstration:
    """The demonstration in which chat turns that were there when the recording was processed before have their ids of
    then: comments, links and edits name them. Other chat turns have ids that none had then.

    A turn is the same if speaker, source and utterance are, in the order of the log.
    """
    before, now = _chat(earlier["turns"]), _chat(demonstration["turns"])
    keys_before, keys_now = [_key(turn) for turn in before], [_key(turn) for turn in now]
    if not before or (keys_before, _ids(before)) == (keys_now[:len(before)], _ids(now)[:len(before)]):
        return demonstration
    ids: dict[str, str] = {}
    for block in SequenceMatcher(None, keys_before, keys_now, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            ids[now[block.b + offset]["id"]] = before[block.a + offset]["id"]
    numbers = free_numbers({turn["id"] for turn in (*earlier["turns"], *demonstration["turns"])})
    for turn in now:
        if turn["id"] not in ids:
            ids[turn["id"]] = f"chat-{next(numbers)}"
    return {**demonstration, "turns": [_renamed(turn, ids) for turn in demonstration["turns"]]}


def _chat(turns: Sequence[Turn]) -> list[ChatTurn]:
    return [turn for turn in turns if turn["type"] == "chat"]


def _ids(turns: Sequence[Turn]) -> list[str]:
    return [turn["id"] for turn in turns]


def _key(turn: ChatTurn) -> tuple[str, str, str]:
    return turn["speaker"], turn.get("source", ""), turn["utterance"]


def _renamed(turn: Turn, ids: dict[str, str]) -> Turn:
    if turn["type"] == "browser":
        return turn
    renamed: ChatTurn = {**turn, "id": ids[turn["id"]]}
    if "reply_to" in turn:
        renamed["reply_to"] = ids[turn["reply_to"]]
    return renamed
