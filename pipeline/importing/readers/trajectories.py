"""Exports of the format trajectories: an action a line, with the page before it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.importing.action_calls import Act, CallTranslator, parse_calls
from pipeline.importing.computer_use import is_computer_use, translate_computer_use
from pipeline.importing.contract import Action, Importer, Item, Observation, Session, Utterance
from pipeline.importing.sources import explained, read_member
from schemas import limits

from .line_groups import grouped_lines, has_fields, lines_of, root_of
from .own_exports import report_of


def _detect(path: Path) -> bool:
    return has_fields(path, "demonstration", "turn", "intent", "observation", "action", "next_observation")


def _read(item: Item) -> Session:
    _, row = next(lines_of(item))
    session = Session(str(row.get("task") or ""), ())
    session.steps = _steps(item, session)
    return session


def _steps(item: Item, session: Session) -> Iterator[Utterance | Action]:
    calls, shown = CallTranslator(), dict[str, Observation]()
    for where, row in lines_of(item):
        with explained(where, "a step of the format trajectories"):
            for said in row.get("utterances") or []:
                yield Utterance(said["utterance"], said["speaker"])
            if left_out := int(row.get("left_out") or 0):
                session.left_out["actions that the export had left out"] += left_out
            state = _state(root_of(item), row, shown)
            acts = translate(calls, row["action"], row["intent"], where)
            if not acts:
                session.left_out[f"{str(row['intent'])[:40]}: no equal here"] += 1
            yield from with_state(acts, state, row["turn"], report_of(row, where))


def translate(calls: CallTranslator, action: str, intent: str, where: str) -> list[Act]:
    """The actions that a text of any of demotape's grammars says."""
    if is_computer_use(action):
        return translate_computer_use(action, intent, where)
    return [act for call in parse_calls(action, where) if (act := calls.translate(call, intent))]


def with_state(acts: list[Act], state: Observation | None, turn: str, report: Mapping[str, Any] = {}
               ) -> Iterator[Utterance | Action]:
    """Actions with the state that was before the first of them, and what an agent reported of it."""
    for number, act in enumerate(acts):
        name = turn if not number else ""
        if act.said is not None:
            yield Utterance(act.said, "navigator", id=name)
        else:
            yield Action(act.intent, act.arguments, act.target, state=state if not number else None, id=name,
                         report={} if number else report)


def _state(folder: Path, row: dict[str, Any], shown: dict[str, Observation]) -> Observation | None:
    """The state of an action; None where the line has that of another turn. The last is kept: others may share it."""
    observed = row["observation"]
    if not observed or observed.get("state_turn") != row["turn"]:
        return None
    picture = read_member(folder, observed.get("screenshot"), limits.BLOB)
    state = Observation(
        observed.get("url") or "", observed.get("title") or "", observed.get("tab") or 1,
        (observed.get("viewport_width") or 0, observed.get("viewport_height") or 0),
        page=read_member(folder, observed.get("html"), limits.PAGE), screenshot=picture,
        is_late=observed.get("screenshot_status") == "broken")
    if shown.get("last") == state:
        return shown["last"]
    shown["last"] = state
    return state


IMPORTER = Importer("exports of demotape in the format trajectories (a folder, or a file .jsonl)", _detect, _read,
                    lambda path: grouped_lines(path, "demonstration"))
