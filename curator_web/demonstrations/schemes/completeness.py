"""Required questions: a demonstration is submitted and approved only when they are answered."""

from collections.abc import Iterable

from sqlalchemy.orm import Session

from curator_web.db.models.core import APPROVED, DRAFT, RETURNED, SUBMITTED, VALIDATED, Demonstration
from curator_web.demonstrations.library import library
from curator_web.errors import ErrorText, InputError
from curator_web.users import Account
from pipeline.labelling.answers import Key, missing
from schemas import types

from .answers import answers_of, values_of
from .versions import current_scheme

NAMED_TURNS = 5  # in a message


def require_complete(session: Session, row: Demonstration, status: str, account: Account) -> None:
    """Raises InputError naming the questions that keep a demonstration from getting a status.

    Who submits must have answered all required questions; what is validated or approved needs one person who has.
    """
    is_submission = status == SUBMITTED and row.status in (DRAFT, RETURNED)
    if not is_submission and status not in (VALIDATED, APPROVED):
        return
    scheme = current_scheme(session, row.home).scheme
    if not any(question.get("required") for question in scheme["questions"]):
        return
    turns, stored = library.load(session, row.id).turns, answers_of(session, [row.id])
    people = [account.name] if is_submission else sorted({account.name, *(answer.who for answer in stored)})
    lacking = [list(missing(scheme, turns, values_of(stored, name))) for name in people]
    fewest = min(lacking, key=lambda keys: len(keys))
    if fewest:
        raise InputError(ErrorText("required questions have no answer: %(questions)s",
                                   questions=_named(fewest, turns)))


def _named(keys: Iterable[Key], turns: list[types.Turn]) -> str:
    """Each question, with the numbers of the first turns at which its answer is missing."""
    numbers = {turn["id"]: number for number, turn in enumerate(turns, 1)}
    by_question: dict[str, list[int]] = {}
    for question, turn in keys:
        by_question.setdefault(question, []).extend([numbers[turn]] if turn else [])
    return ", ".join(f"{question} ({_turns(turn_numbers)})" if turn_numbers else question
                     for question, turn_numbers in by_question.items())


def _turns(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:NAMED_TURNS]))
    return f"{shown}, … {len(numbers)}" if len(numbers) > NAMED_TURNS else shown
