"""The wheel, built from a checkout in which nothing was set up, works in an environment outside of it.

Libraries come from this run's own environment by links, without the demotape that is installed there.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import urllib.request
from pathlib import Path
from urllib.parse import urljoin

import pytest

from tests.support.checkout import ROOT

OURS = re.compile(r"demotape|_?_editable_|pip$|pip-")  # what the new environment does not see of this one's
VENDORED = {"htmx.min.js", "Sortable.min.js"}
WHERE = "import curator_web, demotape; print(curator_web.__file__, demotape.__file__, sep='\\n')"


def run(*command, cwd: Path, **environment) -> str:
    """What a program prints, run with nothing of this checkout in its environment."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(list(map(str, command)), cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, env=kept | environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """The files that Git holds or would, as they are now, and no others."""
    folder = tmp_path_factory.mktemp("checkout")
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():  # not one that was just removed
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    assert not (folder / "curator_web/web/static/vendor").exists()
    return folder


@pytest.fixture(scope="module")
def wheel(checkout, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, checkout, cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """Folder of the programs of an environment that has the wheel."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    links = folder / "links"
    links.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not OURS.match(entry.name):
            (links / entry.name).symlink_to(entry)
    packages = run(programs / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    Path(packages.strip(), "links.pth").write_text(f"{links}\n")
    # --no-index: whatever the links do not hold is an error, and none of them is replaced.
    run(sys.executable, "-m", "pip", "--python", programs / "python", "install", "--no-index",
        "--constraint", ROOT / "constraints.txt", f"{wheel}[demo]", cwd=folder)
    for found in run(programs / "python", "-c", WHERE, cwd=folder).splitlines():
        assert Path(found).is_relative_to(folder / "venv"), found
    return programs


def test_the_demo_runs_and_the_review_page_has_its_scripts(installed, tmp_path):
    told = run(installed / "demotape", "demo", cwd=tmp_path)
    assert "15 good out of 15" in told
    serving = subprocess.Popen([installed / "demotape", "review", "--data", "demotape-demo/review", "--port", "0"],
                               cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                               env=os.environ | {"PYTHONUNBUFFERED": "1"})
    try:
        address = re.search(r"http://\S+", serving.stdout.readline())[0]
        review = urljoin(address, re.search(r'href="(/demonstrations/[^"]+)"', fetch(address))[1])
        scripts = re.findall(r'<script src="([^"]+)"', fetch(review))
        assert {script.rpartition("/")[2].partition("?")[0] for script in scripts} > VENDORED
        assert all(fetch(urljoin(review, script)).strip() for script in scripts)
    finally:
        serving.terminate()
        serving.communicate()


def fetch(address: str) -> str:
    """What is served there; raises HTTPError for any other status than 200."""
    with urllib.request.urlopen(address, timeout=30) as answer:
        return answer.read().decode()


def test_a_wheel_is_built_from_the_sdist_without_npm(checkout, wheel, tmp_path):
    run(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", tmp_path, cwd=checkout)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    unpacked = next(path for path in tmp_path.iterdir() if path.is_dir())
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir",
        tmp_path, unpacked, cwd=tmp_path, PATH="")
    assert not (unpacked / "node_modules").exists()
    assert next(tmp_path.glob("*.whl")).stat().st_size == wheel.stat().st_size


def test_a_build_that_cannot_have_npm_says_so_in_one_line(checkout, tmp_path):
    broken = shutil.copytree(checkout, tmp_path / "broken", ignore=shutil.ignore_patterns("node_modules", "vendor"))
    (broken / "package-lock.json").write_text("{}")
    done = subprocess.run([sys.executable, "-m", "hatchling", "build", "--target", "wheel"], cwd=broken,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and "demotape: the front-end libraries cannot be brought" in done.stderr
