"""The chat stage of the pipeline: utterances typed while recording, then the chat log, then the speech of the
meeting."""

import logging
from collections.abc import Collection
from pathlib import Path

from pipeline.context import Context
from recorder import Recording
from schemas import InputError
from schemas.types.recordings import Demonstration

from .log import ChatLog
from .merging import merge_chat
from .reading import read_chat, recorded_chat, recording_length
from .signals import signals_of, with_signals
from .speech import Clock, Speech, read_speech, speech_log

_log = logging.getLogger("demotape.chat")


def stage(demonstration: Demonstration, context: Context) -> Demonstration:
    """Pipeline stage: place what was typed while recording, then the chat log and the speech that were given along."""
    recording: Recording = context.recording
    merged = merge_chat(with_signals(demonstration, signals_of(recording.chat())), recorded_chat(recording))
    speech = read_speech(context.speech, list(context.speakers)) if context.speech else None
    log = _chat(context, context.chat, speech) if context.chat else None
    if log:
        merged = merge_chat(merged, log)
    if speech:
        merged = merge_chat(merged, _speech(context, speech, log))
    return merged


def _chat(context: Context, path: Path, speech: Speech | None) -> ChatLog:
    recording = context.recording
    elsewhere = [*(speech.names if speech else ()), *(context.speakers if context.again else ())]
    log = read_chat(path, started_at=recording.manifest["started_at"], duration=recording_length(recording),
                    speakers=context.speakers, elsewhere=elsewhere)
    if log.shift:
        _log.warning("%s: written in another time zone, moved by %+.1f hours", path, log.shift / 3600)
    _log_problems(path, log)
    return log


def _speech(context: Context, speech: Speech, chat: ChatLog | None) -> ChatLog:
    clock = Clock(context.video_spans, is_guess=context.video is not None)
    if not context.again:
        _require_speakers(context, speech.names, list(chat.roles) if chat else [])
    if context.video is not None and not context.video_spans:
        _log.warning("%s: where %s is on the recording's clock was not found; times count from the recording's start",
                     speech.path, context.video.name)
    log = speech_log(speech, clock, recording_length(context.recording), context.speakers, chat)
    _log_problems(speech.path, log)
    return log


def _require_speakers(context: Context, names: Collection[str], in_chat: Collection[str]) -> None:
    """Raises InputError for a name that was given a role and speaks nowhere."""
    there = {name.casefold().strip() for name in (*names, *in_chat)}
    for name in context.speakers:
        if name.casefold().strip() not in there:
            raise InputError(f"speaker {name!r} occurs neither in the speech nor in a chat; there are "
                             f"{', '.join(sorted({*names, *in_chat}))}")


def _log_problems(path: Path, log: ChatLog) -> None:
    for line, reason in log.problems:
        _log.warning("%s, line %d: %s", path, line, reason)
    if log.problems:
        _log.warning("%s: utterances read: %d; notes on lines, see above: %d", path, len(log.lines), len(log.problems))
