"""Blobs of a running recording: in a file at once, which a separate process makes small; whatever becomes of it."""

import os
import signal

import cv2
import numpy as np
import pytest

from recorder import blob_process
from recorder.blob_process import BlobProcess
from recorder.blob_store import BlobStore
from schemas import DemotapeError, InputError, RecordingLayout
from tests.support.samples.recording_fixtures import write_recording
from tests.support.waiting import PATIENCE_S, wait_until

PICTURE = cv2.imencode(".png", np.arange(60 * 80 * 3, dtype=np.uint8).reshape(60, 80, 3))[1].tobytes()
NOISE = np.random.default_rng(1).bytes(5000)
REQUESTS = [(NOISE, "dom", False), (NOISE + b"two", "dom", False), (PICTURE, "screenshot", True),
            (b"", None, False), (b"no picture", "screenshot", True), (NOISE, "dom", False)]


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """On a busy machine, too, pictures are stored by the process."""
    monkeypatch.setattr(blob_process, "PICTURE_LIMIT_S", PATIENCE_S)


def stopped(root, monkeypatch) -> BlobProcess:
    """One whose process does nothing until it is sent SIGCONT."""
    blobs = BlobProcess(RecordingLayout(root))
    os.kill(blobs._process.pid, signal.SIGSTOP)
    monkeypatch.setattr(blob_process, "PICTURE_LIMIT_S", 0.05)
    return blobs


def files(layout):
    return {path.name: path.read_bytes() for path in layout.blobs.rglob("*") if path.is_file()}


def keep_all(blobs):
    return [blobs.store(content, like, picture=picture) for content, like, picture in REQUESTS]


def kept_here(tmp_path):
    """The files that BlobStore writes."""
    layout = RecordingLayout(tmp_path / "here")
    return keep_all(BlobStore(layout)), files(layout)


def test_it_keeps_the_same_files(tmp_path):
    names, expected = kept_here(tmp_path)
    layout = RecordingLayout(tmp_path / "there")
    blobs = BlobProcess(layout)
    assert keep_all(blobs) == names
    blobs.close()
    assert files(layout) == expected and len(expected) == 5


def test_where_it_is_killed_another_one_goes_on(tmp_path):
    names, expected = kept_here(tmp_path)
    layout = RecordingLayout(tmp_path / "there")
    blobs = BlobProcess(layout)
    os.kill(blobs._process.pid, signal.SIGKILL)
    assert keep_all(blobs) == names
    blobs.close()
    assert files(layout) == expected


def test_while_it_does_nothing_each_blob_can_be_read(tmp_path, monkeypatch):
    recording = write_recording(tmp_path / "there")
    blobs = stopped(tmp_path / "there", monkeypatch)
    names = keep_all(blobs)
    assert [recording.blob(name) for name in names] == [content for content, *_ in REQUESTS]  # pictures as they came
    os.kill(blobs._process.pid, signal.SIGCONT)
    blobs.close()
    assert [recording.blob(name) for name in names] == [content for content, *_ in REQUESTS]


def test_work_that_waits_too_long_is_urgent(tmp_path, monkeypatch):
    groups = []
    monkeypatch.setattr(blob_process, "BACKLOG_LIMIT_BYTES", 1000)
    monkeypatch.setattr(blob_process, "set_group_niceness", lambda _, niceness: groups.append(niceness) or True)
    blobs = stopped(tmp_path / "there", monkeypatch)
    blobs.store(os.urandom(900))
    assert groups == [10]
    blobs.store(os.urandom(900))
    assert groups == [10, 0]
    os.kill(blobs._process.pid, signal.SIGCONT)
    wait_until(lambda: groups == [10, 0, 10])
    blobs.close()


def test_the_end_does_not_wait_long_for_it(tmp_path, monkeypatch):
    monkeypatch.setattr(blob_process, "CLOSING_LIMIT_S", 0.2)
    recording = write_recording(tmp_path / "there")
    blobs = stopped(tmp_path / "there", monkeypatch)
    names = keep_all(blobs)
    blobs.close()
    assert [recording.blob(name) for name in names] == [content for content, *_ in REQUESTS]
    assert not [*recording.layout.blobs.glob("*/.tmp-*")]


def test_a_program_that_does_not_start_costs_only_space(tmp_path, monkeypatch):
    names, _ = kept_here(tmp_path)
    monkeypatch.setattr(blob_process.sys, "executable", "/bin/false")
    recording = write_recording(tmp_path / "there")
    blobs = BlobProcess(recording.layout)
    assert keep_all(blobs) == names
    blobs.close()
    assert all(recording.blob(name) is not None for name in names)


def test_a_blob_that_depends_on_another_is_not_made_smaller_again(tmp_path):
    names, expected = kept_here(tmp_path)
    layout = RecordingLayout(tmp_path / "here")
    with pytest.raises(DemotapeError, match="stand alone"):
        BlobStore(layout).shrink(names[1], "dom")
    with pytest.raises((InputError, OSError)):
        BlobStore(layout).shrink("0" * 64, "dom")
    assert files(layout) == expected


def test_a_disk_that_takes_nothing_is_told_of_in_one_sentence(tmp_path):
    (tmp_path / "rec").write_text("a file where the folder should be")
    blobs = BlobProcess(RecordingLayout(tmp_path / "rec"))
    with pytest.raises(DemotapeError, match="cannot be written"):
        blobs.store(b"text")
    blobs.close()
