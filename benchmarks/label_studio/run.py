"""The same work in the review app and in Label Studio, on one machine in one run: list, next, open, save.

`python -m benchmarks.label_studio [--demonstrations N] [--projects N] [--seconds S] [--installed DIR]` fills both with
the same number of tasks in the same number of projects (ours with all their turns, Label Studio's with the task's text,
its site and the address of a screenshot; rectangles and choices are asked for), in SQLite, serves each by gunicorn with
two workers, and has one client, then twenty at once, work over HTTP without a pause: list a project's tasks of a site,
get the next, open it, save something. Label Studio is asked by its API, as its pages do, without the pages themselves;
all its clients are one user. It is installed from PyPI into an environment of its own, kept below --installed. Ends
with one line of JSON: milliseconds (p50, p95), and how many times as long Label Studio takes.
"""

import argparse
import http.client
import json
import os
import random
import re
import socket
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any
from urllib.parse import urlencode

from benchmarks.applications import APPLICATIONS, install, wait_for
from benchmarks.curator import run as curator
from benchmarks.curator.data import WORDS, fill, names_of
from tests.support.services.gunicorns import Gunicorn

WORK = ("list", "next", "open", "save")
SITES = 150
TOKEN = "0123456789abcdef0123456789abcdef01234567"  # of a server on loopback that lives as long as this run
LABELS = """<View><Text name="task" value="$task"/><Image name="screenshot" value="$screenshot"/>
<RectangleLabels name="target" toName="screenshot"><Label value="target"/></RectangleLabels>
<Choices name="status" toName="task"><Choice value="submitted"/><Choice value="invalid"/></Choices></View>"""
SETTINGS = {"LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true", "COLLECT_ANALYTICS": "false", "DJANGO_DB": "sqlite",
            "LATEST_VERSION_CHECK": "false", "DJANGO_SETTINGS_MODULE": "core.settings.label_studio"}


class Ours(curator.Client):
    """A person at the review app."""

    def round(self) -> None:
        chance = self._random
        here = {"project": chance.choice(self._projects)}
        self._ask("GET", f"/?{urlencode(here | {'site': f'site{chance.randrange(SITES)}.example'})}", kind="list")
        self._ask("POST", f"/next?{urlencode(here)}", {"csrf_token": self._csrf, "after": self._at}, kind="next",
                  expect=303)
        self._at = self._location.rpartition("/")[2]
        page = self._ask("GET", f"/demonstrations/{self._at}", kind="open")
        self._ask("POST", f"/demonstrations/{self._at}/edits", {
            "csrf_token": self._csrf, "version": re.search(r'data-version="(\d+)"', page)[1], "op": "drop",
            "turn": f"t{chance.randrange(40)}", "key": os.urandom(8).hex()}, kind="save", htmx=True)


