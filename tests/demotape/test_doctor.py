"""`demotape admin doctor`: what is unsafe about an installation is reported, and mended when that is wanted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from curator_web import create_app
from demotape import doctor
from demotape.cli import main

DEMOTAPE = Path(sys.executable).parent / "demotape"


@pytest.fixture
def data(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("DEMOTAPE_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "data"
    done = CliRunner().invoke(main, ["user", "add", "lea", "--role", "lead", "--create", "--data", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


def run(data: Path, *options: str, **variables: str) -> tuple[int, list[str]]:
    done = CliRunner(env=variables).invoke(main, ["admin", "doctor", "--data", str(data), *options])
    return done.exit_code, done.stdout.splitlines()


def of_kind(lines: list[str], kind: str) -> list[str]:
    return [line for line in lines if line.startswith(f"{kind}: ")]


def test_permissions_are_reported_then_mended(data):
    assert of_kind(run(data)[1], "permissions") == []
    (data / "recordings").mkdir(exist_ok=True)
    (data / "recordings" / "page.html").touch()
    (data / "recordings" / "page.html").chmod(0o644)
    (data / "recordings").chmod(0o755)
    (data / "link").symlink_to("/etc/passwd")
    code, lines = run(data)
    assert code == 1 and of_kind(lines, "permissions") == [
        f"permissions: {data}/recordings, {data}/recordings/page.html: accessible to other users of this machine; fix "
        "it with --fix"]
    assert of_kind(run(data, "--fix")[1], "permissions")[0].endswith("fixed")
    assert of_kind(run(data)[1], "permissions") == []
    assert Path("/etc/passwd").stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_of_another_user_are_reported(data):
    assert of_kind(run(data)[1], "owner") == []
    (data / "imported").touch()
    os.chown(data / "imported", 65534, -1)
    assert of_kind(run(data)[1], "owner")[0].startswith(f"owner: {data}/imported: owned by another user")


def test_an_app_for_other_machines_needs_accounts_and_https(data, tmp_path):
    assert of_kind(run(data)[1], "accounts") == of_kind(run(data)[1], "https") == []
    assert of_kind(run(data, DEMOTAPE_HOSTS="review.example")[1], "https")
    assert not of_kind(run(data, DEMOTAPE_HOSTS="review.example", DEMOTAPE_HTTPS="1")[1], "https")
    create_app(data_dir=tmp_path / "without")
    assert of_kind(run(tmp_path / "without", DEMOTAPE_HOSTS="review.example")[1], "accounts")


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no /proc")
def test_secrets_in_command_lines_and_open_ports(data, tmp_path):
    program = tmp_path / "demotape"  # a program of that name, with the arguments of one
    program.symlink_to(sys.executable)
    listens = ("import socket, sys; s = socket.create_server((sys.argv[1], 0)); print(s.getsockname()[1], flush=True); "
               "sys.stdin.read()")
    for address, words, kinds in (
            ("0.0.0.0", ["--db", "postgresql://ann:secret@db.example/x"], {"arguments", "ports"}),
            ("127.0.0.1", ["--token=abc"], {"arguments"}), ("127.0.0.1", ["--db", "sqlite:///a.db"], set())):
        with subprocess.Popen([program, "-c", listens, address, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            port = process.stdout.readline().strip()
            lines = [line for line in run(data)[1] if f"process {process.pid}:" in line]
            assert {line.partition(":")[0] for line in lines} == kinds, lines
            assert not any("secret" in line or "abc" in line for line in lines)
            assert all(f"port {port} " in line for line in of_kind(lines, "ports"))
            process.stdin.close()


def test_old_libraries_and_a_full_disk(data, monkeypatch):
    assert [*doctor.versions()] == []
    required = ["lxml>=999", "click", "miniwob>9; extra == 'x'"]
    monkeypatch.setattr(doctor.importlib.metadata, "requires", lambda _: required)
    assert [finding.text.partition(" ")[0] for finding in doctor.versions()] == ["lxml"]
    monkeypatch.setattr(doctor, "MIN_FREE_BYTES", 1 << 60)
    assert [finding.kind for finding in doctor.free_space(data)] == ["disk"]
    assert "cannot be examined" in next(doctor.free_space(data / "nowhere")).text
