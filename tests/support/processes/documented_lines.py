"""Command lines of documents, run as they stand, in an empty home in which `demotape` is on the path.

There, `https://example.org` is a page of the test's own, and no window is shown; the environment says so, no line does.
"""

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import sync_playwright
from websockets.sync.client import connect

from replay.serving.certificates import Authority
from schemas.chromium import find_chromium
from tests.support.services.site import Site
from tests.support.waiting import wait_until

HOST = "example.org"
PAGE = """<!DOCTYPE html><title>Example</title><style>button { position: fixed; inset: 40px 0 0 }</style>
<output></output><button onclick="document.querySelector('output').textContent = '1 Main Street'">Address</button>"""
_MIDDLE = 300  # CSS pixels from both edges: on the button
_LINE_TIMEOUT_S = 180


def command_lines(text: str, heading: str = "") -> list[str]:
    """Command lines in the fenced blocks without a language and the indented blocks of a document, or of its section
    with a heading."""
    if heading:
        text = re.split(r"^## ", text.partition(f"\n## {heading}\n")[2], maxsplit=1, flags=re.M)[0]
    fenced = "".join(re.findall(r"^```\n(.*?)^```$", text, flags=re.M | re.S))
    indented = re.findall(r"^ {4}(\S.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), flags=re.M)
    return [*fenced.splitlines(), *indented]


class Shell:
    """Runs lines in a folder. `programs`: the folder in which `demotape` is, or several as on the path; `variables`: of
    the environment."""

    def __init__(self, home: Path, programs: Path | str, **variables: str):
        self.folder = home / "work"
        self.folder.mkdir(parents=True, exist_ok=True)
        outside = {name: value for name, value in os.environ.items()
                   if not name.startswith(("DEMOTAPE_", "VIRTUAL_ENV", "PYTHONPATH"))}
        self._environment = outside | {"HOME": str(home), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
                                       "PYTHONUNBUFFERED": "1", "CI": "1"} | variables

    def run(self, line: str, stdin: str = "") -> str:
        """What a line prints; fails unless it exits with 0."""
        done = subprocess.run(line, shell=True, cwd=self.folder, env=self._environment, input=stdin, text=True,
                              capture_output=True, timeout=_LINE_TIMEOUT_S)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    @contextmanager
    def running(self, line: str, pattern: str) -> Iterator[str]:
        """While a line runs, what matches a pattern of its output; Ctrl-C ends it."""
        with subprocess.Popen(f"exec {line}", shell=True, cwd=self.folder, env=self._environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            try:
                shown = ""
                while not (match := re.search(pattern, shown)):
                    added = process.stdout.readline()
                    assert added, f"{line}\n{shown}"
                    shown += added
                yield match[0]
            finally:
                process.send_signal(signal.SIGINT)
                rest, _ = process.communicate(timeout=_LINE_TIMEOUT_S)
        assert process.returncode in (0, 130), f"{line}\n{shown}{rest}"

    def record(self, line: str, arguments: Path) -> None:
        """Run a line that records, and find the address meanwhile. `arguments`: the file of `example_browser`."""
        with self.running(line, "Ctrl-C"):
            _find_address(arguments)


@contextmanager
def example_browser(folder: Path) -> Iterator[tuple[Path, Path]]:
    """A program that starts this machine's Chromium, in which example.org is `PAGE`; and a file with the arguments
    that it was started with last."""
    with sync_playwright() as playwright:
        real = find_chromium(playwright.chromium.executable_path)
    site = Site({"/": PAGE}, Authority(folder).context(HOST))
    program, arguments = folder / "browser", folder / "arguments"
    port = site.origin.rpartition(":")[2]
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {shlex.quote(str(arguments))}\n'
                       f"exec {shlex.quote(real)} '--host-resolver-rules=MAP {HOST} 127.0.0.1:{port}' "
                       '--ignore-certificate-errors "$@"\n')
    program.chmod(0o755)
    try:
        yield program, arguments
    finally:
        site.close()


def _find_address(arguments: Path) -> None:
    """Click the button of `PAGE` with trusted input, and wait for the address."""
    profile = re.search("^--user-data-dir=(.*)$", arguments.read_text(), re.M)[1]
    port = Path(profile, "DevToolsActivePort").read_text().splitlines()[0]
    with urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
        [page] = [target for target in json.load(answer) if target["url"].startswith(f"https://{HOST}")]
    with connect(page["webSocketDebuggerUrl"], max_size=None) as socket:

        def call(method: str, **parameters) -> dict:
            socket.send(json.dumps({"id": 1, "method": method, "params": parameters}))
            while (message := json.loads(socket.recv())).get("id") != 1:
                pass
            return message["result"]

        def value(expression: str) -> object:
            return call("Runtime.evaluate", expression=expression)["result"].get("value")

        wait_until(lambda: value("document.readyState") == "complete")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            call("Input.dispatchMouseEvent", type=kind, x=_MIDDLE, y=_MIDDLE, button="left", clickCount=1)
        wait_until(lambda: value("document.querySelector('output').textContent"))
