"""What commands write is their user's alone, and only those that are meant to make a data folder make one."""

import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from demotape.cli import main
from tests.support.checkout import ROOT
from tests.support.samples.recording_fixtures import write_recording

DEMOTAPE = Path(sys.executable).parent / "demotape"
CREATE_ALWAYS = {"review", "demo"}  # and with --create, import and user add: docs/commands.md
# What a command needs to get as far as opening its data; others get names of files that do not exist.
ARGUMENTS = {"record": "--next", "export": "out --format weblinx", "user add": "ann --role lead",
             "user token add": "ann key", "user token revoke": "ann key", "user token list": "ann",
             "project add": "second", "project member": "second ann --role lead", "admin move": "--to elsewhere",
             "admin backup": "copy", "admin restore": "copy"}


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> dict[str, click.Command]:
    """Every command that does something, by its words."""
    if isinstance(command, click.Group):
        return {words: leaf for name, child in command.commands.items()
                for words, leaf in leaves(child, (*path, name)).items()}
    return {" ".join(path): command}


LEAVES = leaves(main)


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DEMOTAPE_")}
    return subprocess.run([DEMOTAPE, *words], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=120, env=environment | {"CI": "1", "HOME": str(folder.parent)} | variables)


def arguments(words: str) -> list[str]:
    """Words that name nothing which exists."""
    if words in ARGUMENTS:
        return ARGUMENTS[words].split()
    return [f"no-{parameter.name}" for parameter in LEAVES[words].params
            if isinstance(parameter, click.Argument) and parameter.required]


def shared_modes(folder: Path) -> dict[str, str]:
    """Files and folders that others can read, with their modes."""
    return {str(path.relative_to(folder)): oct(stat.S_IMODE(path.lstat().st_mode)) for path in folder.rglob("*")
            if not path.is_symlink() and path.lstat().st_mode & 0o077}


@pytest.mark.parametrize("words", sorted(set(LEAVES) - CREATE_ALWAYS))
def test_a_command_without_data_makes_nothing(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("DEMOTAPE_")]:
        monkeypatch.delenv(name)
    mask = os.umask(0o022)
    try:
        home = str(tmp_path.parent / "no-home")  # browsers write there
        result = CliRunner(env={"CI": "1", "HOME": home}).invoke(main, [*words.split(), *arguments(words)])
    finally:
        os.umask(mask)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert [*tmp_path.iterdir()] == [] and "created" not in result.stderr, result.stderr


def test_the_document_names_those_that_create():
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    always, with_option = re.search(r"Only these commands create a data folder: (.*?), and with `--create` (.*?)\.",
                                    text).groups()
    assert set(re.findall("`([^`]+)`", always)) == CREATE_ALWAYS | {"admin restore"}
    assert set(re.findall("`([^`]+)`", with_option)) == {
        words for words, command in LEAVES.items() if any(option.name == "create" for option in command.params)}


def test_those_that_create_say_so(tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    recording = write_recording(tmp_path / "rec").layout.root
    assert run(folder, "process", str(recording)).returncode == 0
    result = run(folder, "import", str(recording), "--create")
    assert result.returncode == 0 and result.stderr.startswith("Data folder demotape-data created.\n"), result.stderr
    result = run(folder, "import", str(recording), "--create")
    assert result.returncode == 0 and "created." not in result.stderr
    result = run(folder, "user", "add", "lea", "--role", "lead", "--create", "--data", "other")
    assert result.returncode == 0 and result.stderr.startswith("Data folder other created.\n")
    with subprocess.Popen([DEMOTAPE, "review", "--port", "0", "--data", "third"], cwd=folder, text=True,
                          stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
                          env=os.environ | {"PYTHONUNBUFFERED": "1"}) as review:
        try:
            assert review.stderr.readline() == "Data folder third created.\n"
            assert "http://127.0.0.1:" in review.stdout.readline() + review.stdout.readline()
        finally:
            os.killpg(review.pid, signal.SIGINT)
            review.communicate(timeout=60)


def test_nobody_else_can_read_what_is_written(tmp_path):
    mask = os.umask(0o022)
    try:
        folder = tmp_path / "work"
        folder.mkdir()
        recording = write_recording(tmp_path / "rec").layout.root
        for words in (("process", str(recording)), ("import", str(recording), "--create"),
                      ("user", "add", "lea", "--role", "lead"),
                      ("export", "out", "--format", "webdataset", "--status", "any"),
                      ("export", "table", "--format", "parquet", "--status", "any"), ("admin", "backup", "copy"),
                      ("admin", "restore", "copy", "--data", "restored")):
            result = run(folder, *words)
            assert result.returncode == 0, (words, result.stderr)
        assert shared_modes(folder) == {}
        assert stat.S_IMODE((folder / "restored" / "demotape.db").stat().st_mode) == 0o600
    finally:
        os.umask(mask)


def test_every_option_has_its_environment_variable(tmp_path):
    context = click.Context(main, info_name="demotape", auto_envvar_prefix="DEMOTAPE")
    names: dict[str, set[str]] = {}

    def visit(command: click.Command, parent: click.Context) -> None:
        for parameter in command.params:
            if isinstance(parameter, click.Option) and parameter.name not in ("help", "version"):
                variable = parameter.envvar or f"{parent.auto_envvar_prefix}_{parameter.name.upper()}"
                names.setdefault(str(variable), set()).add(parameter.opts[0])
        for name, child in getattr(command, "commands", {}).items():
            visit(child, click.Context(child, info_name=name, parent=parent))

    visit(main, context)
    assert all(name.startswith("DEMOTAPE_") for name in names)
    assert {name: opts for name, opts in names.items() if len(opts) > 1} == {}
    assert names["DEMOTAPE_DB"] == {"--db"} and names["DEMOTAPE_DATA"] == {"--data"}
    folder = tmp_path / "empty"
    folder.mkdir()
    result = run(folder, "user", "add", "ann", "--role", "lead", "--create",
                 DEMOTAPE_DB=f"sqlite:///{tmp_path / 'named.db'}")
    assert result.returncode == 0 and (tmp_path / "named.db").exists() and not [*folder.iterdir()]
    result = run(folder, "user", "add", "bob", DEMOTAPE_DB=f"sqlite:///{tmp_path / 'named.db'}",
                 DEMOTAPE_USER_ADD_ROLE="annotator")
    assert result.returncode == 0 and "Account bob created" in result.stderr
