"""Blobs of a running recording: written with a fast compression, then made small by a separate low-priority process.

`python -m recorder.blob_process FOLDER` reads requests from its standard input, each a line of JSON: the kind of a blob
(`kind`), whether the work is urgent (`urgent`), and the name of a blob that stands alone, to be made small (`blob`), or
the bytes of a picture that follows the line, to be stored (`picture`). Urgent work has the usual priority, other work
yields to the person, the browser and a server on the same machine. It answers each with a line of JSON, the blob's name
or null if it failed, and ends with its input.
"""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO

from recorder import bitmaps, blobs
from recorder.blob_store import BlobStore, clear_errors
from recorder.priority import NICENESS, set_group_niceness, step_back_thread
from schemas import RecordingLayout
from schemas.files import TEMPORARY_PREFIX, write_atomically

BACKLOG_LIMIT_BYTES = 16 << 20  # size of the files that wait to be made small, above which that work is urgent
PICTURE_LIMIT_S = 0.3  # time for which an event waits until a picture is stored as a bitmap
CLOSING_LIMIT_S = 3.0  # time for which the end of a recording waits for that work
_STARTS_LIMIT = 3  # starts of the process in a row without any work done


@dataclass
class _Request:
    """A file that waits to be made small; `size`: its bytes. Or a picture that an event waits for."""

    kind: str | None
    size: int
    blob: str = ""
    picture: bytes = b""
    stored: Future[str | None] = field(default_factory=Future)  # of a picture: its name, None if that failed

    def line(self, urgent: bool) -> bytes:
        """What the process is sent."""
        request = {"kind": self.kind, "urgent": urgent, "blob": self.blob, "picture": len(self.picture)}
        return json.dumps(request).encode() + b"\n" + self.picture


