"""Answers as exports contain them: answers to the questions of the current version, under pseudonyms."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from curator_web.db.models.core import Demonstration
from curator_web.db.models.scheme_models import Answer
from curator_web.demonstrations.library import pairs
from curator_web.demonstrations.library.review_states import pseudonym
from pipeline.labelling.answers import Answers, applicable
from schemas import types

from .answers import answers_of, values_of
from .versions import current_scheme


def answers_for_export(session: Session, row: Demonstration, turns: Sequence[types.Turn], key: str
                       ) -> list[types.QuestionAnswer]:
    """All people's answers about a demonstration and those of its turns that are not dropped, also the answers of the
    second annotator of a pair. `key`: what pseudonyms are made with."""
    scheme = current_scheme(session, row.home).scheme
    if not scheme["questions"]:
        return []
    paired = pairs.pair_of(session, row.id)
    ids = [paired.first.id, paired.second.id] if paired and row.id == paired.first.id else [row.id]
    exported: list[types.QuestionAnswer] = []
    for demonstration_id in ids:
        stored = answers_of(session, [demonstration_id])
        for name in sorted({answer.who for answer in stored}):
            exported += _of_person(scheme, turns, [answer for answer in stored if answer.who == name],
                                   pseudonym(name, key))
    return exported


def _of_person(scheme: types.Scheme, turns: Sequence[types.Turn], stored: Sequence[Answer], annotator: str
               ) -> list[types.QuestionAnswer]:
    """One person's answers in the order of the questions: of the demonstration, then of each turn."""
    by_key = {(answer.question, answer.turn): answer for answer in stored}
    values: Answers = values_of(stored, stored[0].who)
    answered_turns = {answer.turn for answer in stored}
    exported: list[types.QuestionAnswer] = []
    for turn in (None, *(turn for turn in turns if turn["id"] in answered_turns)):
        turn_id = turn["id"] if turn else ""
        for question in applicable(scheme, turn, values):
            if answer := by_key.get((question["name"], turn_id)):
                exported.append(_exported(answer, annotator))
    return exported


def _exported(answer: Answer, annotator: str) -> types.QuestionAnswer:
    exported: types.QuestionAnswer = {"question": answer.question, "value": answer.value, "annotator": annotator,
                              "scheme": answer.scheme, "independent": answer.independent}
    if answer.turn:
        exported["turn"] = answer.turn
    if answer.prelabel:
        exported["prelabel"] = answer.prelabel
    return exported
