"""Tasks of benchmarks in files: read as outcome checks, written from them, and the run of a recording for scoring."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schemas import InputError, limits
from schemas.files import dump_json, read_named, write_atomically

from .terminal import complain, printable

if TYPE_CHECKING:
    from pipeline.outcomes.evidence import Evidence
    from recorder import Recording
    from schemas.types.outcome import Outcome

TASK_FORMATS = ("visualwebarena", "webarena-verified")


def read(path: Path, task_id: str | None, sites: Mapping[str, str], recording: "Recording") -> "Outcome":
    """The checks of a task file; pictures that it names lie beside it, or were used by the recorded pages. Raises
    InputError."""
    from pipeline.cache import derived
    from pipeline.outcomes.benchmark_tasks import visual_web_arena, webarena_verified

    content = _content(path, task_id)
    known = {line["url"]: line["blob"] for line in recording.resources()}

    def find(address: str) -> str | None:
        if address in known:
            return known[address]
        name = Path(address).name
        picture = path.parent / name if name else path
        return derived.store_derived(recording.layout,
                                     read_named(picture, limits.BLOB)) if name and picture.is_file() else None

    if webarena_verified.is_task(content):
        parsed = webarena_verified.read(content, str(path), sites)
    else:
        parsed = visual_web_arena.read(content, str(path), find, sites)
    for note in parsed.notes:
        complain("note", printable(note))
    return parsed.outcome


def _content(path: Path, task_id: str | None) -> Any:
    """The task of a file, or that one of its list."""
    try:
        content = json.loads(read_named(path, limits.JSON))
    except (ValueError, RecursionError):
        raise InputError(f"{path}: not JSON") from None
    if not isinstance(content, list):
        return content
    fitting = [entry for entry in content if isinstance(entry, dict)
               and (str(entry.get("task_id")) == task_id or (task_id is None and len(content) == 1))]
    if len(fitting) != 1:
        ids = ", ".join(str(entry.get("task_id")) for entry in content[:20] if isinstance(entry, dict))
        raise InputError(f"{path}: contains several tasks; choose one with --task-id: {printable(ids)[:200]}")
    return fitting[0]


def placeholders(sites: Sequence[str]) -> Mapping[str, str]:
    """Addresses of sites by placeholder; raises click.BadParameter."""
    pairs = [site.partition("=") for site in sites]
    if wrong := [name for name, equals, address in pairs if not name or not equals or not address]:
        raise click.BadParameter(f"{wrong[0]!r}: must be NAME=URL", param_hint="--site")
    return {name: address for name, _, address in pairs}


def write(format: str, wanted: "Outcome", recording: "Recording", evidence: "Evidence", path: Path,
          sites: Mapping[str, str], task_id: str | None) -> None:
    """Write checks as a task, of WebArena-Verified as a list of this one, and tell what it cannot say."""
    from pipeline.outcomes.benchmark_tasks import visual_web_arena
    from pipeline.outcomes.isolated_evaluation import write_webarena_task

    number = int(task_id) if task_id and task_id.isascii() and task_id.isdigit() else 0
    starts = [evidence.pages[0].url]
    task: dict[str, Any] | list[dict[str, Any]]
    if format == TASK_FORMATS[0]:
        task, left_out = visual_web_arena.write(wanted, recording.task, starts, number)
    else:
        task_, left_out = write_webarena_task(recording, wanted, evidence.answer, sites, number)
        task = [task_]
    write_atomically(path, dump_json(task))
    for part in left_out:
        complain("left out", printable(part))


def write_run(wanted: "Outcome", recording: "Recording", evidence: "Evidence", folder: Path) -> None:
    """Write the answer and the network of a recording as WebArena-Verified reads them. Raises InputError when its
    network was not kept."""
    from pipeline.outcomes.responses import structured_answer, task_type
    from replay.archive.har_writing import write_har
    from replay.archive.reading import read_recording

    answer = evidence.answer
    if recording.manifest.get("provenance", {}).get("actor") != "agent":
        answer = structured_answer(answer, task_type(wanted["checks"]))
    write_har(read_recording(recording), folder / "network.har")
    write_atomically(folder / "agent_response.json", answer.encode())
