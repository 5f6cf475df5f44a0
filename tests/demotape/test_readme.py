"""README's lines work as they stand, in an empty home: install, set up, record, review, export, a task for agents."""

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.support.checkout import ROOT
from tests.support.own_environment import find_uv, index_variables
from tests.support.processes.documented_lines import Shell, command_lines, example_browser
from tests.support.processes.wheel import checkout

__all__ = ["checkout"]

README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALL, SETUP = command_lines(README, "Install")
_INSTALL_TIMEOUT_S = 400


def install(line: str, home: Path, folder: Path, programs: Path) -> Path:
    """Run README's line that installs, in a checkout; returns the folder of the installed programs. Skips the test
    where no package index can be reached."""
    outside = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, timeout=_INSTALL_TIMEOUT_S,
                          env=outside | index_variables() | {"HOME": str(home), "PATH": path})
    if done.returncode and re.search("Failed to fetch|error sending request|Could not find a version", done.stderr):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr
    return home / ".local" / "bin"


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def programs(checkout, home) -> Path:
    """Folder of the programs that README's first line has installed."""
    uv = find_uv()
    return install(INSTALL, home, checkout, Path(uv).parent)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with example_browser(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture(scope="module")
def shell(home, programs, browser) -> Shell:
    path = f"{programs}{os.pathsep}{Path(find_uv()).parent}"
    return Shell(home, path, **index_variables(), DEMOTAPE_CHROMIUM=str(browser[0]), DEMOTAPE_RECORD_HEADLESS="1",
                 DEMOTAPE_RECORD_ACTOR="person", DEMOTAPE_REVIEW_PORT="0")


def test_it_is_installed_and_set_up(shell, home):
    assert INSTALL.startswith("uv tool install") and SETUP == "demotape setup"
    assert re.match(r"Chromium \d+[.\d]+: /", shell.run(SETUP))
    assert str(home) in shell.run("command -v demotape")


def test_a_missing_extra_is_installed_as_the_message_says(shell):
    message = shell.run("demotape demo 2>&1 || true")
    command = re.search("needs miniwob; install it with: (uv pip install .*)", message)[1]
    shell.run(command)
    assert "Outcome checks" in shell.run("demotape demo")


def test_a_session_is_recorded_reviewed_and_exported(shell, browser):
    record, process, import_, review, export = command_lines(README, "Record, review, export")
    shell.record(record, browser[1])
    assert "click 1" in shell.run(process)
    shell.run(import_)
    with shell.running(review, r"http://\S+") as address, urlopen(address) as page:
        assert b"Find the address" in page.read()
    assert "1 demonstration" in shell.run(export)
    assert (shell.folder / "my-data-set" / "manifest.json").is_file()


def test_a_session_becomes_a_task_for_agents(shell, browser):
    record, *lines = command_lines(README, "Make it a task for agents")
    shell.record(record, browser[1])
    shown = [shell.run(line) for line in lines]
    assert [line.split()[1] for line in lines] == ["process", "outcome", "agents", "import", "bundle"]
    assert shown[1].rstrip().endswith("done") and re.search("^task  1  ", shown[2], re.M)
    assert (shell.folder / "runs.html").is_file()


@pytest.mark.slow
def test_pipx_installs_it_too(checkout, tmp_path):
    line = re.search("`(pipx install [^`]+)`", README)[1]
    venv.create(tmp_path / "pipx", with_pip=True)
    programs = tmp_path / "pipx" / "bin"
    done = subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", "pipx"], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        pytest.skip("pipx cannot be installed here")
    installed = install(line, tmp_path / "home", checkout, programs)
    assert re.match("Chromium ", Shell(tmp_path / "home", installed).run(SETUP))


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_bash_completes_commands_and_values():
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    [line] = [line for line in command_lines(text, "Shell completion") if "bash_source" in line]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def completed(*words: str) -> list[str]:
        script = (f'{line}\nCOMP_WORDS=({" ".join(words)})\nCOMP_CWORD={len(words) - 1}\n'
                  "_demotape_completion demotape\n")
        return subprocess.run(["bash", "-c", script + 'printf "%s\\n" "${COMPREPLY[@]}"'], env=environment, text=True,
                              capture_output=True, check=True).stdout.split()

    assert completed("demotape", "rep") == ["replay"]
    assert completed("demotape", "export", "out", "--axt") == ["--axtree"]
