"""Speech in the meeting: subtitles of its video become utterances on the recording's clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipeline.context import VideoSpan
from schemas import InputError

from . import time_bases
from .log import MILLISECOND, ChatLine, ChatLog
from .parsers.cues import UNKNOWN, Cue, read
from .speakers import assign_roles

SPEECH = "speech"  # the `source` of a turn
_GAP = 1.5  # seconds of silence from which on what follows is no part of the same sentence
_LONGEST, _MAX_CHARS = 15.0, 400  # seconds and characters of a sentence that is put together
_MIN_CONFIDENCE = 0.5  # of the place of the video, as for turns
_ENDS = (".", "!", "?", "。", "！", "？", "؟", "।")
_GOES_ON = ("...", "…")
_QUOTES = "\"'”’»)]"
_DOUBT = "The video's place on the recording's clock is unsure, and so is the time of this utterance."


@dataclass(frozen=True)
class Speech:
    """What subtitles hold: sentences with seconds of the video's file, and notes by line of what was left out."""

    path: Path
    cues: tuple[Cue, ...] = ()
    problems: tuple[tuple[int, str], ...] = ()

    @property
    def names(self) -> list[str]:
        """Who speaks."""
        return list(dict.fromkeys(cue.speaker for cue in self.cues))


@dataclass(frozen=True)
class Clock:
    """How seconds of the video become seconds of the recording: by its spans. Without any they count from the
    recording's start, which is a mere guess (`is_guess`) where there is a video."""

    spans: Sequence[VideoSpan] = field(default_factory=tuple)
    is_guess: bool = False

    def position(self, seconds: float) -> tuple[float, bool]:
        """The time in the recording, and whether it is sure. What no span holds counts from the nearest one."""
        if not self.spans:
            return seconds, not self.is_guess
        span = min(self.spans, key=lambda span: max(span.begin - seconds, seconds - span.end, 0.0))
        return span.start + (seconds - span.begin) * span.rate, span.confidence >= _MIN_CONFIDENCE


def read_speech(path: Path, names: Sequence[str] = ()) -> Speech:
    """Read subtitles; raises InputError, with the line, when they are damaged. `names`: who is known to speak."""
    cues, problems = read(path, names)
    return Speech(path, tuple(join_cues(cues)), tuple(problems))


def join_cues(cues: Sequence[Cue]) -> list[Cue]:
    """Cues in which one person goes on with a sentence become one."""
    done: list[Cue] = []
    for cue in cues:
        if done and _goes_on(done[-1], cue):
            done[-1] = replace(done[-1], text=_together(done[-1].text, cue.text), end=max(done[-1].end, cue.end))
        else:
            done.append(cue)
    return done


def _goes_on(before: Cue, cue: Cue) -> bool:
    text = before.text.rstrip(_QUOTES)
    ended = text.endswith(_ENDS) and not text.endswith(_GOES_ON)
    return (not ended and before.speaker == cue.speaker and cue.start - before.end <= _GAP
            and cue.end - before.start <= _LONGEST and len(before.text) + len(cue.text) <= _MAX_CHARS)


def _together(first: str, second: str) -> str:
    """Two parts of a sentence: without a space where the script has none."""
    return first + ("" if _is_spaceless(first[-1]) and _is_spaceless(second[0]) else " ") + second


def _is_spaceless(letter: str) -> bool:
    return "\u3000" <= letter <= "\u9fff" or "\uff00" <= letter <= "\uffef"


def speech_log(speech: Speech, clock: Clock, duration: float, speakers: Mapping[str, str], chat: ChatLog | None
               ) -> ChatLog:
    """The utterances on the recording's clock.

    `duration`: of the recording, seconds. `speakers`: roles by name; of those who do not speak here nothing is asked.
    `chat`: the chat log of the session, whose people keep their roles. Raises InputError when all that was said lies
    more than an hour outside the recording, or a role is none.
    """
    known = {**(chat.roles if chat else {}), **speakers}
    try:
        roles, unsure = assign_roles([cue.speaker for cue in speech.cues], known, elsewhere=known)
    except InputError as error:
        raise InputError(f"{speech.path}: {error}") from None
    problems = [*speech.problems, *_notes(speech, roles, unsure, known)]
    lines: list[ChatLine] = []
    for cue in speech.cues:
        time, is_certain = clock.position(cue.start)
        if -time_bases.MARGIN <= time <= duration + time_bases.MARGIN:
            lines.append(ChatLine(cue.speaker, roles[cue.speaker], cue.text, round(time, 3), MILLISECOND, cue.line,
                                  source=SPEECH, doubt="" if is_certain else _DOUBT))
        else:
            problems.append((cue.line, time_bases.distance(time, duration)))
    if speech.cues and not lines:
        raise InputError(f"{speech.path}: no speech within an hour of the recording; pass the speech of this "
                         "session, or --without-speech")
    return ChatLog(SPEECH, "offset", tuple(lines), tuple(sorted(problems)), roles)


def _notes(speech: Speech, roles: Mapping[str, str], unsure: Sequence[str], known: Mapping[str, str]
           ) -> list[tuple[int, str]]:
    """Whose role is a mere default, by the line where they first speak."""
    first = {cue.speaker: cue.line for cue in reversed(speech.cues)}
    named = {name.casefold().strip() for name in known}
    if not speech.cues:
        return [(1, "nothing was said")]
    return [(line, f"{name} is assumed to be the {roles[name]}; set the role with --speaker"
                   + (f" (--speaker {UNKNOWN}=ROLE, because no speaker is named)" if name == UNKNOWN else ""))
            for name, line in first.items() if name.casefold() not in named and (name in unsure or name == UNKNOWN)]
