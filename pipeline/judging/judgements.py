"""Judgements as lines of a file: reads the output of `demotape judge --out`. Anybody may have changed it since."""

import json
from dataclasses import fields as fields_of
from typing import Any

from marshmallow import post_load, validate

from schemas import InputError, limits
from schemas.files import validated
from schemas.formats.parts import SHA256, Strict, integer, number, string
from schemas.text import storable

from .figures import VERDICTS
from .model_endpoint import NAME_LENGTH
from .model_judge import Judgement
from .verdicts import REASON_LENGTH

LARGEST = 20_000_000  # bytes of a file
MAX_LINES = 20_000  # lines of a file
_LINE = 100_000  # bytes of a line, of which the reason takes at most 12 for each character
_SHORT = validate.Length(1, 300)
_TOKENS = validate.Range(min=0, max=limits.MAX_INTEGER)


class JudgementSchema(Strict):
    """What a judge says of a recording."""

    id = string("of the recording", validate=_SHORT)
    judge = string("the model's name", validate=validate.Length(1, NAME_LENGTH))
    host = string("host and port of its endpoint", validate=_SHORT)
    verdict = string("what it says", validate=validate.OneOf(VERDICTS))
    reason = string("what it said for it", validate=validate.Length(max=REASON_LENGTH))
    seconds = number("until the answer was there", minimum=0, maximum=limits.SECONDS)
    prompt_tokens = integer("of the request; null where the endpoint told none", allow_none=True, validate=_TOKENS)
    completion_tokens = integer("of the answer, likewise", allow_none=True, validate=_TOKENS)
    request = string("SHA-256 of the request", validate=SHA256)

    @post_load
    def _make_judgement(self, values: dict[str, Any], **_options: Any) -> Judgement:
        return Judgement(**{field.name: values[field.name] for field in fields_of(Judgement)})


_JUDGEMENT = JudgementSchema()


def read_judgements(name: str, content: bytes) -> list[Judgement]:
    """The judgements in a file of that name, with text that any database can hold.

    Raises InputError that names the line which is none, which says again what another one says, or that there is none.
    """
    judgements: dict[tuple[str, str, str], Judgement] = {}
    for count, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"{name}, line {count}"
        judgement: Judgement = validated(_value(line, where), _JUDGEMENT, where)
        key = (judgement.id, judgement.judge, judgement.host)
        if key in judgements:
            raise InputError(f"{where}: field id: {judgement.judge} judges {judgement.id!r} twice; delete one of the "
                             "lines")
        judgements[key] = judgement
        if len(judgements) > MAX_LINES:
            raise InputError(f"{name}: more than {MAX_LINES:,} lines; split the file")
    if not judgements:
        raise InputError(f"{name}: contains no judgement; pass the --out file of demotape judge")
    return list(judgements.values())


def _value(line: bytes, where: str) -> Any:
    if len(line) > _LINE:
        raise InputError(f"{where}: longer than {limits.size(_LINE)}, so not a judgement")
    try:
        return storable(json.loads(line, object_pairs_hook=_without_duplicates))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error})") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; raises ValueError for one of which a field stands there twice, as nobody knows which counts."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a field occurs twice")
    return members
