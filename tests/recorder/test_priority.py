"""Work that may wait leaves the processor to others, in a session of its own, too."""

import subprocess
import sys
from pathlib import Path

import pytest

from recorder.priority import step_back

GROUPED = Path("/proc/self/autogroup")


@pytest.mark.skipif(not GROUPED.exists(), reason="this system does not group processes by session")
@pytest.mark.parametrize("session", [True, False])
def test_a_process_with_a_session_of_its_own_has_its_group_step_back(session):
    own = GROUPED.read_text()
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=session)
    try:
        step_back(process.pid)
        group = Path(f"/proc/{process.pid}/autogroup").read_text()
        assert group.endswith("nice 10\n") if session else group == own
    finally:
        process.communicate()
    assert GROUPED.read_text() == own
