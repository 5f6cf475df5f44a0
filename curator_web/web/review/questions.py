"""Questions of the labelling scheme on the review page: what is shown of them, and their forms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from werkzeug.datastructures import MultiDict

from curator_web.db.database import Database
from curator_web.db.models.scheme_models import Answer
from curator_web.demonstrations.schemes.answers import values_of, visible_answers
from curator_web.demonstrations.schemes.known import count_known
from curator_web.demonstrations.schemes.prelabels import prelabels_of
from curator_web.demonstrations.schemes.versions import current_scheme
from curator_web.errors import ErrorText, InputError
from curator_web.users import Account
from pipeline.labelling.answers import Answers, Key, applicable, question_of
from schemas import types
from schemas.formats.scheme import CHOICE, SCALE, SEVERAL, possible_answers

from .presentation import ReviewView

LAST_DIGIT = 9  # on the keyboard


@dataclass(frozen=True)
class Option:
    """Something that can be chosen. `digit`: the key that chooses it while its question has the focus, or empty."""

    value: str | int
    digit: str


@dataclass(frozen=True)
class QuestionView:
    """A question as it is asked of a turn, or of the demonstration (`turn` is empty). `value`: the own answer; None:
    none. `others`: other people's answers that may be seen, each with who gave it. `prelabel`: what is suggested, with
    its source; None with an answer. `words`: the own answer."""

    question: types.Question
    turn: str
    value: Any
    others: list[tuple[str, str]]
    prelabel: tuple[str, str] | None = None
    words: str = ""

    @property
    def options(self) -> list[Option]:
        """What can be chosen, in order; a number of a scale has its own digit where all have one."""
        if self.question["kind"] not in (CHOICE, SEVERAL, SCALE):
            return []
        possible: Sequence[str | int] = possible_answers(self.question)
        first = 1
        if isinstance(possible, range) and possible[0] >= 0 and possible[-1] <= LAST_DIGIT:
            first = possible[0]
        return [Option(value, str(digit) if digit <= LAST_DIGIT else "") for digit, value in enumerate(possible, first)]


@dataclass(frozen=True)
class QuestionsView:
    """The questions that are asked of the selected turn and of the demonstration. `known`: how many answers about it
    are known; None for who may not see that."""

    of_turn: list[QuestionView]
    of_demonstration: list[QuestionView]
    known: int | None = None

    def __bool__(self) -> bool:
        return bool(self.of_turn or self.of_demonstration)


def questions_view(db: Database, review: ReviewView, account: Account) -> QuestionsView:
    """What is asked at the selected turn, with the answers that this person may see."""
    turn = review.selected.turn if review.selected else None
    with db.reading() as session:
        scheme = current_scheme(session, review.row.home).scheme
        if not scheme["questions"]:
            return QuestionsView([], [])
        turns = {"", *([turn["id"]] if turn else [])}
        stored = visible_answers(session, review.row, account, turns)
        numbers = review.numbers
        suggested = {(row.question, row.turn): (words_of(row.value, numbers), row.source)
                     for row in prelabels_of(session, review.row.id, turns)}
        is_team_lead = account.leads and not account.alone and review.row.project == review.row.home
        known = count_known(session, review.row.id) if is_team_lead else None
    own = values_of([answer for answer in stored if answer.demonstration_id == review.row.id], account.name)
    others = [answer for answer in stored if answer.who != account.name]
    of_turn = _views(applicable(scheme, turn, own), turn["id"], own, others, suggested, numbers) if turn else []
    return QuestionsView(of_turn, _views(applicable(scheme, None, own), "", own, others, suggested, numbers), known)


def answer_from_form(scheme: types.Scheme, form: MultiDict[str, str]) -> dict[str, Any]:
    """The answer that a form gives, for `answering.answer`. Raises InputError."""
    question = question_of(scheme, form.get("question", ""))
    return {"question": question["name"], "turn": form.get("turn", ""), "value": _value(question, form)}


def words_of(value: Any, numbers: Mapping[str, int]) -> str:
    """An answer in a line of text; `numbers`: of turns, by id."""
    if not isinstance(value, list):
        return str(value)
    return ", ".join(_span_words(item, numbers) if isinstance(item, dict) else item for item in value)


def _span_words(span: Mapping[str, str], numbers: Mapping[str, int]) -> str:
    """The numbers of the first and the last turn; `?` for one that is not there any more."""
    first, last = (numbers.get(span[end], "?") for end in ("first", "last"))
    return f"{first}–{last}" if first != last else str(first)


def _views(questions: Sequence[types.Question], turn: str, own: Answers, others: Sequence[Answer],
           suggested: Mapping[Key, tuple[str, str]], numbers: Mapping[str, int]) -> list[QuestionView]:
    return [_view(question, (question["name"], turn), own, others, suggested, numbers) for question in questions]


def _view(question: types.Question, key: Key, own: Answers, others: Sequence[Answer],
          suggested: Mapping[Key, tuple[str, str]], numbers: Mapping[str, int]) -> QuestionView:
    of_others = [(answer.who, words_of(answer.value, numbers)) for answer in others
                 if (answer.question, answer.turn) == key]
    return QuestionView(question, key[1], own.get(key), of_others, None if key in own else suggested.get(key),
                        words_of(own.get(key, ""), numbers))


def _value(question: types.Question, form: MultiDict[str, str]) -> Any:
    if form.get("clear"):
        return None
    if question["kind"] == SEVERAL:
        return [value for value in form.getlist("value") if value]
    text = form.get("value", "")
    if question["kind"] != SCALE or not text:
        return text or None
    try:
        return int(text[:10])
    except ValueError:
        raise InputError(ErrorText("question %(name)s: must be a whole number", name=question["name"])) from None
