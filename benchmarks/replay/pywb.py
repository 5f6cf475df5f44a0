"""pywb as the network of a run again, for the benchmark of replay: a recording's WARC in its proxy mode."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from benchmarks.applications import Application, install, run_program, started
from recorder.reader import Recording
from replay.archive.reading import read_recording
from replay.archive.warc.writing import write_warc

_COLLECTION = "recorded"
_SETTINGS = f"proxy:\n  coll: {_COLLECTION}\n  enable_banner: false\n  enable_content_rewrite: false\n"


def only_gets(recording: Recording) -> bool:
    """Whether a session asked for nothing but what pywb's proxy answers by address alone."""
    return {line["method"] for line in recording.exchanges()} <= {"GET"}


@contextlib.contextmanager
def served(recording: Recording, installed: Path) -> Iterator[list[str]]:
    """Serve a recording by pywb, installed from PyPI below `installed`; yields arguments of a Chromium whose every
    request goes there."""
    def prepare(programs: Path, data: Path) -> None:
        warc = data / f"{_COLLECTION}.warc.gz"
        write_warc(read_recording(recording), warc)
        (data / "config.yaml").write_text(_SETTINGS)
        run_program([str(programs / "wb-manager"), "init", _COLLECTION], data)
        run_program([str(programs / "wb-manager"), "add", _COLLECTION, str(warc)], data)

    pywb = Application(("pywb",), prepare, lambda programs, data, port: [
        str(programs / "wayback"), "--port", str(port), "--bind", "127.0.0.1", "--directory", str(data)])
    with started(pywb, install(pywb, installed / "pywb")) as address:
        yield [f"--proxy-server={address}", "--proxy-bypass-list=<-loopback>", "--ignore-certificate-errors"]
