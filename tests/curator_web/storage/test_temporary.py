"""What killed processes left in a data folder goes; what belongs to those that live stays."""

import os
import pickle
import subprocess
import sys
import time

import pytest

from curator_web import create_app
from curator_web.storage.temporary import UNOWNED_SECONDS, Temporary
from tests.support.checkout import ROOT
from tests.support.waiting import wait_until

AT_WORK = """
import sys
from pathlib import Path
from curator_web.storage.temporary import Temporary
temporary = Temporary(Path(sys.argv[1]))
with temporary.folder("package") as folder, temporary.file(Path(sys.argv[1]) / "recordings") as (file, path):
    (folder / "recording").mkdir()
    (folder / "recording" / "events.jsonl").write_text("x")
    print(folder, path, sep="\\n", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def data(tmp_path):
    (tmp_path / "recordings").mkdir()
    (tmp_path / "cache" / "recordings" / "a").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def at_work(data):
    """Another process that works in the data folder, and what is temporary of its."""
    process = subprocess.Popen([sys.executable, "-c", AT_WORK, data], cwd=ROOT, text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    yield process, [process.stdout.readline().strip() for _ in range(2)]
    process.kill()
    process.communicate()


def names(data) -> set[str]:
    return {str(path) for path in (*data.glob(".*-*"), *data.glob("recordings/.*"), *data.glob("cache/**/.*"))}


def test_what_a_killed_process_left_goes_and_nothing_else(data, at_work):
    process, made = at_work
    temporary = Temporary(data)
    with temporary.folder() as own, temporary.file() as (_, file):
        assert names(data) == {*made, str(own), str(file)}
        assert temporary.remove_left_over() == [] and names(data) == {*made, str(own), str(file)}
        process.kill()
        process.wait()
        assert {str(path) for path in temporary.remove_left_over()} == set(made)
        assert names(data) == {str(own), str(file)}
        assert len(os.listdir(data / ".owners")) == 1  # the lock of the dead goes as well
    assert names(data) == set() and temporary.remove_left_over() == []


def test_a_server_clears_up_when_it_starts(data, at_work):
    process, made = at_work
    process.kill()
    process.wait()
    app = create_app(data_dir=data)
    app.extensions["demotape"].jobs.start()
    wait_until(lambda: not names(data) & set(made), what="the removal of what was left over")
    app.extensions["demotape"].jobs.close()
    assert not names(data) & set(made)


def test_what_has_no_owner_goes_when_it_is_old(data):
    old, new, theirs = data / ".package-abcd1234", data / "cache/recordings/a/.tmp-x", data / ".tmpfile"
    for path in (old / "recording", theirs):
        path.mkdir(parents=True)
    new.write_bytes(b"")
    then = time.time() - UNOWNED_SECONDS - 1
    for path in (old, theirs):
        os.utime(path, (then, then))
    assert Temporary(data).remove_left_over() == [old]
    assert new.exists() and theirs.exists()


def test_a_link_is_removed_and_not_followed(data, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").write_text("x")
    (data / ".tmp-0123456789ab-x").symlink_to(elsewhere)
    assert len(Temporary(data).remove_left_over()) == 1 and (elsewhere / "kept").exists()


def test_in_another_process_it_is_another_owner(data):
    one = Temporary(data)
    other = pickle.loads(pickle.dumps(one))
    with one.folder() as first, other.folder() as second:
        assert first.name.split("-")[1] != second.name.split("-")[1]
        assert one.remove_left_over() == []
