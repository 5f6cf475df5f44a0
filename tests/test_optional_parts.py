"""The core works without any extra: it imports no optional part, and names the extra of one that is asked for."""

import ast
import html
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache

import pytest
from click.testing import CliRunner

from curator_web import create_app
from curator_web.jobs.export_presets import save as save_preset
from demotape import wsgi
from demotape.cli import main
from demotape.commands.hints import copyable
from pipeline import extras
from schemas import InputError
from tests.support.checkout import ROOT
from tests.support.curator.team_fixtures import LEA
from tests.support.kept import DATA
from tests.support.samples.sounds import spoken, track, video_with
from tests.test_architecture import MODULES, handed_on, imports

# Packages, and modules where one is enough, with what only an extra needs. Each is imported inside a function.
OPTIONAL = (
    "pipeline.cluster", "pipeline.hub", "pipeline.judging", "pipeline.ranker", "pipeline.speech",
    "pipeline.export.trained_scorers", "pipeline.outcomes.benchmark_tasks", "pipeline.privacy.names",
    "pipeline.privacy.ocr", "replay.archive.warc", "curator_web.judging", "curator_web.web.openid",
    "curator_web.web.telemetry", "demotape.demo", "demotape.site", "demotape.trainers")
LIBRARIES = {module.partition(".")[0] for extra in extras.EXTRAS.values() for module in extra.libraries.values()}
OUTSIDE = {("curator_web.db.timeouts", "psycopg")}  # only for the type of database that SQLAlchemy has loaded it for
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Modules of the core's dependencies whose names are not those of their packages.
IMPORTED_AS = {"pyyaml": "yaml", "google-re2": "re2", "markdown-it-py": "markdown_it", "opencv-python-headless": "cv2",
               "pyspellchecker": "spellchecker", "python-stdnum": "stdnum", "scikit-image": "skimage"}
WITHOUT_EXTRAS = """
import importlib, json, sys
from pathlib import Path

blocked, modules, recording = json.loads(sys.argv[1]), json.loads(sys.argv[2]), Path(sys.argv[3])


class Blocked:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Blocked)
for name in modules:
    importlib.import_module(name)
from demotape.cli import main
from demotape.commands.hints import copyable
from pipeline.export import Source, export
from recorder import Recording
from schemas import DemonstrationSchema
from schemas.files import read_json

main(["--help"], standalone_mode=False)
main(["process", str(recording)], standalone_mode=False)
demonstration = read_json(recording / "demonstration.json", DemonstrationSchema())
print(export([Source(demonstration, Recording(recording))], recording.parent / "export", "weblinx").samples)
"""


def is_optional(name: str) -> bool:
    return any(f"{name}.".startswith(f"{room}.") for room in OPTIONAL)


CORE = sorted(name for name in MODULES if not is_optional(name))


def packages(requirements: list[str]) -> set[str]:
    """Names of packages without extras and versions."""
    return {re.split(r"[\[<>=]", requirement)[0] for requirement in requirements}


@cache
def imported_libraries(name: str) -> set[str]:
    """First parts of the modules that are not ours and that a module imports anywhere."""
    nodes = list(ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))))
    dotted = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    dotted += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return {module.partition(".")[0] for module in dotted}


def test_the_core_imports_optional_parts_only_inside_functions():
    assert set(OPTIONAL) <= MODULES.keys()
    for name in CORE:
        found = {other for other in imports(name, lazy=False) | handed_on(name) if is_optional(other)}
        assert not found, f"{name} imports {found}"


def test_only_optional_parts_import_libraries_of_extras():
    found = {(name, library) for name in CORE for library in imported_libraries(name) & LIBRARIES}
    assert found == OUTSIDE


def test_every_dependency_of_the_core_is_imported_by_it():
    imported = set().union(*map(imported_libraries, CORE))
    modules = {IMPORTED_AS.get(package, package.replace("-", "_")) for package in packages(PROJECT["dependencies"])}
    assert modules <= imported


def test_extras_are_those_of_the_project():
    declared = PROJECT["optional-dependencies"]
    assert extras.EXTRAS.keys() == declared.keys() - {"test"}
    for name, extra in extras.EXTRAS.items():
        brought = {"accelerate", "datasets"} if name == "encoder" else set()  # by sentence-transformers[train]
        assert set(extra.libraries) <= packages(declared[name]) | brought


def test_the_core_works_without_any_extra(tmp_path):
    shutil.copytree(DATA / "v1" / "kept", tmp_path / "kept")
    modules = [name for name in CORE if ".migrations." not in name]
    blocked = sorted(LIBRARIES | {"gunicorn", "webdataset"})
    done = subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS, json.dumps(blocked), json.dumps(modules),
                           tmp_path / "kept"], cwd=ROOT, text=True, capture_output=True, timeout=120,
                          env=os.environ | {"DEMOTAPE_DATA": str(tmp_path / "data")})
    assert done.returncode == 0, done.stderr
    assert "Record, review and export" in done.stdout and int(done.stdout.split()[-1]) > 0
    assert (tmp_path / "export" / "manifest.json").is_file()


