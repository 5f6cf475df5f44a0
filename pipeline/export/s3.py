"""An S3 bucket as destination: files in parallel, the manifest last, nothing sent that is there already.

What an interrupted export sent stays, and the next one goes on from it. From the first change on until the manifest is
written there is no manifest under the prefix, but `incomplete.json`, which says so.
"""

import hashlib
import json
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures import FIRST_COMPLETED
from contextlib import contextmanager
from threading import Lock
from typing import IO

from schemas import DemotapeError, InputError

from .destination import Destination, HashingFile, json_bytes
from .manifest import MANIFEST, parse_manifest
from .s3_errors import told
from .s3_objects import Bucket, Remote
from .source import Summary

MARKER = "incomplete.json"
WORKERS = 8  # requests at once
IN_MEMORY = 8 << 20  # bytes of a file that is being made; larger ones are on disk
WAITING = 2 * WORKERS  # files that are complete and not sent yet


class S3(Destination):
    """Collects the files of one export and sends them to `s3://bucket/prefix`.

    What is under the prefix must be nothing, an earlier export, or an interrupted one; InputError otherwise.
    """

    def __init__(self, destination: str, format: str, endpoint_url: str | None = None):
        super().__init__(destination, format)
        self._bucket = Bucket(destination, endpoint_url)
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="s3")
        self._sending: set[Future] = set()
        self._changing = Lock()
        self._changed = False

    def __enter__(self) -> "S3":
        with told(self.summary.destination):
            self._bucket.list_into_index()
            self._refuse_what_is_not_ours()
        return self

    def __exit__(self, kind, error, trace) -> None:
        for future in self._sending:
            future.cancel()
        self._pool.shutdown()
        self._bucket.close()
        self.opened.close()
        if isinstance(error, OSError):
            raise DemotapeError(f"{self.summary.destination}: {error.strerror or error}; run the export again to go on")

    def begin(self, name: str) -> IO[bytes]:
        return tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115

    def end(self, raw: IO[bytes], file: HashingFile) -> None:
        """Send the file in the background; waits when too many are waiting, and raises what an earlier one met."""
        self._sending.add(self._pool.submit(self._send, file.name, raw, file.size, file.digest.hexdigest()))
        if len(self._sending) >= WAITING:
            self._collect(wait(self._sending, return_when=FIRST_COMPLETED).done)

    def finish(self, manifest: IO[bytes]) -> None:
        self._collect(wait(self._sending).done)
        content = manifest.read()
        sha256 = hashlib.sha256(content).hexdigest()
        with told(self.summary.destination):
            if not self._changed and self._bucket.has(MANIFEST, content, sha256):
                stale = list(self._bucket.unseen({MANIFEST}))
                if not stale:
                    return
            self._change()
            self._bucket.put(MANIFEST, content, sha256)
            for name in self._bucket.unseen({MANIFEST}):
                self._bucket.delete(name)

    def _send(self, name: str, raw: IO[bytes], size: int, sha256: str) -> None:
        with raw, told(f"{self.summary.destination}/{name}"):
            self._bucket.see(name)
            if self._bucket.is_there(name, raw, size, sha256):
                with self._changing:
                    self.summary.skipped += 1
                return
            self._change()
            self._bucket.send(name, raw, size, sha256)

    def _change(self) -> None:
        """Before the first change: from now on what is there is no whole export."""
        with self._changing:
            if not self._changed:
                self._bucket.put(MARKER, json_bytes({"format": "demotape/incomplete-export"}), "")
                self._bucket.delete(MANIFEST)
                self._changed = True

    def _collect(self, done: set[Future]) -> None:
        self._sending -= done
        for future in done:
            future.result()
