"""Tasks proposed by a model, self-instruct as WebVoyager has it (section 4.2): a few tasks of the bank are its
examples, and what it writes is proposed, for people to accept or refuse. Only words of the bank are sent, nothing
captured.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from curator_web.db.database import Database
from curator_web.db.models.task_models import ACCEPTED, CATEGORY_LENGTH, Task
from curator_web.errors import ErrorText, InputError
from curator_web.users import Account
from curator_web.users.projects import require_lead
from schemas.addresses import split_address
from schemas.text import read_well_formed, storable

from . import bank

MAX_PROPOSALS = 50  # proposals that are asked for at once
EXAMPLES = 8  # tasks that are sent
_POOL = 1000  # of the newest accepted tasks, examples are drawn from so many
_LONGEST = 500  # characters of an example
_MODEL_FIELDS = ("text", "url", "site", "category", "difficulty")  # of what the model tells, this is taken
_FENCES = ("```json\n", "```jsonl\n", "```\n")
_RULES = f"""You propose tasks for people to do in a web browser; how they do them is recorded, to train and test web \
agents.
A task can be done on the public pages of one website without signing in, paying or sending anything to anybody. It \
says in one or two sentences what is to be done, not how; it is specific, takes several steps, and it can be checked \
whether it was done. Dates are told relative to today. No task is like another one or like an example.
Answer with a JSON array and nothing else. Each entry is an object with the strings "text" (the task), "site" (the \
host of the website), "url" (where it begins), "category" (such as Travel) and "difficulty" \
({", ".join(bank.DIFFICULTIES)})."""


@dataclass(frozen=True)
class ProposalRequest:
    """What is asked for: so many tasks, of a site and a category, or of any."""

    count: int
    site: str = ""
    category: str = ""


@dataclass(frozen=True)
class Outcome:
    """What of an answer was proposed, what was nearly the same as a task that is there, and what was none, by reason.
    """

    proposed: int
    alike: int
    wrong: Counter[str]


def proposal_request(count: Any, site: str, category: str) -> ProposalRequest:
    """The request for so many tasks, with its texts normalised; raises InputError that names a field out of its limits.
    """
    site, category = storable(site).strip().lower(), storable(category).strip()
    if not isinstance(count, int) or not 1 <= count <= MAX_PROPOSALS:
        raise InputError(ErrorText("field count: must be a number from 1 to %(most)s", most=MAX_PROPOSALS))
    for name, value, longest in (("site", site, bank.SITE_LENGTH), ("category", category, CATEGORY_LENGTH)):
        if len(value) > longest or not (value.isprintable() or not value):
            raise InputError(ErrorText("field %(name)s: must be one line of at most %(longest)s characters", name=name,
                                       longest=longest))
    return ProposalRequest(count, site, category)


def messages(db: Database, account: Account, wished: ProposalRequest, chance: random.Random) -> list[dict[str, str]]:
    """What is sent: rules, some accepted tasks of the project, what is asked for. Those of the same site and category
    come first, then those that leads marked for who proposes others. Raises NotAllowed."""
    require_lead(account)
    with db.reading() as session:
        tasks = list(session.scalars(select(Task).where(Task.project == account.project, Task.state == ACCEPTED)
                                     .order_by(Task.made_at.desc(), Task.id).limit(_POOL)))
    chance.shuffle(tasks)
    tasks.sort(key=lambda task: -_closeness(task, wished))
    return prompt(wished, [{"text": task.text[:_LONGEST], "site": task.site, "category": task.category,
                            "difficulty": task.difficulty} for task in tasks[:EXAMPLES]])


def prompt(wished: ProposalRequest, examples: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The messages; examples are JSON, so that no text of one ends it."""
    about = f" on the website {json.dumps(wished.site, ensure_ascii=False)}" if wished.site else ""
    about += f" of the category {json.dumps(wished.category, ensure_ascii=False)}" if wished.category else ""
    lines = [json.dumps({name: value for name, value in example.items() if value}, ensure_ascii=False)
             for example in examples]
    shown = "Examples:\n" + "\n".join(lines) + "\n\n" if lines else ""
    tasks = "1 new task" if wished.count == 1 else f"{wished.count} new tasks"
    return [{"role": "system", "content": _RULES}, {"role": "user", "content": f"{shown}Propose {tasks}{about}."}]


def digest(sent: Sequence[dict[str, str]]) -> str:
    """Tells whether what is to be sent is what was shown."""
    return hashlib.sha256(json.dumps(sent).encode("ascii")).hexdigest()


def read(answer: str) -> list[Any]:
    """The entries of an answer: a JSON array or JSON Lines, in a code fence or not. Raises InputError for anything
    else."""
    text = answer.strip()
    for fence in _FENCES:
        if text.startswith(fence) and text.endswith("\n```"):
            text = text[len(fence):-4].strip()
            break
    if text.startswith("["):
        entries = _json(text, "it is not a JSON array")
    else:
        entries = [_json(line, f"line {number} is not JSON") for number, line in
                   enumerate(text.split("\n"), 1) if line.strip()]
    if not entries or not any(isinstance(entry, dict) for entry in entries):
        raise InputError(ErrorText("the model's answer contains no tasks; nothing was stored"))
    return entries


def rows(entries: Sequence[Any], wished: ProposalRequest) -> tuple[list[dict[str, Any]], Counter[str]]:
    """What can be proposed of them (TaskSchema), and why the others cannot, counted."""
    tasks, wrong = list[dict[str, Any]](), Counter[str]()
    for entry in entries:
        if len(tasks) == wished.count:
            wrong["more than requested"] += 1
            continue
        try:
            tasks.append(_row(entry, wished))
        except InputError as error:
            wrong[str(error)] += 1
    return tasks, wrong


def store(db: Database, project: str, answer: str, wished: ProposalRequest, model: str) -> Outcome:
    """Propose what of an answer is no task that is there already. Raises InputError for an answer that is none."""
    tasks, wrong = rows(read(answer), wished)
    new = bank.without_similar(db, project, tasks)
    if new:
        bank.add_proposals(db, project, new, f"model {model}")
    return Outcome(len(new), len(tasks) - len(new), wrong)


def _row(entry: Any, wished: ProposalRequest) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise InputError(ErrorText("not an object"))
    fields = {name: value for name in _MODEL_FIELDS if (value := entry.get(name)) not in (None, "")}
    if wrong := next((name for name, value in fields.items() if not isinstance(value, str)), None):
        raise InputError(ErrorText("field %(wrong)s: not a text", wrong=wrong))
    if wished.site:
        host = split_address(fields.get("url", "")).hostname
        if not host or not f".{host}".endswith(f".{wished.site}"):
            fields.pop("url", None)
        fields["site"] = wished.site
    if wished.category:
        fields["category"] = wished.category
    return bank.columns_of(fields)


def _json(text: str, wrong: str) -> Any:
    try:
        return read_well_formed(text.encode())
    except (ValueError, RecursionError):
        raise InputError(ErrorText("the model's answer: %(wrong)s; nothing was stored", wrong=wrong)) from None


def _closeness(task: Task, wished: ProposalRequest) -> int:
    return (4 * bool(wished.site and task.site == wished.site) + task.seed
            + 2 * bool(wished.category and task.category.lower() == wished.category.lower()))
