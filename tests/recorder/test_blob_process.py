"""Blobs that a process of its own keeps: the same as here, whatever becomes of that process."""

import os
import signal

import cv2
import numpy as np
import pytest

from recorder.blob_process import BlobProcess
from recorder.blob_store import BlobStore
from schemas import DemotapeError, RecordingLayout

PICTURE = cv2.imencode(".png", np.arange(60 * 80 * 3, dtype=np.uint8).reshape(60, 80, 3))[1].tobytes()
REQUESTS = [(b"one" * 400, "dom", False), (b"one" * 400 + b"two", "dom", False), (PICTURE, "screenshot", True),
            (b"", None, False), (b"no picture", "screenshot", True), (b"one" * 400, "dom", False)]


def files(layout):
    return {path.name: path.read_bytes() for path in layout.blobs.rglob("*") if path.is_file()}


def keep_all(blobs):
    return [blobs.store(content, like, picture=picture) for content, like, picture in REQUESTS]


def test_it_keeps_the_same_files(tmp_path):
    layouts = [RecordingLayout(tmp_path / name) for name in ("here", "there")]
    here, there = BlobStore(layouts[0]), BlobProcess(layouts[1])
    assert keep_all(here) == keep_all(there)
    there.close()
    assert files(layouts[0]) == files(layouts[1]) and len(files(layouts[0])) == 5


def test_where_it_is_killed_its_work_is_done_here(tmp_path):
    layout = RecordingLayout(tmp_path / "rec")
    blobs = BlobProcess(layout)
    first = blobs.store(b"before")
    os.kill(blobs._process.pid, signal.SIGKILL)
    names = keep_all(blobs)
    blobs.close()
    assert {first, *names} == {*files(layout)}


def test_a_disk_that_takes_nothing_is_told_of_in_one_sentence(tmp_path):
    (tmp_path / "rec").write_text("a file where the folder should be")
    blobs = BlobProcess(RecordingLayout(tmp_path / "rec"))
    with pytest.raises(DemotapeError, match="cannot be written"):
        blobs.store(b"text")
    blobs.close()
