"""Every row of the table of traps, with the recorder and with the extension, in a rested first tab.

The other places are in test_traps_in_places.py.
"""

import pytest

from tests.support.trap_table import TRAPS
from tests.support.traps import line


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: f"{trap.number}: {trap.does}")
def test_trap(trap, recording_browser, site):
    assert record(recording_browser, trap, site) == ["load url='/'", *trap.turns]


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: f"{trap.number}: {trap.does}")
def test_trap_with_the_extension(trap, chrome, site):
    assert record(chrome, trap, site) == ["load url='/'", *trap.extension]
    assert (trap.extension != trap.turns) == bool(trap.why)


def record(recorder, trap, site) -> list[str]:
    """The turns of a row, as lines; by the Playwright recorder or by the extension."""
    site.pages |= {"/": trap.page, "/two": "<title>Two</title><h1>Two</h1>"}
    session = recorder.record(trap.user_actions, url=site.origin + "/")
    assert session.problems == []
    return [line(turn) for turn in session.turns]
