"""Do WebArena-Verified's own evaluators score exported runs, and read tasks, as ours do?

    python -m benchmarks.webarena_verified [--seed N] [--cases N] [--installed DIR] [--keep DIR]

The package, of the version below, is installed from PyPI into an environment of its own, where nothing of ours can be
imported. Six sessions in a small shop are recorded in Chromium with `--replayable`; their outcome checks are written
as tasks of WebArena-Verified, and runs that are made of the recordings by editing what was asked for, what came back
and what was answered are written as it reads them (`agent_response.json`, `network.har`). One process of the package
scores all; ours are the scores of the tasks, read again, and of the checks that they were written from. Then generated
values of every type, generated tasks with generated requests, and the package's own tasks, which are not kept: all must
be read. Prints the scores that differ; exit code 1 if any does, or fewer than half of the runs fail.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.loaders import environment, run
from demotape.commands.outcome_tasks import write_run
from pipeline.outcomes.benchmark_tasks import webarena_verified, webarena_writing
from pipeline.outcomes.checking import score
from pipeline.outcomes.evidence import Evidence, PageState, of_recording
from pipeline.outcomes.folding import Undecided
from pipeline.outcomes.responses import spoken_answer
from pipeline.outcomes.values import fits
from recorder import Recording
from schemas import VERSIONS
from schemas.formats.outcome import FORMAT
from schemas.types.outcome import Outcome

from . import cases as webarena_cases
from . import recorded_runs as webarena_runs

PACKAGE = "webarena-verified==1.2.3"
_PROGRAM = Path(__file__).parents[1] / "loader_programs" / "with_webarena_verified.py"
_SITES = {f"__{name}__": f"http://127.0.0.1:{7000 + number}" + "/admin" * (name == "SHOPPING_ADMIN")
          for number, name in enumerate(webarena_verified.SITES)}
_WHERE = "import webarena_verified as package; print(package.__path__[0])"


def asked(python: Path, folder: Path, **what: Any) -> dict[str, Any]:
    """What the package says of cases and values."""
    file = folder / "asked.json"
    file.write_text(json.dumps(what))
    found: dict[str, Any] = json.loads(run([str(python), "-I", str(_PROGRAM), str(file)], folder).splitlines()[-1])
    return found


def runs(python: Path, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Exported runs: how many there are and fail, and those of which the scores differ."""
    cases, ours, own, names, sites = [], [], [], [], dict[str, str]()
    for session in asyncio.run(webarena_runs.recorded(folder / "recordings")):
        sites = {"__SHOPPING__": session.site}
        outcome: Outcome = {"format": FORMAT, "version": VERSIONS[FORMAT], "checks": session.checks}
        recording = Recording(session.path)
        evidence = of_recording(recording, session.answer)
        task, left = webarena_writing.write(outcome, evidence, "A task", [session.site + "/"], sites)
        if left:
            sys.exit(f"{session.path.name}: left out: {left}")
        again = webarena_verified.read(task, session.path.name, sites).outcome
        for name, path, answer in webarena_runs.variants(session, folder / "variants"):
            variant = Recording(path)
            seen = of_recording(variant, answer)
            write_run(outcome, variant, seen, folder / "runs" / path.name)
            cases.append({"task": task, "folder": str(folder / "runs" / path.name)})
            ours.append(score(again, _answered(seen, again)).value)
            own.append(score(outcome, _answered(seen, outcome)).value if _comparable(session, answer) else ours[-1])
            names.append(f"{session.path.name}, {name}")
    theirs = asked(python, folder, sites=sites, cases=cases)["scores"]
    differ = [f"{name}: ours {mine}, of the checks as they were written {first}, theirs {other}"
              for name, mine, first, other in zip(names, ours, own, theirs, strict=True) if not mine == first == other]
    return {"runs": len(cases), "failing": theirs.count(0.0), "agree": len(cases) - len(differ)}, differ


