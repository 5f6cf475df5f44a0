"""Blobs of a running recording: each is in a file at once, which a separate process makes small when it has time.

`python -m recorder.blob_process FOLDER` reads requests from its standard input, each a line of JSON with the name of a
blob that stands alone (`blob`), its kind (`kind`) and whether the work is urgent (`urgent`): urgent work has the usual
priority, other work yields to the person, the browser and a server on the same machine. It answers each with a line of
JSON, whether the file could be replaced, and ends with its input.
"""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import BinaryIO, NamedTuple

from recorder import bitmaps, blobs
from recorder.blob_store import BlobStore, clear_errors
from recorder.priority import NICENESS, set_group_niceness, step_back_thread
from schemas import RecordingLayout
from schemas.files import TEMPORARY_PREFIX, write_atomically

BACKLOG_LIMIT_BYTES = 16 << 20  # size of the files that wait to be made small, above which that work is urgent
CLOSING_LIMIT_S = 3.0  # time for which the end of a recording waits for that work
_STARTS_LIMIT = 3  # starts of the process in a row without any work done


class _Request(NamedTuple):
    """A file that waits to be made small; `size`: its bytes."""

    blob: str
    kind: str | None
    size: int


class BlobProcess:
    """As BlobStore, but `store` waits only for a fast compression; the files are replaced later (`BlobStore.shrink`).

    No content waits in memory, and each file can be read at any time. The end of the recording does not wait for long:
    a file that is not replaced then is only larger. So it is when the process cannot do its work.
    """

    def __init__(self, layout: RecordingLayout):
        self._layout = layout
        self._known: set[str] = set()
        self._requests: deque[_Request] = deque()
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
            content = bitmaps.bitmap(content)
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 not in self._known:
            data = blobs.compress_fast(blobs.Form.from_content(content))
            with clear_errors(self._layout.root):
                write_atomically(self._layout.blob(sha256), data, sync=False)
            self._known.add(sha256)
            self._add(_Request(sha256, kind, len(data)))
        return sha256

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
            answer = self._ask(request) if failures < _STARTS_LIMIT else b"false"
            if answer:
                done: bool = json.loads(answer)
                failures = 0 if done else failures
                self._remove(request, done)
            elif not self._expired:
                failures += 1
                self._restart()

    def _next(self) -> _Request | None:
        """The request that has waited longest; waits for one, and returns None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._requests or self._closing)
            self._set_urgent(self._urgent)  # the system may have refused before
            return self._requests[0] if self._requests and not self._expired else None

    def _remove(self, request: _Request, done: bool) -> None:
        with self._changed:
            self._requests.popleft()
            self._bytes -= request.size
            if not done:
                self._left.append(request.blob)
            if self._bytes < BACKLOG_LIMIT_BYTES // 2 and not self._closing:
                self._set_urgent(False)

    def _ask(self, request: _Request) -> bytes:
        """The answer of the process; empty when it has ended."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests and answers
        line = json.dumps({"blob": request.blob, "kind": request.kind, "urgent": self._urgent})
        try:
            requests.write(line.encode() + b"\n")
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

            def work(blob: str = request["blob"], kind: str | None = request["kind"]) -> bool:
                return _succeeds(lambda: store.shrink(blob, kind))

            done = work() if request["urgent"] else low_priority.submit(work).result()
            answers.write(json.dumps(done).encode() + b"\n")
            answers.flush()


def _succeeds(work: Callable[[], None]) -> bool:
    try:
        work()
    except Exception:  # of any kind: the file stays as it is, and nothing is lost
        return False
    return True


if __name__ == "__main__":
    serve(BlobStore(RecordingLayout(sys.argv[1])), sys.stdin.buffer, sys.stdout.buffer)