@pytest.fixture
def blocked(monkeypatch):
    """Makes the libraries of an extra impossible to import; returns the message that names it."""
    def block(name: str) -> str:
        for module in extras.EXTRAS[name].libraries.values():
            monkeypatch.setitem(sys.modules, module, None)
        library = next(iter(extras.EXTRAS[name].libraries))
        return f"{extras.EXTRAS[name].use} needs {library}; install it with: pip install 'demotape[{name}]'"
    return block


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the commands work on."""
    root = tmp_path_factory.mktemp("optional")
    shutil.copytree(DATA / "v1" / "kept", root / "kept")
    video_with(root / "meeting.mp4", [track(1.0, {0.0: spoken("one")})], length=1.0)
    (root / "splits.json").write_text('{"train": []}')
    (root / "session.wacz").write_bytes(b"")
    create_app(data_dir=root / "data")
    return root


EXPORT = ("export", "{}/out", "--format", "weblinx", "--data", "{}/data")
COMMANDS = {
    "cluster": ("process", "{}/kept", "--scheduler", "tcp://127.0.0.1:1"),
    "demo": ("demo", "--out", "{}/demo"),
    "encoder": ("ranker", "train", "{}", "--output", "{}/ranker", "--encoder", "model"),
    "hub": ("push", str(DATA / "v1" / "export"), "hf://owner/name"),
    "mcp": ("env", "mcp", "{}/kept"),
    "names": (*EXPORT, "--names"),
    "ocr": (*EXPORT, "--ocr"),
    "openenv": ("env", "serve", "{}/kept"),
    "openid": ("review", "--data", "{}/data"),
    "postgresql": (*EXPORT, "--db", "postgresql+psycopg://user@127.0.0.1:1/name"),
    "ranker": ("ranker", "train", "{}", "--output", "{}/ranker.json"),
    "speech": ("process", "{}/kept", "--video", "{}/meeting.mp4", "--recogniser", "faster-whisper",
               "--speech-model", "model"),
    "wacz": ("replay", "export", "{}/session.wacz", "{}/session.har")}
SETTINGS = {"production": {"DEMOTAPE_METRICS_TOKEN": "x" * 16},
            "traces": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}}  # only a WSGI server reads these


TRAINERS = {"inspect": "demotape.trainers.inspect_task",
            "verifiers": "demotape.trainers.verifiers_tasks"}  # imported by the tools of the extra


def test_every_extra_is_tried():
    assert COMMANDS.keys() | SETTINGS.keys() | TRAINERS.keys() == extras.EXTRAS.keys()


@pytest.mark.parametrize("extra", TRAINERS)
def test_a_module_names_the_extra_that_it_needs(extra, blocked):
    message = blocked(extra)
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        importlib.import_module(TRAINERS[extra])


@pytest.mark.parametrize("extra", COMMANDS)
def test_a_command_names_the_extra_that_it_needs(extra, folder, blocked, monkeypatch):
    message = blocked(extra)
    monkeypatch.setenv("DEMOTAPE_OPENID_ISSUER", "https://accounts.example")
    done = CliRunner().invoke(main, [argument.format(folder) for argument in COMMANDS[extra]])
    assert done.exit_code == 2 and done.output.splitlines() == [f"error: {copyable(message)}"]


@pytest.mark.parametrize("extra", SETTINGS)
def test_a_server_names_the_extra_that_it_needs(extra, tmp_path, blocked, monkeypatch):
    message = blocked(extra)
    for name, value in (SETTINGS[extra] | {"DEMOTAPE_DATA": str(tmp_path)}).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        wsgi.make_app()


def test_a_model_that_is_not_a_file_names_the_extra(blocked):
    from pipeline.export.model_input.scorers import scorer

    blocked("encoder")
    with pytest.raises(InputError, match=r"^--scorer name, which is not a file, needs sentence-transformers; install "
                                         r"it with: pip install 'demotape\[encoder\]'$"):
        scorer("name")


@pytest.mark.parametrize("extra", ["names", "ocr"])
def test_the_export_page_names_the_extra_that_an_option_needs(extra, tmp_path, blocked, monkeypatch):
    monkeypatch.setattr(extras, "_is_installed", lambda module: True)
    app = create_app(data_dir=tmp_path)
    client = app.test_client()
    control = re.compile(rf'<input type="checkbox" name="{extra}"[^>]*>')
    before = client.get("/exports").text
    assert "install it with" not in before and "disabled" not in control.search(before)[0]
    monkeypatch.undo()
    message = blocked(extra)
    page = html.unescape(client.get("/exports").text)
    assert f">{message[0].upper()}{message[1:]}<" in page
    assert f'aria-describedby="{extra}-hint"' in control.search(page)[0] and "disabled" in control.search(page)[0]
    preset = save_preset(app.extensions["demotape"].db, LEA, "all", {"format": "weblinx", extra: "true"})
    chosen = control.search(client.get(f"/exports?preset={preset.id}").text)[0]
    assert "checked" in chosen and "disabled" not in chosen  # else the export would be made without the option