class BlobProcess:
    """As BlobStore, but `store` waits only for a fast compression; the files are replaced later (`BlobStore.shrink`).

    Decoding a picture takes longer, so that is left to the process. One that it does not store in time is kept as it
    came. No content waits in memory, and each file can be read at any time. The end of the recording does not wait for
    long: a file that is not replaced then is only larger. So it is when the process cannot do its work.
    """

    def __init__(self, layout: RecordingLayout):
        self._layout = layout
        self._known: set[str] = set()
        self._requests: deque[_Request] = deque()
        self._picture: _Request | None = None  # it comes before those
        self._bytes = 0  # of the files that wait
        self._changed = threading.Condition()
        self._urgent = self._closing = self._expired = False
        self._group_niceness = 0  # as the system took it
        self._left: list[str] = []  # blobs whose files are as they were
        self._process = self._start()
        self._set_urgent(False)
        self._thread = threading.Thread(target=self._run, name="blobs", daemon=True)
        self._thread.start()

    def store(self, content: bytes, kind: str | None = None, *, picture: bool = False) -> str:
        """Keep a blob; see BlobStore."""
        if picture:
            try:
                if name := self._ask_to_store(content, kind):
                    return name
                content = bitmaps.bitmap(content)
            except TimeoutError:
                kind = None
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 not in self._known:
            data = blobs.compress_fast(blobs.Form.from_content(content))
            with clear_errors(self._layout.root):
                write_atomically(self._layout.blob(sha256), data, sync=False)
            self._known.add(sha256)
            self._add(_Request(kind, len(data), sha256))
        return sha256

    def _ask_to_store(self, picture: bytes, kind: str | None) -> str | None:
        """Have the process store a picture; None if it cannot. Raises TimeoutError when that takes too long."""
        with self._changed:
            if self._picture:
                raise TimeoutError  # one that took too long before
            request = self._picture = _Request(kind, 0, picture=picture)
            self._changed.notify()
        return request.stored.result(PICTURE_LIMIT_S)

    def close(self) -> None:
        """Wait a while until the files are small, and sync those that are not."""
        with self._changed:
            self._closing = True
            self._set_urgent(True)
            self._changed.notify()
        self._thread.join(CLOSING_LIMIT_S)
        self._expired = True
        self._thread.join(CLOSING_LIMIT_S)  # for the one in work
        if self._thread.is_alive():
            self._process.kill()
            self._thread.join()
            for unfinished in self._layout.blobs.glob(f"*/{TEMPORARY_PREFIX}*"):
                unfinished.unlink(missing_ok=True)
        self._end_process()
        for name in (*self._left, *(request.blob for request in self._requests)):
            with suppress(OSError), self._layout.blob(name).open("rb") as file:
                os.fsync(file.fileno())

    def _add(self, request: _Request) -> None:
        with self._changed:
            self._requests.append(request)
            self._bytes += request.size
            if self._bytes > BACKLOG_LIMIT_BYTES:
                self._set_urgent(True)
            self._changed.notify()

    def _set_urgent(self, urgent: bool) -> None:
        """Whether the work is urgent from now on, including what has begun."""
        self._urgent = urgent
        niceness = 0 if urgent else NICENESS
        if niceness != self._group_niceness and set_group_niceness(self._process.pid, niceness):
            self._group_niceness = niceness

    def _run(self) -> None:
        """Hand over one request after the other until the end; the thread."""
        failures = 0
        while request := self._next():
            answer = self._ask(request) if failures < _STARTS_LIMIT else b"null"
            if answer:
                name: str | None = json.loads(answer)
                failures = 0 if name else failures
                self._remove(request, name)
            elif not self._expired:
                failures += 1
                self._restart()

    def _next(self) -> _Request | None:
        """The picture, or the request that has waited longest; waits for one, and returns None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._picture or self._requests or self._closing)
            self._set_urgent(self._urgent)  # the system may have refused before
            return None if self._expired else self._picture or next(iter(self._requests), None)

    def _remove(self, request: _Request, name: str | None) -> None:
        with self._changed:
            if request is self._picture:
                self._picture = None
                request.stored.set_result(name)
                return
            self._requests.popleft()
            self._bytes -= request.size
            if not name:
                self._left.append(request.blob)
            if self._bytes < BACKLOG_LIMIT_BYTES // 2 and not self._closing:
                self._set_urgent(False)

    def _ask(self, request: _Request) -> bytes:
        """The answer of the process; empty when it has ended."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests and answers
        try:
            requests.write(request.line(self._urgent))
            requests.flush()
        except OSError:
            return b""
        answer = answers.readline()
        return answer if answer.endswith(b"\n") else b""

    def _restart(self) -> None:
        with self._changed:
            self._end_process()
            self._process = self._start()

    def _end_process(self) -> None:
        with suppress(OSError):
            self._process.communicate()

    def _start(self) -> subprocess.Popen[bytes]:
        self._group_niceness = 0
        return subprocess.Popen(
            [sys.executable, "-P", __file__, str(self._layout.root.absolute())], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,  # Ctrl-C does not end it
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})


def serve(store: BlobStore, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until they end, be it amidst one."""
    with ThreadPoolExecutor(1, initializer=step_back_thread) as low_priority:
        for line in requests:
            if not line.endswith(b"\n"):
                return
            request = json.loads(line)
            picture = requests.read(request["picture"])
            if len(picture) < request["picture"]:
                return
            work = partial(_done, store, request, picture)
            name = work() if request["urgent"] else low_priority.submit(work).result()
            answers.write(json.dumps(name).encode() + b"\n")
            answers.flush()


def _done(store: BlobStore, request: dict[str, Any], picture: bytes) -> str | None:
    """Do what is requested; returns the blob's name, None if it failed."""
    try:
        if picture:
            return store.store(picture, request["kind"], picture=True)
        store.shrink(request["blob"], request["kind"])
    except Exception:  # of any kind: files stay as they are, and who asked knows what else to do
        return None
    name: str = request["blob"]
    return name


if __name__ == "__main__":
    serve(BlobStore(RecordingLayout(sys.argv[1])), sys.stdin.buffer, sys.stdout.buffer)
