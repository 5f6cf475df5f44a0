"""A killed recorder on a busy machine: what was done a second before is in the journal, with its blobs."""

import os
import signal
import subprocess
import sys
import time

import pytest

from pipeline.verify import verify
from recorder import Recording
from tests.support.samples.endless_recording import RECORD_FOREVER

FLUSHED_WITHIN_S = 1.0
BUSY_PROCESSES = 4

PAGE = ("<button style='position:fixed;inset:0' onclick='document.body.style.background = "
        "`rgb(${++n % 250}, 0, 0)`; document.title = n'>Go</button><script>n = 0</script>"
        + "".join(f"<p>Paragraph {number}</p>" for number in range(500)))


@pytest.fixture
def busy_machine():
    """Processes of their own sessions that do nothing but compute."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
                 for _ in range(BUSY_PROCESSES)]
    yield
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.slow  # its busy processes keep the machine from other tests
def test_what_was_done_before_a_kill_is_in_the_journal(tmp_path, site, busy_machine):
    site.pages["/"] = PAGE
    process = subprocess.Popen([sys.executable, "-c", RECORD_FOREVER, site.origin + "/", str(tmp_path / "rec")],
                               stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        answered = [float(process.stdout.readline())]
        while answered[-1] - answered[0] < 2 * FLUSHED_WITHIN_S:
            answered.append(float(process.stdout.readline()))
    finally:
        killed = time.time()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    recording = Recording(tmp_path / "rec")
    clicks = [event for event in recording.events if event["type"] == "click"]
    assert len(clicks) >= sum(killed - moment > FLUSHED_WITHIN_S for moment in answered) > 0
    assert not [problem for problem in verify(tmp_path / "rec") if "blob" in problem]
