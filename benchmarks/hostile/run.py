"""Hostile input by rules, from a seed, against the real things: does anything break, run, reach out, swell or hang?

`python -m benchmarks.hostile [--seed N] [--inputs N]`: packages, edits and API bodies go to `demotape review` over real
HTTP; recordings and demonstrations in WebLINX's layout to the commands check, process, import and export; pages and
style sheets through import to the review app, a sample of them into a Chromium, with the app's policy and without.
Meanwhile somebody else asks the server for ordinary pages. Hypothesis and schemathesis make what no rule names. Prints
a table, and fails when something in it is missed. Ends with one line of JSON.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
import requests

from curator_web.db.database import Database, open_database
from curator_web.users import add_user
from tests.support.curator.curator_fixtures import make_recording, typed_recording
from tests.support.services.canary import Canary

from . import attacks as hostile_attacks
from .commands import Commands, commands
from .watch import Memory, Others

SHARES = {
    "packages": 0.05,
    "recordings": 0.08,
    "weblinx": 0.06,
    "pages": 0.32,
    "sheets": 0.16,
    "edits": 0.15,
    "bodies": 0.12,
    "described": 0.14,
}  # of the inputs
GOALS = {
    "tracebacks": 0,
    "answers of 500": 0,
    "scripts run": 0,
    "connections to a canary": 0,
    "files outside": 0,
    "largest memory over the idle process (MiB)": 600,
    "longest time (s)": 10.0,
    "other requests meanwhile, p95 (ms)": 300,
}
EVIL = (Path("/evil"), Path("/tmp/evil"), Path("/tmp/etc"))  # where some inputs would like to lie
TEMPORARY = re.compile(r"^\.(?:tmp|package|weblinx)-")


@dataclass
class Target:
    """What is attacked, and what is found."""

    address: str
    token: str
    box: Path
    seed: int
    db: Database
    canary: Canary
    commands: Commands
    faults: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)  # answers of 500
    ran: list[str] = field(default_factory=list)  # scripts
    jobs: set[int] = field(default_factory=set)  # whose outcome was looked at
    longest: tuple[float, str] = (0.0, "")
    inputs: dict[str, int] = field(default_factory=dict)

    def session(self) -> requests.Session:
        """Somebody who may do everything that the API allows."""
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {self.token}"
        return session

    def random(self, kind: str, number: int) -> random.Random:
        """What an input is made from."""
        return random.Random(f"{self.seed} {kind} {number}")

    def took(self, seconds: float, what: str) -> None:
        """Note how long an input took."""
        self.longest = max(self.longest, (seconds, what))

    def ask(self, session: requests.Session, method: str, path: str, **given: Any) -> requests.Response | None:
        """Ask the server; an answer of 500 or none at all is noted."""
        began = time.perf_counter()
        try:
            answer = session.request(method, self.address + path, timeout=60, **given)
        except requests.RequestException as error:
            self.faults.append(f"{method} {path[:200]}: {error!r:.300}")
            return None
        self.took(time.perf_counter() - began, f"{method} {path[:120]}")
        if answer.status_code == 500:
            self.failed.append(f"{method} {path[:200]} {str(given)[:300]}")
        return answer

    def at_once(self, kind: str, work: Callable[[int], None], count: int) -> None:
        """Work on inputs by number, three at a time."""
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(work, range(count)))
        self.inputs[kind] = self.inputs.get(kind, 0) + count


@contextmanager
def served(box: Path, canary: Canary, seed: int, at_once: int) -> Iterator[tuple[Target, subprocess.Popen]]:
    """The app as `demotape review` serves it, and `at_once` processes for commands; all in a box of their own."""
    for name in ("cwd", "tmp", "home", "outside", "inputs"):
        (box / name).mkdir()
    (box / "outside" / "private").write_text("private")
    db = open_database(f"sqlite:///{box / 'app.db'}")
    token = add_user(db, "lea", "lead")
    environment = os.environ | {
        "TMPDIR": str(box / "tmp"),
        "HOME": str(box / "home"),
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    command = [
        sys.executable,
        "-c",
        "from demotape.cli import main; main()",
        "review",
        "--port",
        "0",
        "--db",
        f"sqlite:///{box / 'app.db'}",
        "--data",
        str(box / "data"),
    ]
    with (box / "log").open("w") as log, commands(box / "cwd", box / "tmp", at_once) as processes:
        server = subprocess.Popen(
            command, cwd=box / "cwd", env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        )
        assert server.stdout
        try:
            address = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+/", line)))
            yield Target(address, token, box, seed, db, canary, processes), server
        finally:
            server.terminate()
            server.wait()
            db.close()


def run(seed: int, inputs: int) -> dict[str, Any]:
    """Attack, and tell what came of it."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="demotape-hostile-") as folder, Canary() as canary:
        box = Path(folder)
        with served(box, canary, seed, 2 if inputs > 200 else 1) as (target, server):
            memory, others = _watched(target, server)
            others.measuring.set()
            count = {kind: max(3, round(inputs * share)) for kind, share in SHARES.items()}
            for kind, work in hostile_attacks.ATTACKS.items():
                work(target, count)
                print(f"{kind}: {time.perf_counter() - began:.0f} s", flush=True)
            times = others.close()
            memory.close()
            hostile_attacks.show_in_browser(target, max(2, inputs // 100))
        log = (box / "log").read_text(errors="replace")
        target.faults += re.findall(r"Traceback \(most recent call last\).*?(?=\n\S+: |\Z)", log, re.DOTALL)
        outside = _outside(box)
    result = {
        "seed": seed,
        "inputs": target.inputs,
        "seconds": round(time.perf_counter() - began),
        "tracebacks": len(target.faults),
        "answers of 500": len(target.failed),
        "scripts run": len(target.ran),
        "connections to a canary": len(canary.asked),
        "files outside": len(outside),
        "largest memory over the idle process (MiB)": memory.most >> 20,
        "all processes of the server together (MiB)": memory.total >> 20,
        "longest time (s)": round(target.longest[0], 1),
        "longest": target.longest[1],
        "other requests": len(times),
        "other requests meanwhile, p95 (ms)": round(float(numpy.percentile(times or [0], 95)) * 1000),
    }
    for name, found in (
        ("traceback", target.faults),
        ("500", target.failed),
        ("script", target.ran),
        ("canary", canary.asked),
        ("outside", outside),
    ):
        for each in found[:20]:
            print(f"{name}: {each[-1500:]}", file=sys.stderr)
    return result


def _watched(target: Target, server: subprocess.Popen) -> tuple[Memory, Others]:
    """Watchers, once everything has done its ordinary work and is idle."""
    base = make_recording(target.box / "inputs")
    typed_recording(target.box / "inputs", recording_id="typed", video=True)
    for done in target.commands.each(
        [("import", "--create", str(base), "--db", f"sqlite:///{target.box / 'app.db'}", "--data",
          str(target.box / "data"))]
    ):
        assert not done.fault, done
    pids = target.commands.pids()
    session, turns = target.session(), None
    for path in ("", "api/demonstrations", "demonstrations/rec-1"):
        assert session.get(target.address + path).ok
    turns = session.get(target.address + "api/demonstrations/rec-1/turns").json()["turns"]
    with ThreadPoolExecutor(4) as pool:
        for _ in pool.map(
            lambda number: session.get(target.address + f"snapshot/rec-1/{turns[2]['state']['dom']}?width={number}"),
            range(40),
        ):
            pass
    hostile_attacks.send_package(target, session)
    memory = Memory()
    for pid in (server.pid, *pids):
        memory.watch(pid)
    return memory, Others(target.address, target.token)


def _outside(box: Path) -> list[str]:
    """What lies where nothing should; what was begun and is still there, when all has ended."""
    found = [
        str(path.relative_to(box))
        for place in ("cwd", "home", "outside")
        for path in (box / place).rglob("*")
        if path != box / "outside" / "private" and not path.is_dir()
    ]
    found += [str(path) for path in EVIL if path.exists()]
    if (box / "outside" / "private").read_text() != "private":
        found.append("outside/private was changed")
    ours = {"cwd", "tmp", "home", "outside", "inputs", "data", "log", "imports"}
    found += [path.name for path in box.iterdir() if path.name not in ours and not path.name.startswith("app.db")]
    left = [path for path in (box / "data").rglob("*") if TEMPORARY.match(path.name)]
    return found + [str(path.relative_to(box)) for path in left]


def missed(result: dict[str, Any]) -> list[str]:
    """What is not as promised."""
    return [f"{name}: {result[name]}, goal {goal}" for name, goal in GOALS.items() if result[name] > goal]


def main() -> None:
    """Attack and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inputs", type=int, default=20_000)
    given = parser.parse_args()
    result = run(given.seed, given.inputs)
    print(f"\n{sum(result['inputs'].values())} inputs, seed {given.seed}, {result['seconds']} s")
    for name, goal in GOALS.items():
        print(f"{name:48} {result[name]:>8}   goal {goal}{'   MISSED' if result[name] > goal else ''}")
    print(f"the longest: {result['longest']}")
    print(json.dumps({"benchmark": "hostile", **result}))
    if missed(result):
        raise SystemExit(1)