def _comparable(session: webarena_runs.Session, answer: str) -> bool:
    """Whether the checks speak of what was edited: pages were not, and a task asks for an answer in any case."""
    kinds = {check["kind"] for check in session.checks}
    return "url" not in kinds and (answer == session.answer or bool(kinds & {"answer", "response"}))


def _answered(seen: Evidence, outcome: Outcome) -> Evidence:
    return Evidence(seen.pages, spoken_answer(seen.answer, outcome), seen.requests)


def values(python: Path, folder: Path, seed: int, count: int) -> tuple[dict[str, Any], list[str]]:
    """Values of every type: how many were decided, and those that are decided otherwise."""
    cases = webarena_cases.values(seed, count)
    theirs = asked(python, folder, sites=_SITES, values=cases)["values"]
    decided, told, differ = Counter[str](), Counter[str](), []
    for (schema, wanted, given), other in zip(cases, theirs, strict=True):
        kind = schema.get("format", schema["type"])
        told[kind] += 1
        task = webarena_cases.task_with(wanted, schema)
        item = webarena_verified.read(task, "a value", _SITES).outcome["checks"][0].get("data")
        try:
            mine = fits(item[0]["value"], given) if item and given is not None else None
        except Undecided:
            continue
        if mine is not None:
            decided[kind] += 1
            if mine != other:
                differ.append(f"{kind}: wanted {wanted!r}, given {given!r}: ours {mine}, theirs {other}")
    return {"values": len(cases),
            "decided": {kind: f"{decided[kind]} of {told[kind]}" for kind in sorted(told)}}, differ


def events(python: Path, folder: Path, seed: int, count: int) -> tuple[dict[str, Any], list[str]]:
    """Generated tasks and requests: how many were decided, and those that are scored otherwise."""
    cases = webarena_cases.events(seed, count, _SITES)
    theirs = asked(python, folder, sites=_SITES, cases=cases)["scores"]
    found, differ = Counter[float | None](), []
    for case, other in zip(cases, theirs, strict=True):
        evidence = Evidence([PageState("", lambda: "")], case["answer"], webarena_cases.requests(case["entries"]))
        mine = score(webarena_verified.read(case["task"], "a task", _SITES).outcome, evidence).value
        found[mine] += 1
        if mine is not None and mine != other:
            differ.append(f"{json.dumps(case)}: ours {mine}, theirs {other}")
    return {"tasks": count, "tasks_done": found[1.0], "tasks_not_done": found[0.0],
            "tasks_undecided": found[None]}, differ


def own_tasks(python: Path, folder: Path) -> dict[str, Any]:
    """The package's own tasks: how many are read, how many wholly, and why not."""
    place = Path(run([str(python), "-I", "-c", _WHERE], folder).strip())
    tasks = json.loads((place / "assets" / "dataset" / "webarena-verified.json").read_text())
    whole, reasons = 0, Counter[str]()
    for task in tasks:
        checks = webarena_verified.read(task, str(task["task_id"]), _SITES).outcome["checks"]
        unknown = [check["reason"].partition(": ")[2] for check in checks if check["kind"] == "unknown"]
        whole += not unknown
        reasons.update(unknown)
    for reason, times in reasons.most_common():
        print(f"  {times:3} {reason}")
    return {"own_tasks": len(tasks), "own_tasks_whole": whole}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=3000, help="generated tasks, and values of each type")
    parser.add_argument("--installed", type=Path, help="where the package's environment is kept")
    parser.add_argument("--keep", type=Path, help="where recordings and runs are kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="demotape-webarena-") as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        python = environment((options.installed or folder / "installed").resolve(), (PACKAGE,))
        told, differ = runs(python, folder)
        for found, wrong in (values(python, folder, options.seed, options.cases),
                             events(python, folder, options.seed, options.cases)):
            told |= found
            differ += wrong
        told |= own_tasks(python, folder)
    for line in differ:
        print(line[:2000])
    print(json.dumps({"benchmark": "webarena_verified", "seed": options.seed, **told, "differ": len(differ)}))
    sys.exit(bool(differ) or told["runs"] < 50 or told["failing"] * 2 < told["runs"])
