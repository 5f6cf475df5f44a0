"""Writes a bundle: one HTML file with a viewer, the runs as JSON, and their pictures and pages."""

import base64
import gzip
import hashlib
import json
import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipeline.batch import refreshed
from pipeline.export import LeftOut, Options, Source, secret_digests_of
from pipeline.isolation import allowance_for, run_isolated
from pipeline.pages import restoring
from recorder import Recording
from schemas import DemonstrationSchema, DemotapeError, InputError
from schemas.files import read_json, written_atomically

from .encoding import encode
from .run_content import Part, RunContent

_HERE = Path(__file__).parent
_RUNS_ID = "runs"


@dataclass
class Bundle:
    """What was written. `size`: bytes of the file; `failed`: runs that could not be read."""

    runs: int = 0
    turns: int = 0
    size: int = 0
    notes: list[str] = field(default_factory=list)
    failed: list[LeftOut] = field(default_factory=list)


def write_bundle(recordings: Sequence[Path], out: Path, *, options: Options | None = None,
                 without: Collection[str] = (), progress: Callable[[str], None] = lambda name: None) -> Bundle:
    """Write one HTML file that shows the demonstrations of recordings, in their order, and opens without a network.

    A recording without a demonstration is processed. What exports redact is redacted (`options.allow`); `without`: any
    of `pages` and `network`. A recording that cannot be read is in `failed`; raises InputError when none can.
    """
    bundle = Bundle()
    with TemporaryDirectory(prefix="demotape-bundle-") as folder:
        runs: list[dict[str, Any]] = []
        files: list[Path] = []
        written: frozenset[str] = frozenset()
        options = _with_digests(options or Options(), recordings)
        for number, path in enumerate(recordings):
            file = Path(folder) / str(number)
            try:
                run, written = run_isolated(allowance_for(path), str(path), _write_run, path, file, options,
                                            tuple(without), written)
            except DemotapeError as error:
                bundle.failed.append(LeftOut(path.name, str(error)))
            else:
                runs.append(run)
                files.append(file)
            progress(str(path))
        if not runs:
            raise InputError(f"nothing was written: {bundle.failed[0].reason}" if bundle.failed else
                             "nothing was written: no recordings were passed")
        bundle.runs, bundle.turns = len(runs), sum(len(run["turns"]) for run in runs)
        bundle.notes = [f"{run['id']}: {note}" for run in runs for note in run["notes"]]
        bundle.size = _write_document(out, runs, files)
    return bundle


def _with_digests(options: Options, recordings: Sequence[Path]) -> Options:
    readable = []
    for path in recordings:
        try:
            readable.append(Recording(path))
        except InputError:
            continue  # it is reported when it is read
    return replace(options, secret_digests=secret_digests_of(readable))


def _write_run(path: Path, file: Path, options: Options, without: Collection[str], written: frozenset[str]
               ) -> tuple[dict[str, Any], frozenset[str]]:
    """In the process with limits: write the parts of a run that are not written yet, encoded, to a file."""
    recording = Recording(path)
    exists = recording.layout.demonstration.is_file()
    demonstration = read_json(recording.layout.demonstration, DemonstrationSchema()) if exists else refreshed(path)
    content = RunContent(Source(demonstration, recording), options, without)
    names = set(written)
    with file.open("wb") as stream:
        for part in content.parts():
            if part.id not in names:
                names.add(part.id)
                stream.write(_element(part))
    return content.about(), frozenset(names)


def _element(part: Part) -> bytes:
    about = f' data-media="{part.media}"' if part.media else ""
    return (f'<script type="application/octet-stream" id="{part.id}"{about}>'.encode()
            + encode(part.content) + b"</script>\n")


def _write_document(out: Path, runs: list[dict[str, Any]], files: list[Path]) -> int:
    listed = gzip.compress(json.dumps(runs, allow_nan=False).encode("ascii"), mtime=0)
    with written_atomically(out) as stream:
        stream.write(_head(runs[0]["task"] or runs[0]["id"]) + _element(Part(_RUNS_ID, "", listed)))
        stream.write(f"<script>{_viewer()}</script>\n".encode("ascii"))
        for file in files:
            with file.open("rb") as parts:
                shutil.copyfileobj(parts, stream)
        return stream.tell()


def _head(title: str) -> bytes:
    """The document up to its data. In windows-1252, so all else is ASCII with character references."""
    digest = base64.b64encode(hashlib.sha256(_viewer().encode()).digest()).decode()
    policy = (f"default-src 'none'; script-src 'sha256-{digest}' {restoring.CSP_SOURCE}; style-src 'unsafe-inline'; "
              "img-src blob: data:; font-src data:; base-uri 'none'; form-action 'none'")
    text = (_HERE / "viewer.html").read_text(encoding="utf-8")
    text = text.replace("{policy}", escape(policy)).replace("{title}", escape(title))
    text = text.replace("{style}", (_HERE / "viewer.css").read_text(encoding="utf-8"))
    return text.encode("ascii", "xmlcharrefreplace")


def _viewer() -> str:
    return (_HERE / "viewer.js").read_text(encoding="utf-8").strip()
