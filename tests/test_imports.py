"""Who may import whom: the rule that keeps the rooms apart."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALLOWED = {
    "schemas": set(),
    "recorder": {"schemas"},
    "pipeline": {"recorder", "schemas"},
    "curator_web": {"pipeline", "recorder", "schemas"},
    "demotape": {"curator_web", "pipeline", "recorder", "schemas"},
}
NOT_IN_RECORDER = {"flask", "pipeline"}


def imports(path: Path) -> set[str]:
    """Every module that a file imports, by its full dotted name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_only_what_stands_below_it(room):
    files = list((ROOT / room).rglob("*.py"))
    assert files
    for path in files:
        ours = {name.split(".")[0] for name in imports(path)} & ALLOWED.keys()
        assert ours - {room} <= ALLOWED[room], path


def test_the_recorder_knows_neither_pipeline_nor_flask():
    for path in (ROOT / "recorder").rglob("*.py"):
        assert not {name.split(".")[0] for name in imports(path)} & NOT_IN_RECORDER, path


@pytest.mark.parametrize("room", ["pipeline", "curator_web"])
def test_only_the_reader_of_the_recorder_is_used_above_it(room):
    for path in (ROOT / room).rglob("*.py"):
        used = {name for name in imports(path) if name.split(".")[0] == "recorder"}
        assert used <= {"recorder", "recorder.Recording", "recorder.reading", "recorder.reading.Recording"}, path
