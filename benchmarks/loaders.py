"""Do the public loaders read every export as it is, where nothing but the loader is installed?

    python -m benchmarks.loaders [--recordings DIR ...] [--only LOADER ...] [--keep DIR]

Exports the kept recording of tests/data, several times under names and tasks of their own so that there are several
splits and shards, and whatever processed recordings are given, in every format. Each loader gets a fresh environment of
its own, made with venv and pip, in which demotape cannot be imported: `datasets` with pillow, `webdataset` with pillow,
`weblinx` of the pinned version with pillow, `mlcroissant` with what it needs for Parquet and pictures. There a program
of benchmarks/loader_programs reads every row of every split and decodes every picture; rows by split are compared with
the manifest, pictures with what the other loaders of the format found. `mlcroissant validate` must find no error.
Prints a line for each format and loader; exit code 1 if anything failed.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import process
from pipeline.export import FORMATS, Rule, Source, export
from pipeline.export.manifest import read_manifest
from pipeline.export.splits import MIND2WEB
from recorder import Recording

_ROOT = Path(__file__).parents[1]
_KEPT = _ROOT / "tests" / "data" / "v1" / "kept"
_TIMES = 6  # demonstrations that are made of the kept recording
_RULE = Rule(valid=0.3, test_iid=0.3)
_SHARD = 300_000  # bytes; so small that there are several
_OURS = ("demotape", "pipeline", "recorder", "schemas", "curator_web")
_PATIENCE = 600  # seconds that a program may take


@dataclass(frozen=True)
class Loader:
    """What is installed, and the formats that it reads."""

    packages: tuple[str, ...]
    formats: tuple[str, ...]


def pinned(package: str) -> str:
    """A package as constraints.txt pins it."""
    found = re.search(rf"^{package}==\S+", (_ROOT / "constraints.txt").read_text(), re.M)
    if found is None:
        sys.exit(f"constraints.txt: {package} is not pinned")
    return found[0]


def loaders() -> dict[str, Loader]:
    """All of them, by the package that they are named after."""
    return {
        "datasets": Loader(("datasets", "pillow"), (
            "mind2web", "multimodal-mind2web", "webdataset", "parquet", "chat", "trajectories")),
        "webdataset": Loader(("webdataset", "pillow"), ("webdataset",)),
        "weblinx": Loader((pinned("weblinx"), "pillow"), ("weblinx",)),
        "mlcroissant": Loader(("mlcroissant[image,parquet]",), tuple(FORMATS))}


def sources(folder: Path, given: list[Path]) -> Iterator[Source]:
    """Demonstrations of the kept recording, and one of each recording that is given."""
    kept = folder / "kept"
    shutil.copytree(_KEPT, kept)
    demonstration = process(kept)
    for number in range(_TIMES):
        yield Source(demonstration | {"id": f"kept-{number}", "task": f"{demonstration['task']}, {number}"},
                     Recording(kept))
    for path in given:
        recording = Recording(path)
        yield Source(json.loads(recording.layout.demonstration.read_bytes()), recording)


def environment(folder: Path, packages: tuple[str, ...]) -> Path:
    """The Python of an environment with these packages, made unless it is kept; exits when ours can be imported."""
    python = folder / "bin" / "python"
    if not (folder / "installed").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        for command in ([sys.executable, "-m", "venv", str(folder)],
                        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]):
            done = subprocess.run(command, env=outside, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{' '.join(command[1:])}: {done.stderr.strip()[-2000:]}")
        (folder / "installed").touch()
    ours = f"import importlib.util, sys; sys.exit(any(map(importlib.util.find_spec, {_OURS!r})))"
    if subprocess.run([python, "-I", "-c", ours], cwd=folder).returncode:
        sys.exit(f"{folder}: demotape can be imported there")
    return python


def run(command: list[str], home: Path) -> str:
    """What a program prints, run without our surroundings; raises CalledProcessError or TimeoutExpired."""
    home.mkdir(parents=True, exist_ok=True)
    surroundings = {"PATH": os.defpath, "HOME": str(home), "HF_HOME": str(home / "hub"), "HF_HUB_OFFLINE": "1",
                    "CROISSANT_CACHE": str(home / "croissant"), "LANG": "C.UTF-8"}
    return subprocess.run(command, cwd=home, env=surroundings, capture_output=True, text=True, check=True,
                          timeout=_PATIENCE).stdout


def expected(out: Path, format: str) -> dict[str, int]:
    """Rows of each split, by the manifest; scripts, where a row is one."""
    names, rows = MIND2WEB if "mind2web" in format else {}, Counter[str]()
    for each in read_manifest(out)["demonstrations"]:
        split = each.get("split", "train")
        rows[names.get(split, split)] += bool(each["turns"]) if format == "playwright" else each["turns"]
    return dict(+rows)


def wrong(format: str, told: dict[str, Any], wanted: dict[str, int]) -> str:
    """What is wrong with what a program counted; empty if nothing is."""
    if "records" not in told:
        found, wanted_here = told["rows"], wanted
    elif format == "weblinx":  # whose splits are a file of names
        found, wanted_here = {"all": told["records"]["turns"]}, {"all": sum(wanted.values())}
    elif format == "webdataset":
        found = told["records"]
        wanted_here = {f"{split}-{kind}": rows for split, rows in wanted.items()
                       for kind in ("turns", "screenshots", "pages")}
    elif format == "playwright":  # a record a script
        found, wanted_here = told["by_split"]["scripts"], wanted
    else:
        found, wanted_here = told["by_split"]["actions" if format == "mind2web" else "rows"], wanted
    if found != wanted_here:
        return f"rows {found}, but by the manifest {wanted_here}"
    return "" if told["pictures"] or format == "playwright" else "no picture was decoded"


def read(name: str, python: Path, out: Path, format: str, home: Path, wanted: dict[str, int]) -> tuple[str, int]:
    """What is wrong when a loader reads an export, and the number of pictures that it decoded."""
    program = Path(__file__).parent / "loader_programs" / f"with_{name}.py"
    try:
        if name == "mlcroissant":
            run([str(python.with_name("mlcroissant")), "validate", "--jsonld", str(out / "croissant.json")], home)
        told = json.loads(run([str(python), "-I", str(program), str(out)], home).splitlines()[-1])
    except subprocess.CalledProcessError as error:
        return f"exit code {error.returncode}: {' '.join(error.stderr.split())[-500:]}", 0
    except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
        return str(error), 0
    return wrong(format, told, wanted), told["pictures"]


def version(python: Path, package: str) -> str:
    """Of an installed package."""
    return subprocess.run([python, "-I", "-c", f"import importlib.metadata as m; print(m.version({package!r}))"],
                          capture_output=True, text=True, check=True).stdout.strip()


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Do all of it; returns the figures."""
    outs = folder / "exports"
    shutil.rmtree(outs, ignore_errors=True)
    outs.mkdir(parents=True)
    given = list(sources(outs, options.recordings))
    for format in FORMATS:
        export(given, outs / format, format, rule=_RULE, shard_size=_SHARD)
    failed, versions, read_rows, pictures = 0, {}, 0, dict[str, int]()
    for name in options.only or loaders():
        loader = loaders()[name]
        python = environment((options.keep or folder) / "environments" / name, loader.packages)
        versions[name] = version(python, name)
        for format in loader.formats:
            start, wanted = time.perf_counter(), expected(outs / format, format)
            fault, found = read(name, python, outs / format, format, folder / "homes" / f"{name}-{format}", wanted)
            if not fault and pictures.setdefault(format, found) != found:
                fault = f"{found} pictures, but another loader found {pictures[format]}"
            failed += bool(fault)
            read_rows += sum(wanted.values())
            rows = ", ".join(f"{split} {count}" for split, count in wanted.items())
            print(f"{format} with {name} {versions[name]}: " + (f"FAILED: {fault}" if fault else
                  f"{rows}; {found} pictures; {time.perf_counter() - start:.1f} s"), flush=True)
    return {"benchmark": "loaders", "demonstrations": len(given), "versions": versions, "rows_read": read_rows,
            "failed": failed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recordings", type=Path, nargs="+", default=[], metavar="DIR",
                        help="processed recordings that are exported, too")
    parser.add_argument("--only", nargs="+", choices=loaders(), help="loaders that are tried")
    parser.add_argument("--keep", type=Path, metavar="DIR",
                        help="folder in which environments are kept and found again, and exports stay")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="demotape-loaders-") as temporary:
        folder = Path(temporary) if options.keep is None else options.keep.resolve()
        if options.keep is not None:
            options.keep = folder
            shutil.rmtree(folder / "homes", ignore_errors=True)
        figures = measure(options, folder)
    print(json.dumps(figures))
    sys.exit(1 if figures["failed"] else 0)


if __name__ == "__main__":
    main()
