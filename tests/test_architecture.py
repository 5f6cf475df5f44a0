"""Who may import whom: the rules that keep the rooms apart, and what stays cheap to import."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

# Each room with its sub-rooms, from the bottom up: what stands above may import what stands below. A sub-room that is
# not named, and a module that lies in a room itself, counts as its own name.
ROOMS = {
    "schemas": set(),
    "recorder": {"schemas"},
    "pipeline": {"recorder", "schemas"},
    "replay": {"pipeline", "recorder", "schemas"},
    "curator_web": {"pipeline", "recorder", "schemas"},
    "demotape": {"curator_web", "pipeline", "recorder", "replay", "schemas"},
}
FLOORS = {
    "recorder": (
        {"pictures", "priority"}, {"bitmaps"}, {"blobs"}, {"blob_store", "lost_blobs"}, {"blob_process"},
        {"reader", "writer", "privacy"},
        {"media", "devtools"}, {"building"}, {"browser", "package"}, {"control", "adapters", "room"},
    ),
    "pipeline": (
        {"extras"}, {"workers", "plugins", "proofs", "timed_connection", "network", "partial_exchanges", "console"},
        {"cluster", "sandbox", "cache"}, {"isolation"}, {"context"}, {"turns", "pages", "similarity"}, {"privacy"},
        {"align", "chat", "speech", "labelling"}, {"checks"}, {"export"},
        {"evaluate", "ranker", "outcomes"}, {"judging"}, {"processing", "verify", "rendered_comparison"},
        {"batch", "hub", "importing"}, {"bundle"},
    ),
    "replay": ({"archive"}, {"serving"}, {"running"}, {"agents"}),
    "curator_web": (
        {"errors", "settings", "vendor", "catalogues"}, {"db", "sandboxed"}, {"users", "storage"}, {"notifications"},
        {"webhooks"}, {"tasks", "rooms"}, {"demonstrations"}, {"jobs"}, {"operation"},
        {"access"}, {"web", "api"}, {"judging"}, {"app", "server"},
    ),
}
NEEDS_NO_BROWSER = ("pipeline", "curator_web")  # of the recorder they use what reads alone
CHEAP = ("schemas", "recorder", "recorder.reader", "pipeline", "pipeline.turns.folding", "pipeline.turns.edits",
         "pipeline.turns.gestures", "curator_web", "curator_web.vendor", "demotape.cli")
DEAR = {"playwright", "cv2", "av", "flask", "sqlalchemy", "botocore", "pyarrow"}


def modules() -> dict[str, Path]:
    """Every module of ours by its dotted name."""
    found = {}
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports(name: str, *, lazy: bool = True) -> set[str]:
    """Every module of ours that a module imports; without `lazy`, only those that it imports when it is imported."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree) if lazy else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[:len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            found |= {f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base for alias in node.names}
    return found & MODULES.keys()


def handed_on(name: str) -> set[str]:
    """The modules behind the names that a package hands on, for one whose names are imported when they are used."""
    stub = MODULES[name].with_suffix(".pyi")
    if MODULES[name].name != "__init__.py" or not stub.exists():
        return set()
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    return {f"{name}.{node.module}" for node in tree.body if isinstance(node, ast.ImportFrom)}


def floor_of(name: str) -> int | None:
    """On which floor of its room a module stands; None for a room's own `__init__` and for rooms without floors."""
    room, _, rest = name.partition(".")
    if room not in FLOORS or not rest:
        return None
    place = rest.partition(".")[0]
    return next(number for number, floor in enumerate(FLOORS[room]) if place in floor)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_stands_below_it(room):
    inside = [name for name in MODULES if name.split(".")[0] == room]
    assert inside
    for name in inside:
        assert {other.split(".")[0] for other in imports(name)} - {room} <= ROOMS[room], name


@pytest.mark.parametrize("room", FLOORS)
def test_a_sub_room_imports_only_what_stands_below_it(room):
    for name in MODULES:
        mine = floor_of(name) if name.split(".")[0] == room else None
        for other in imports(name) if mine is not None else ():
            theirs = floor_of(other) if other.split(".")[0] == room else None
            same = name.split(".")[1:2] == other.split(".")[1:2]
            assert theirs is None or same or theirs < mine, f"{name} imports {other}"


def test_every_sub_room_has_a_floor():
    for name in MODULES:
        floor_of(name)


def test_no_circle_of_imports():
    graph = {name: imports(name) | handed_on(name) for name in MODULES}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("room", NEEDS_NO_BROWSER)
def test_only_the_reader_of_the_recorder_is_used_above_it(room):
    for name in MODULES:
        if name.split(".")[0] == room:
            used = {other for other in imports(name) if other.split(".")[0] == "recorder"}
            assert used <= {"recorder", "recorder.reader", "recorder.pictures"}, name


def test_packages_hold_only_names_handed_on():
    for name, path in MODULES.items():
        if path.name == "__init__.py":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            allowed = ast.Import | ast.ImportFrom | ast.Assign | ast.Expr
            assert all(isinstance(node, allowed) for node in tree.body), name


@pytest.mark.parametrize("name", CHEAP)
def test_pure_modules_stay_cheap(name):
    done = subprocess.run([sys.executable, "-c", f"import sys, {name}; print(*sys.modules)"], check=True, text=True,
                          capture_output=True, cwd=ROOT)
    loaded = {module.partition(".")[0] for module in done.stdout.split()}
    assert not loaded & DEAR
    assert name != "demotape.cli" or "numpy" not in loaded  # every command begins with it


def test_no_module_is_longer_than_can_be_read_at_once():
    for path in [*ROOT.glob("*/**/*.py"), *ROOT.glob("extension/**/*.js")]:
        if not {".venv", "node_modules", "vendor"} & set(path.parts):
            assert len(path.read_text(encoding="utf-8").splitlines()) <= 400, path
