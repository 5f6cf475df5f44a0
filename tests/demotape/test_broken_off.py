"""What a disk that is full or read-only, or a kill, leaves of the commands: one clear line, and nothing to clear up."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from demotape.cli import main
from tests.support.samples.recording_fixtures import write_recording

DEMOTAPE = Path(sys.executable).parent / "demotape"
LIMIT_S = 60


def mounted(folder: Path, options: str) -> None:
    """Mount a small file system; skips the test where that is not allowed."""
    folder.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")


@pytest.fixture
def disk(tmp_path):
    folder = tmp_path / "disk"
    mounted(folder, "size=2m")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def process(recording: Path):
    return CliRunner(env={"CI": "1"}).invoke(main, ["process", str(recording)])


@pytest.mark.parametrize("state", ["full", "read-only"])
def test_processing_on_a_disk_that_takes_nothing(disk, state):
    recording = write_recording(disk / "rec").layout.root
    if state == "full":
        with (disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
            while True:
                filler.write(bytes(4096))
    else:
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    before = sorted(disk.rglob("*"))
    result = process(recording)
    assert result.exit_code and len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith(f"error: {recording}: cannot be written (")
    assert "Error" not in result.stderr and ".tmp" not in result.stderr and sorted(disk.rglob("*")) == before
    if state == "full":
        (disk / "filler").unlink()
    else:
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    assert process(recording).exit_code == 0


def test_what_a_killed_export_leaves_is_removed_by_the_next(tmp_path):
    recording, data = write_recording(tmp_path / "rec").layout.root, tmp_path / "data"
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = os.environ | {"TMPDIR": str(temporary), "CI": "1", "DEMOTAPE_DATA": str(data)}
    for words in (("process", recording), ("import", "--create", recording)):
        subprocess.run([DEMOTAPE, *words], check=True, env=environment, capture_output=True)
    export = subprocess.Popen([DEMOTAPE, "export", tmp_path / "out", "--format", "parquet"], env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + LIMIT_S
    while not [*data.glob(".tmp-*/demotape-shards-*")] and export.poll() is None and time.monotonic() < end:
        pass
    export.send_signal(signal.SIGKILL)
    export.wait()
    assert [*data.glob(".tmp-*/demotape-shards-*")], "it was too fast"
    again = subprocess.run([DEMOTAPE, "export", tmp_path / "out", "--format", "parquet"], env=environment,
                           capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert not [*data.glob(".tmp-*")] and not [*temporary.glob("demotape-*")]
