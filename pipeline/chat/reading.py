"""Chat: logs of meeting and chat tools become turns among the actions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pipeline.chat.parsers.registry import find_reader, open_document
from recorder import Recording
from schemas import InputError

from . import time_bases
from .log import MILLISECOND, ChatLine, ChatLog, Message
from .reply_matching import MatchedMessages, match_replies
from .speakers import assign_roles


def read_chat(path: Path | str, *, started_at: datetime, duration: float, kind: str | None = None,
              time_base: str | None = None, speakers: Mapping[str, str] | None = None,
              elsewhere: Collection[str] = ()) -> ChatLog:
    """Read a chat log and put it on the clock of a recording.

    `started_at` (with its zone) and `duration` (seconds) are the recording's. `kind`, `time_base` (offset, wall, utc
    or instant) and `speakers` (name: instructor or navigator) override what is detected; `elsewhere` names those of
    them who need not speak here. Raises InputError when the path is no chat, or nothing in it lies within an hour of
    the recording.
    """
    path = Path(path)
    if started_at.tzinfo is None:
        raise ValueError("started_at needs a time zone")
    document = open_document(path)
    reader = find_reader(document, kind)
    reading = reader.read(document)
    if not reading.messages:
        raise InputError(f"{path}: contains no message of a {reader.kind} chat"
                         + "".join(f"; line {line}: {reason}" for line, reason in reading.problems[:1]))
    distinguished, namesakes = _distinguish_namesakes(reading.messages)
    answered = match_replies(distinguished)
    messages = answered.messages
    if not messages:
        raise InputError(f"{path}: the chat contains only reactions")
    try:
        times, base, shift = time_bases.resolve(messages, started_at, duration, time_base)
        here, away = _speakers(messages, times, duration)
        roles, unsure = assign_roles(here, speakers, {*elsewhere, *away})
    except (InputError, OverflowError) as error:
        raise InputError(f"{path}: {error}") from None
    lines, outside = _within(answered, times, roles, duration, path)
    guesses = [(next(message.line for message in messages if message.speaker == name),
                f"{name} is assumed to be an instructor; set the role with --speaker") for name in unsure]
    problems = sorted([*reading.problems, *namesakes, *answered.problems, *outside, *guesses])
    return ChatLog(reader.kind, base, tuple(lines), tuple(problems), roles, shift)


def recorded_chat(recording: Recording) -> ChatLog:
    """What was typed into the recorder itself while recording, and what was said in its live room: edited messages with
    their last text, at the time when they were first sent, and without those that were deleted."""
    recorded = recording.chat()
    texts = {line["changes"]: line["utterance"] for line in recorded if "changes" in line}
    lines = tuple(
        ChatLine(line["speaker"], line["speaker"], text, line["time"], MILLISECOND, number,
                 pointing=line.get("pointing"), model=line.get("model", ""))
        for number, line in enumerate(recorded, 1)
        if "changes" not in line and (text := texts.get(line.get("id", ""), line["utterance"])).strip())
    return ChatLog("recording", "offset", lines)


def recording_length(recording: Recording) -> float:
    """Seconds from the start to the end, or to the last event of a recording that was killed."""
    manifest = recording.manifest
    if manifest["ended_at"] is not None:
        return max((manifest["ended_at"] - manifest["started_at"]).total_seconds(), 0.0)
    return max((event["time"] for event in recording.events), default=0.0)


def _distinguish_namesakes(messages: Sequence[Message]) -> tuple[list[Message], list[tuple[int, str]]]:
    """Messages in which people of one name have names of their own, and one person has one name; with what was done."""
    name_of: dict[str, str] = {}
    people: dict[str, list[str]] = {}  # by name: their ids
    notes: list[tuple[int, str]] = []
    for message in messages:
        known = people.setdefault(message.speaker, [])
        if not message.speaker_id or message.speaker_id in name_of:
            continue
        known.append(message.speaker_id)
        name_of[message.speaker_id] = message.speaker if len(known) == 1 else f"{message.speaker} ({len(known)})"
        if len(known) > 1:
            notes.append((message.line, f"another {message.speaker}: renamed to {name_of[message.speaker_id]}"))
    return [replace(message, speaker=name_of.get(message.speaker_id, message.speaker),
                    reactions=tuple(replace(reaction,
                                            speakers=tuple(name_of.get(name, name) for name in reaction.speakers))
                                    for reaction in message.reactions)) for message in messages], notes


def _speakers(messages: Sequence[Message], times: Sequence[float], duration: float) -> tuple[list[str], set[str]]:
    """Who speaks in the session, message by message in the order of time; and those that speak before or after it only:
    a log may go on for years."""
    order = sorted(range(len(messages)), key=times.__getitem__)
    here = [messages[index].speaker for index in order if _is_within(times[index], duration)]
    return here, {message.speaker for message in messages} - {*here}


def _is_within(time: float, duration: float) -> bool:
    return -time_bases.MARGIN <= time <= duration + time_bases.MARGIN


def _within(answered: MatchedMessages, times: Sequence[float], roles: dict[str, str], duration: float, path: Path
            ) -> tuple[list[ChatLine], list[tuple[int, str]]]:
    """Lines of the session, and those that lie too far outside it; raises InputError when all do."""
    lines, outside = list[ChatLine](), list[tuple[int, str]]()
    inside = [_is_within(time, duration) for time in times]
    new_indices = {index: new_index for new_index,
                   index in enumerate(index for index, within in enumerate(inside) if within)}
    for index, (message, reply,
                message_time) in enumerate(zip(answered.messages, answered.replies, times, strict=True)):
        if index in new_indices:
            if reply is not None and reply not in new_indices:
                outside.append((message.line, "what it answers is left out"))
            lines.append(ChatLine(message.speaker, roles[message.speaker], message.text, round(message_time, 3),
                                  message.stamp.precision, message.line,
                                  None if reply is None else new_indices.get(reply), message.reactions))
        else:
            outside.append((message.line, time_bases.distance(message_time, duration)))
    if not lines:
        raise InputError(f"{path}: no message within an hour of the recording (line {outside[0][0]}: "
                         f"{outside[0][1]}); pass the chat of this session, or its time base")
    return lines, outside
