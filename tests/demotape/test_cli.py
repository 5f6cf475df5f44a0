"""Commands as a stranger meets them: help, bad input in one clear line with exit code 2, no traceback."""

import json
import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from curator_web import create_app
from demotape.cli import main
from recorder import Recording
from schemas.chromium import find_chromium
from tests.support.samples.recording_fixtures import write_recording

DEMOTAPE = Path(sys.executable).parent / "demotape"


def run_process(*arguments) -> subprocess.CompletedProcess:
    """A command as its own process, without a terminal."""
    return subprocess.run([DEMOTAPE, *map(str, arguments)], text=True, capture_output=True, stdin=subprocess.DEVNULL,
                          env=os.environ | {"CI": "1"})


def run(*arguments) -> subprocess.CompletedProcess:
    """A command in this process: starting an interpreter takes a hundred times as long as most of them do."""
    result = CliRunner(env={"CI": "1"}).invoke(main, list(map(str, arguments)))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return subprocess.CompletedProcess(arguments, result.exit_code, result.stdout, result.stderr)


def refused(result: subprocess.CompletedProcess, *words: str) -> None:
    """One line on standard error with these words, exit code 2, nothing else."""
    assert result.returncode == 2, result
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: ")
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_command_has_help(name):
    result = run(name, "--help")
    assert result.returncode == 0 and "Usage:" in result.stdout


def test_record_an_address_that_does_not_exist(tmp_path):
    result = run_process("record", "http://127.0.0.1:9/", "--headless", "--out", tmp_path / "rec")
    refused(result, "http://127.0.0.1:9/", "cannot be opened")
    assert not (tmp_path / "rec").exists()


@pytest.mark.parametrize("name", ["recording.json", "thesis.txt"])
def test_record_touches_nothing_that_was_there(tmp_path, name):
    (tmp_path / name).write_text("{}")
    reason = "choose a new or empty folder" if name == "thesis.txt" else "already"
    refused(run("record", "http://127.0.0.1:9/", "--headless", "--out", tmp_path), reason)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_record_connects_to_nothing(tmp_path):
    result = run_process("record", "--connect", "http://127.0.0.1:9", "--out", tmp_path / "rec")
    refused(result, "http://127.0.0.1:9", "--remote-debugging-port")
    assert not (tmp_path / "rec").exists()


@pytest.mark.parametrize("command", ["process", "import", "check"])
def test_a_folder_that_is_no_recording(command, tmp_path):
    (tmp_path / "holiday.txt").write_text("photos")
    data = ["--create", "--data", tmp_path / "data"] if command == "import" else []
    result = (run_process if command == "check" else run)(command, tmp_path, *data)
    refused(result, str(tmp_path), "recording")
    assert not (tmp_path / "data").exists()


def test_a_folder_that_does_not_exist(tmp_path):
    refused(run("process", tmp_path / "nowhere"), "nowhere")


def test_a_broken_manifest_names_file_and_field(tmp_path):
    (tmp_path / "recording.json").write_text(json.dumps({"format": "demotape/recording", "version": 99}))
    refused(run("process", tmp_path), "recording.json", "version")


def test_an_export_from_no_app_and_from_an_empty_one(tmp_path):
    refused(run("export", tmp_path / "out", "--format", "weblinx", "--data", tmp_path / "data"),
            "is not a demotape data folder")
    assert not (tmp_path / "out").exists() and not (tmp_path / "data").exists()
    create_app(data_dir=tmp_path / "data")
    refused(run("export", tmp_path / "out", "--format", "weblinx", "--data", tmp_path / "data"), "no demonstrations")
    assert not (tmp_path / "out").exists()


def test_an_unknown_format(tmp_path):
    create_app(data_dir=tmp_path / "data")
    refused(run("export", tmp_path / "out", "--format", "carrier-pigeon", "--data", tmp_path / "data"), "weblinx")


def test_record_ends_on_ctrl_c_and_says_what_was_recorded(tmp_path, site):
    site.pages["/"] = "<h1>Hello</h1>"
    recording = subprocess.Popen([DEMOTAPE, "record", site.origin + "/", "--headless", "--out", tmp_path / "rec",
                                  "--actor", "agent", "--agent", "walker 1", "--consent", "--license", "MIT"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                 env=os.environ | {"PYTHONUNBUFFERED": "1"})
    assert "Ctrl-C" in recording.stdout.readline()
    os.killpg(recording.pid, signal.SIGINT)  # as a terminal does: to every process of the command
    output, errors = recording.communicate()
    assert recording.returncode == 0 and errors == "", errors
    assert "Recorded" in output and "demotape process" in output
    assert [event["type"] for event in Recording(tmp_path / "rec").events] == ["navigate"]
    assert Recording(tmp_path / "rec").manifest["status"] == "complete"
    assert Recording(tmp_path / "rec").manifest["provenance"] == {
        "actor": "agent", "agent": "walker 1", "consent": True, "license": "MIT"}
    assert run("check", tmp_path / "rec").returncode == 0


def test_record_connects_to_a_running_browser_and_leaves_it_running(tmp_path, site):
    site.pages["/"] = "<h1>Hello</h1>"
    profile = tmp_path / "profile"
    browser = subprocess.Popen([find_chromium(), "--headless", "--no-sandbox", "--disable-gpu",
                                "--remote-debugging-port=0", f"--user-data-dir={profile}", site.origin + "/"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        address = next(line.split()[-1] for line in browser.stderr if "DevTools listening on" in line)
        recording = subprocess.Popen([DEMOTAPE, "record", "--connect", address, "--out", tmp_path / "rec"],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                     env=os.environ | {"PYTHONUNBUFFERED": "1"})
        assert "Ctrl-C" in recording.stdout.readline()
        recording.send_signal(signal.SIGINT)
        _, errors = recording.communicate()
        assert recording.returncode == 0, errors
        assert browser.poll() is None
        assert Recording(tmp_path / "rec").manifest["status"] == "complete"
    finally:
        browser.terminate()
        browser.wait()


def test_on_a_terminal_each_result_stands_above_the_bar_and_elsewhere_alone(tmp_path):
    names = [str(write_recording(tmp_path / name).layout.root) for name in ("one", "two")]
    ours, theirs = pty.openpty()
    command = [DEMOTAPE, "process"]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "200"}
    environment.pop("CI", None)
    shown = b""
    with subprocess.Popen([*command, *names], stdin=theirs, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        with suppress(OSError):  # on Linux the end of a terminal is an error
            while part := os.read(ours, 1 << 16):
                shown += part
    os.close(ours)
    lines = shown.decode().split("\x1b[2K")  # where a line is cleared
    assert [any(line.startswith(f"{name}: ") and "\r\n" in line for line in lines) for name in names] == [True, True]
    assert "-:--:--" in lines[1] and "2/2" in shown.decode()
    ours, theirs = pty.openpty()
    done = subprocess.run([*command, *names], stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(ours)
    os.close(theirs)
    assert [line.partition(":")[0] for line in done.stdout.decode().splitlines()] == names
