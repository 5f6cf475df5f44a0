"""Writes blobs in a separate low-priority process: compression yields to the person, the browser and a server on the
same machine.

`python -m recorder.blob_process FOLDER` reads requests from its standard input, each a header (bytes of the kind, bytes
of the content, whether it is a picture), the kind and the content, and answers each with a line of JSON: `blob`, or
`error` and `message`. It ends with its input.
"""

import json
import os
import struct
import subprocess
import sys
from contextlib import suppress
from typing import Any, BinaryIO

from recorder.blob_store import Blobs, BlobStore
from recorder.priority import step_back
from schemas import DemotapeError, DiskFull, RecordingLayout

_HEADER = struct.Struct("<IQ?")


class BlobProcess:
    """As BlobStore; where the process ends too early, its work is done here."""

    def __init__(self, layout: RecordingLayout):
        self._layout = layout
        self._here: Blobs | None = None
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(layout.root.absolute())], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,  # Ctrl-C does not end it
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
        step_back(self._process.pid)

    def store(self, content: bytes, kind: str | None = None, *, picture: bool = False) -> str:
        """Keep a blob; see BlobStore."""
        answer = None if self._here else self._ask(content, kind or "", picture)
        if answer is None:
            self._here = self._here or BlobStore(self._layout)
            return self._here.store(content, kind, picture=picture)
        if "error" in answer:
            raise _ERRORS.get(answer["error"], RuntimeError)(answer["message"])
        name: str = answer["blob"]
        return name

    def close(self) -> None:
        """Have the process end; all that was asked for is done."""
        with suppress(OSError):
            self._process.communicate()

    def _ask(self, content: bytes, kind: str, picture: bool) -> dict[str, Any] | None:
        """The process's answer; None when it has ended."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests and answers
        try:
            requests.write(_HEADER.pack(len(kind.encode()), len(content), picture) + kind.encode())
            requests.write(content)
            requests.flush()
        except OSError:
            return None
        line = answers.readline()
        answer: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
        return answer


_ERRORS: dict[str, type[Exception]] = {error_type.__name__: error_type
                                       for error_type in (DemotapeError, DiskFull, MemoryError)}


def serve(blobs: Blobs, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until they end, be it amidst one."""
    while len(header := requests.read(_HEADER.size)) == _HEADER.size:
        kind_length, length, picture = _HEADER.unpack(header)
        kind, content = requests.read(kind_length).decode(), requests.read(length)
        if len(content) < length:
            return
        try:
            answer = {"blob": blobs.store(content, kind or None, picture=picture)}
        except Exception as error:  # who asked knows what it costs
            message = str(error) if isinstance(error, DemotapeError) else ""  # others may hold what the page holds
            answer = {"error": type(error).__name__, "message": message}
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    serve(BlobStore(RecordingLayout(sys.argv[1])), sys.stdin.buffer, sys.stdout.buffer)
