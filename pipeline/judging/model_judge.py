"""Asks a judge about a trajectory. Answers are kept by the request, so that what was asked once is not asked again."""

import hashlib
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from marshmallow import validate

from schemas import InputError, limits
from schemas.files import dump_json, parse, read_inside, reason, write_atomically
from schemas.formats.parts import Strict, integer, number, string

from . import prompt
from .model_endpoint import MAX_ANSWER_BYTES, ModelSettings, ask, request_body
from .trajectory import Trajectory
from .verdicts import Verdict, read_verdict

_FILE_BYTES = 8 * MAX_ANSWER_BYTES  # of an answer that is kept: a character takes up to six times as much in JSON
_NOT_BELOW_ZERO = validate.Range(min=0, max=limits.MAX_INTEGER)


@dataclass(frozen=True)
class Judgement:
    """What a judge says of a recording. `seconds`: until its answer was there. `request`: SHA-256 of the endpoint's
    address, a line feed and the bytes that were sent."""

    id: str
    judge: str
    host: str
    verdict: Verdict
    reason: str
    seconds: float
    prompt_tokens: int | None
    completion_tokens: int | None
    request: str


class _CachedAnswerSchema(Strict):
    """An answer as it is kept."""

    text = string("what was answered")
    seconds = number("until it was there", minimum=0)
    prompt_tokens = integer("of the request", allow_none=True, validate=_NOT_BELOW_ZERO)
    completion_tokens = integer("of the answer", allow_none=True, validate=_NOT_BELOW_ZERO)


_CACHED_ANSWER_SCHEMA = _CachedAnswerSchema()


def judge_trajectory(settings: ModelSettings, trajectory: Trajectory, cache: Path | None = None) -> Judgement:
    """Have a judge say whether the task was done; an answer in the folder `cache` is taken, and a new one kept there.

    Raises ModelFailed, and InputError where what is kept is damaged or nothing can be kept.
    """
    body = request_body(settings.name, prompt.messages(trajectory), temperature=prompt.TEMPERATURE)
    request = hashlib.sha256(settings.url.encode("ascii") + b"\n" + body).hexdigest()
    cached = _read_cached(cache, request) if cache else None
    if cached is None:
        begun = time.monotonic()
        answer = ask(settings, body)
        cached = asdict(answer) | {"seconds": round(time.monotonic() - begun, 3)}
        if cache:
            _write_cached(cache, request, cached)
    read = read_verdict(cached["text"])
    return Judgement(trajectory.id, settings.name, settings.host, read.verdict, read.reason, cached["seconds"],
                     cached["prompt_tokens"], cached["completion_tokens"], request)


def _cache_path(cache: Path, request: str) -> Path:
    return cache / f"{request}.json"


def _read_cached(cache: Path, request: str) -> dict[str, Any] | None:
    path = _cache_path(cache, request)
    try:
        content = read_inside(path, _FILE_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
    cached: dict[str, Any] = parse(content, _CACHED_ANSWER_SCHEMA, f"{path}: kept answer")[0]
    return cached


def _write_cached(cache: Path, request: str, answer: dict[str, Any]) -> None:
    try:
        write_atomically(_cache_path(cache, request), dump_json(answer))
    except OSError as error:
        raise InputError(f"{cache}: cannot be written ({reason(error)})") from None
