"""The wheel, built from a clean checkout, in an environment outside of it.

Libraries come from this run's own environment by links, without the demotape that is installed there.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

OURS = re.compile(r"demotape|_?_editable_|pip$|pip-")  # what the new environment does not see of this one's
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
