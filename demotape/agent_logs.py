"""Adds the reports in an agent's own log to a recording of the same session."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.batch import refreshed
from pipeline.importing import list_items
from pipeline.importing.contract import Item
from pipeline.importing.listing import unknown_kind
from pipeline.privacy.recorded_secrets import RecordedSecrets
from pipeline.turns.step_matching import match_steps
from recorder import Recording
from schemas import REDACTED, DemonstrationSchema, InputError
from schemas.files import dump_line, read_json, write_atomically
from schemas.types.recordings import BrowserTurn, Demonstration

from .foreign_data import import_item

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)  # the start of an imported log without times
_TEXTS = ("reasoning", "error")


@dataclass(frozen=True)
class JoinedLog:
    """What became of a log. `unmatched`: number from 1, intent and target of the steps without a turn; `left_out`: what
    the importer could not read, by reason."""

    importer: str
    steps: int
    unmatched: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)


def join_log(path: Path, log: Path, importer: str | None = None, session: str | None = None, *, replace: bool = False
             ) -> JoinedLog:
    """Match an agent's log with the turns of a recording, write its reports beside them, and process it again.

    Raises InputError for a log that cannot be read or has no reports, and, without `replace`, for a recording that has
    reports; the recording is unchanged then.
    """
    recording = Recording(path)
    if recording.layout.agent_steps.exists() and not replace:
        raise InputError(f"{path}: already has reports of an agent; replace them with --replace")
    recorded = refreshed(path)
    name, item = _item(log, importer, session)
    with tempfile.TemporaryDirectory(prefix="demotape-log-") as folder:
        import_item(name, item, Path(folder) / "log", for_review=False)
        logged = Recording(Path(folder) / "log")
        turns = read_json(logged.layout.demonstration, DemonstrationSchema())
        left_out = logged.manifest["imported"]["left_out"]
        shift = _shift(logged, recording)
    steps = _steps(turns)
    if not steps:
        raise InputError(f"{log}: no step has a report (reasoning, model, tokens, cost, error or reward)")
    matches = match_steps(turns["turns"], recorded["turns"], shift)
    lines = _without_secrets(_lines(steps, matches, recorded), recording)
    write_atomically(recording.layout.agent_steps, b"".join(map(dump_line, lines)))
    refreshed(path)
    unmatched = [f"{number}: {_described(step)}" for number, (step, ids) in enumerate(
        zip(steps, matches, strict=True), 1) if not ids]
    return JoinedLog(name, len(steps), unmatched, dict(left_out))


def _item(log: Path, importer: str | None, session: str | None) -> tuple[str, Item]:
    """The only session in a log, or the one of that name."""
    listed = list_items(log, importer)
    if listed is None:
        raise unknown_kind(log)
    name, items = listed
    chosen = [item for item in items if session in (None, item.name)]
    if len(chosen) == 1:
        return name, chosen[0]
    names = ", ".join(item.name[:60] for item in items[:5]) + (", …" if len(items) > 5 else "")
    raise InputError(f"{log}: contains {len(items)} sessions ({names}); choose one with --session")


def _shift(logged: Recording, recording: Recording) -> float | None:
    """Seconds from the log's times to those of the recording; None where the log has no times."""
    started = logged.manifest["started_at"]
    if "times" in logged.manifest["imported"]["lacks"] or started == _EPOCH:
        return None
    return float((started - recording.manifest["started_at"]).total_seconds())


def _steps(logged: Demonstration) -> list[BrowserTurn]:
    """The turns with a report, which begin the steps."""
    return [turn for turn in logged["turns"] if turn["type"] == "browser" and "agent" in turn]


def _described(step: BrowserTurn) -> str:
    """A step for people: what it did, and to what; no text that was typed."""
    element = step["element"]
    return f"{step['intent']} {element['name'][:60]}".strip() if element else step["intent"]


def _lines(steps: Sequence[BrowserTurn], matches: Sequence[Sequence[str]], recorded: Demonstration
           ) -> list[dict[str, Any]]:
    """Lines of agent_steps.jsonl, in the order of the log; a step without turns is where the one before ended."""
    times = {turn["id"]: turn["timestamp"] for turn in recorded["turns"]}
    lines, end = [], 0.0
    for step, ids in zip(steps, matches, strict=True):
        report = {name: value for name, value in step["agent"].items() if name not in ("step", "duration")}
        first, last = (times[ids[0]], times[ids[-1]]) if ids else (end, end)
        begin = max(end, min(first, last - step["agent"].get("duration", 0.0)))
        end = last
        lines.append({**report, "begin": begin, "end": end, "turns": list(ids)})
    return lines


def _without_secrets(lines: list[dict[str, Any]], recording: Recording) -> list[dict[str, Any]]:
    """The lines without secrets that were typed in the recording: the agent's log may contain them."""
    digests = recording.manifest.get("secret_digests")
    texts = [line[name] for line in lines for name in _TEXTS if line.get(name)]
    secrets = sorted(RecordedSecrets([digests]).find(texts), key=len, reverse=True) if digests else []
    for line in lines:
        for name in _TEXTS:
            for secret in secrets:
                if name in line:
                    line[name] = line[name].replace(secret, REDACTED)
    return lines