class Theirs:
    """A person at Label Studio, as its pages ask its API."""

    def __init__(self, port: int, seed: int, views: dict[int, int]):
        """`views`: of each project the tab that finds tasks of a site."""
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        self._random, self._views = random.Random(seed), views
        self.times: dict[str, list[float]] = defaultdict(list)

    def round(self) -> None:
        project = self._random.choice(list(self._views))
        self.ask("GET", f"/api/tasks?project={project}&view={self._views[project]}&page=1&page_size=30", kind="list")
        task = self.ask("GET", f"/api/projects/{project}/next", kind="next")["id"]
        self.ask("GET", f"/api/tasks/{task}?project={project}", kind="open")
        self.ask("POST", f"/api/tasks/{task}/annotations?project={project}", {"lead_time": 3.0, "result": [
            {"id": "one", "type": "choices", "from_name": "status", "to_name": "task",
             "value": {"choices": ["submitted"]}}]}, kind="save")

    def ask(self, method: str, address: str, content: Any = None, *, kind: str = "") -> Any:
        """What it answers; what fails ends the run."""
        begun = time.perf_counter()
        self._connection.request(method, address, None if content is None else json.dumps(content),
                                 {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"})
        answer = self._connection.getresponse()
        body = answer.read()
        if kind:
            self.times[kind].append(time.perf_counter() - begun)
        if answer.status not in (200, 201):
            raise SystemExit(f"Label Studio: {method} {address}: {answer.status}: {body[:300]!r}")
        return json.loads(body)


@contextmanager
def label_studio(installed: Path, data: Path, settings: Mapping[str, str] = SETTINGS) -> Iterator[int]:
    """Label Studio with an empty database and these settings, served by gunicorn; yields its port."""
    application = APPLICATIONS["label-studio"]
    application = replace(application, packages=(*application.packages, "gunicorn"))
    programs = install(application, installed / "label-studio-served")
    environment = os.environ | dict(settings) | {"LABEL_STUDIO_BASE_DATA_DIR": str(data)}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = next((programs.parent / "lib").glob("python3*/site-packages/label_studio"))
    for command in ([*application.command(programs, data, port), "--user-token", TOKEN],  # makes the tables
                    [str(programs / "gunicorn"), "--workers", "2", "--timeout", "600", "--bind", f"127.0.0.1:{port}",
                     "--chdir", str(code), "core.wsgi:application"]):
        process = Popen(command, cwd=data, env=environment, stdout=DEVNULL, stderr=DEVNULL)
        try:
            wait_for(f"http://127.0.0.1:{port}/", process)
            if "gunicorn" in command[0]:
                yield port
        finally:
            process.terminate()
            process.wait()


def filled(port: int, demonstrations: int, projects: int) -> dict[int, int]:
    """Fill Label Studio; returns its projects, each with a tab that finds the tasks of a site."""
    lead, chance, views = Theirs(port, 0, {}), random.Random(7), {}
    for number in range(projects):
        project = lead.ask("POST", "/api/projects", {"title": f"project {number}", "label_config": LABELS})["id"]
        count = len(range(number, demonstrations, projects))
        lead.ask("POST", f"/api/projects/{project}/import", [{"data": {
            "task": " ".join(chance.choices(WORDS, k=9)), "site": f"site{chance.randrange(SITES)}.example",
            "screenshot": "http://127.0.0.1/screenshot.png"}} for _ in range(count)])
        filters = {"conjunction": "and", "items": [{"filter": "filter:tasks:data.site", "operator": "equal",
                                                    "type": "String", "value": f"site{number}.example"}]}
        views[project] = lead.ask("POST", "/api/dm/views", {
            "project": project, "data": {"title": "a site", "filters": filters}})["id"]
    return views


def main() -> None:
    """Measure both and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demonstrations", type=int, default=23_000)
    parser.add_argument("--projects", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20, help="of each measurement")
    parser.add_argument("--installed", type=Path, default=Path(tempfile.gettempdir()) / "demotape-applications")
    given = parser.parse_args()
    sys.setswitchinterval(0.0005)
    result: dict = {"demonstrations": given.demonstrations, "projects": given.projects}
    with (tempfile.TemporaryDirectory(prefix="demotape-label-studio-", ignore_cleanup_errors=True) as folder,
          label_studio(given.installed, Path(folder)) as port):
        views = filled(port, given.demonstrations, given.projects)
        result["label_studio"] = {count: curator.work([Theirs(port, number, views) for number in range(count)],
                                                  given.seconds) for count in curator.CLIENTS}
    with tempfile.TemporaryDirectory(prefix="demotape-curator-") as folder:
        data, names = Path(folder), names_of(given.projects)
        fill(url := f"sqlite:///{data / 'demotape.db'}", given.demonstrations, data, given.projects)
        with Gunicorn(url, data, curator.WORKERS, 4) as server:
            result["demotape"] = {count: curator.work(
                [Ours(server.port, "lea" if number == 0 else f"ann{number}", number, names) for number in range(count)],
                given.seconds) for count in curator.CLIENTS}
    result["times_as_long"] = {count: {
        kind: round(result["label_studio"][count][kind]["p95"] / result["demotape"][count][kind]["p95"], 2)
        for kind in WORK} for count in curator.CLIENTS}
    for count in curator.CLIENTS:
        for kind in WORK:
            ours, theirs = (result[name][count][kind] for name in ("demotape", "label_studio"))
            print(f"  {count:>2} clients  {kind:<5} p50 {ours['p50']:>7.1f} ms  p95 {ours['p95']:>7.1f} ms   "
                  f"Label Studio p50 {theirs['p50']:>7.1f} ms  p95 {theirs['p95']:>7.1f} ms", flush=True)
    print(json.dumps({"benchmark": "label_studio", **result}))
