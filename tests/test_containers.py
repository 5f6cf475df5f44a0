"""Containerfile and compose.yaml, as far as they go without pulling images: what is built of what is copied, and what
the commands start."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

from tests.support.checkout import ROOT
from tests.support.waiting import wait_until
from tests.test_production import DOCUMENT, block, free_port

PACKAGES = ("schemas", "recorder", "pipeline", "replay", "extension", "curator_web", "demotape")


def instructions() -> list[tuple[str, str]]:
    """Each instruction of the Containerfile with what stands after it."""
    text = re.sub(r"\\\n", " ", (ROOT / "Containerfile").read_text())
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip() and not line.startswith("#")]


def of(kind: str) -> list[str]:
    return [rest for name, rest in instructions() if name == kind]


def environment() -> dict[str, str]:
    return dict(part.split("=", 1) for rest in of("ENV") for part in shlex.split(rest))


def compose() -> dict:
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


def tracked(*folders: str) -> set[str]:
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders], cwd=ROOT,
                            check=True, capture_output=True, text=True).stdout.splitlines()
    return {name for name in listed if (ROOT / name).is_file()}


def test_what_is_copied_makes_the_whole_wheel(tmp_path):
    for rest in of("COPY"):
        *sources, target = rest.split()
        if sources[0].startswith("--from"):
            continue
        for source in sources:
            assert (ROOT / source).exists(), source
            if target.startswith("."):
                for name in tracked(source):
                    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(ROOT / name, tmp_path / name)
    assert "python -m pip wheel --no-deps --wheel-dir /wheels ." in of("RUN")[0]
    # Its front-end libraries aside, which the build fetches; tests/demotape/test_demo.py builds it with them.
    subprocess.run([sys.executable, "-m", "hatchling", "build", "--target", "wheel"], cwd=tmp_path, check=True,
                   capture_output=True, env=os.environ | {"HATCH_BUILD_NO_HOOKS": "true"})
    with zipfile.ZipFile(next(tmp_path.glob("dist/*.whl"))) as wheel:
        assert tracked(*PACKAGES) <= set(wheel.namelist())
    assert {"hatch_build.py", "package.json", "package-lock.json"} <= {path.name for path in tmp_path.iterdir()}


def test_the_app_is_another_users_and_has_extras_that_exist():
    order = [name for name, _ in instructions()]
    assert order.index("USER") < order.index("CMD") and of("USER") == ["10001"]
    assert "--uid 10001" in of("RUN")[1] and "--owner demotape" in of("RUN")[1]
    extras = re.search(r"demotape-\*\.whl\)\[([\w,]+)\]", of("RUN")[1])[1].split(",")
    project = (ROOT / "pyproject.toml").read_text()
    assert all(re.search(rf"^{extra} = \[", project, re.M) for extra in extras)
    assert (ROOT / "LICENSE").exists() and of("VOLUME") == [environment()["DEMOTAPE_DATA"]]


def test_the_command_starts_the_app(tmp_path):
    port, command = free_port(), json.loads(of("CMD")[0])
    assert command[0] == "gunicorn" and " ".join(command[1:-3]) in block("ini")  # as the unit has it
    changed = {"0.0.0.0:8000": f"127.0.0.1:{port}", "4": "1"}  # the address, and how many workers
    command = [changed.get(part, part) for part in command]
    app = subprocess.Popen([Path(sys.executable).with_name(command[0]), *command[1:]], cwd=tmp_path,
                           stderr=subprocess.DEVNULL, env={**os.environ, "DEMOTAPE_DATA": str(tmp_path / "data")})
    check = json.loads(of("HEALTHCHECK")[0].removeprefix("CMD"))
    try:
        healthy = [sys.executable, *check[1:-1], check[-1].replace(":8000", f":{port}")]
        wait_until(lambda: app.poll() is not None or not subprocess.run(healthy, stderr=subprocess.DEVNULL).returncode,
                   what="the health check")
        assert app.poll() is None
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as answer:
            assert answer.status == 200
        assert (tmp_path / "data" / "demotape.db").exists()
    finally:
        app.send_signal(signal.SIGTERM)
        app.wait(60)


@pytest.mark.parametrize("name", compose()["services"])
def test_a_service_names_what_exists(name):
    found = compose()
    service, services = found["services"][name], found["services"]
    assert set(service.get("depends_on", ())) <= services.keys()
    assert {volume.partition(":")[0] for volume in service.get("volumes", ())} <= found["volumes"].keys()
    for other, wanted in service.get("depends_on", {}).items():
        assert wanted["condition"] != "service_healthy" or "healthcheck" in services[other]
    if "build" not in service:
        assert re.search(r":[\w.-]+$", service["image"])  # of a version
        return
    assert (ROOT / service["build"]["context"] / service["build"]["dockerfile"]).exists()
    variables = {name for name in service["environment"] if name.startswith("DEMOTAPE_")}
    assert all(f"`{variable}`" in DOCUMENT for variable in variables)
    for url in re.findall(r"(?:://|@)([a-z]+)(?::\d+)?(?:/|$)", " ".join(
            [str(service["environment"][name]) for name in ("DEMOTAPE_DB", "DEMOTAPE_ENDPOINT_URL")])):
        assert url in services
    program, *rest = service.get("command", json.loads(of("CMD")[0]))
    assert Path(sys.executable).with_name(program).exists()
    if program == "dask":
        command = entry_points(group="dask_cli")[rest[0]].load()
        context = command.make_context(rest[0], rest[1:])  # the options are those of this version
        assert context.params["port" if rest[0] == "scheduler" else "nthreads"]


def test_each_variable_that_compose_wants_is_told_in_the_document():
    wanted = set(re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text()))
    assert wanted and all(f"{name}=" in DOCUMENT or f"`{name}`" in DOCUMENT for name in wanted)
