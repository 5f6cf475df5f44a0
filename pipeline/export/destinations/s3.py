"""An S3 bucket as destination: files in parallel, the manifest last, existing files are not sent again.

What an interrupted export sent stays, and the next one goes on from it. From the first change on until the manifest is
written there is no manifest under the prefix, but `incomplete.json`, which says so.
"""

import hashlib
import io
import tempfile
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from threading import Lock
from typing import IO, Any, cast

from pipeline.export.manifest import MANIFEST, Manifest, ManifestFile, parse_manifest
from schemas import DemotapeError, InputError
from schemas.files import reason

from .destination import Destination, HashingFile
from .s3_claim import MARKER, Claim
from .s3_errors import explain_errors
from .s3_etags import part_size
from .s3_objects import Bucket
from .s3_parts import Parts, send

FILES_AT_ONCE = 8
WAITING = 16  # files that are complete and not sent yet
IN_MEMORY = 1 << 20  # bytes of a file that is being made; larger ones are on disk


class S3(Destination):
    """Collects the files of one export and sends them to `s3://bucket/prefix`.

    What is under the prefix must be nothing, an earlier export, or an interrupted one; InputError otherwise. `before`:
    address of another export, the release before this one, from which files are taken over.
    """

    def __init__(self, destination: str, format: str, endpoint_url: str | None = None, before: str | None = None):
        super().__init__(destination.rstrip("/"), format)
        with explain_errors(destination):
            self._bucket = Bucket(destination, endpoint_url)
            self._before = Bucket(before, endpoint_url) if before else self._bucket
        self._claim = Claim(self._bucket, destination)
        self._is_complete = False
        self._pool = ThreadPoolExecutor(FILES_AT_ONCE, thread_name_prefix="s3")
        self._sending: set[Future] = set()
        self._lock = Lock()
        self._changed = False
        self._earlier: Manifest | None = None  # of the whole export that is there
        self._copies: dict[str, Path] = {}  # of its files

    def __enter__(self) -> "S3":
        try:
            with explain_errors(self.summary.destination):
                self._claim.check()
                self._bucket.load()
                self._refuse_what_is_not_ours()
                if self._before is not self._bucket:
                    self._before.load()
                    where = f"s3://{self._before.address.bucket}/{self._before.key(MANIFEST)}"
                    self._earlier = parse_manifest(b"".join(self._before.read(MANIFEST)), where)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._bucket.stop_sending()
        self._claim.end(complete=self._is_complete)
        self._close()
        if isinstance(error, OSError):
            raise DemotapeError(f"{self.summary.destination}: {reason(error)}; run the export again to resume")

    def begin(self, name: str, *, provisional: bool = False) -> IO[bytes]:
        # What is there may be the same, and is then not sent again; so it must be complete first.
        is_new = not provisional and self._bucket.size(name) is None
        begin_parts = partial(self._begin_parts, name) if is_new else None
        return cast(IO[bytes], _Outgoing(f"{self.summary.destination}/{name}", begin_parts))

    def end(self, raw: IO[bytes], file: HashingFile) -> None:
        """Send the file in the background; waits when too many are waiting, and raises what an earlier one met."""
        outgoing = cast(_Outgoing, raw)
        self._sending.add(self._pool.submit(self._send, file.name, outgoing, file.size, file.digest.hexdigest()))
        if len(self._sending) >= WAITING:
            self._collect(wait(self._sending, return_when=FIRST_COMPLETED).done)

    def earlier(self) -> Manifest | None:
        if self._earlier:
            self._earlier["files"] = [file for file in self._earlier["files"]
                                      if self._before.size(file["path"]) == file["size"]]
        return self._earlier

    def earlier_file(self, file: ManifestFile) -> Path:
        where = f"{self.summary.destination}/{file['path']}"
        if file["path"] not in self._copies:
            copy = Path(self.opened.enter_context(tempfile.TemporaryDirectory(
                prefix="demotape-s3-", dir=self.temporary))) / "copy"
            digest = hashlib.sha256()
            with explain_errors(where), copy.open("wb") as raw:
                for content in self._before.read(file["path"]):
                    digest.update(content)
                    raw.write(content)
            if digest.hexdigest() != file["sha256"]:
                raise InputError(f"{where}: was changed after the export; export to another prefix")
            self._copies[file["path"]] = copy
        return self._copies[file["path"]]

    def retain_file(self, file: ManifestFile) -> None:
        if self._before is not self._bucket and not self._bucket.is_copy(file["path"], self._before):
            self._change()
            with explain_errors(f"{self.summary.destination}/{file['path']}"):
                self._bucket.copy(file["path"], self._before)
        self._bucket.see(file["path"])
        self.summary.skipped += 1

    def finish(self, manifest: IO[bytes]) -> None:
        self._collect(wait(self._sending).done)
        content = manifest.read()
        sha256 = hashlib.sha256(content).hexdigest()
        with explain_errors(self.summary.destination):
            if self._changed or not self._bucket.is_there(MANIFEST, io.BytesIO(content), len(content), sha256):
                self._change()
                self._claim.verify(fresh=True)
                self._bucket.put(MANIFEST, content, sha256)
            for name in self._bucket.names(unseen=True):
                if name not in (MANIFEST, MARKER) and self._bucket.is_ours(name):
                    self._bucket.delete(name)
            self._bucket.abandon_uploads()
            if not self._changed and self._bucket.size(MARKER) is not None:
                self._claim.acquire()  # all but the last step was done by an export that was interrupted
                self._changed = True
            if self._changed:
                self._claim.verify(fresh=True)
                self._claim.end(complete=True)
                self._bucket.delete(MARKER)
            self._is_complete = True

    def _begin_parts(self, name: str) -> Parts:
        self._change()
        return Parts(self._bucket, name)

    def _send(self, name: str, raw: "_Outgoing", size: int, sha256: str) -> None:
        with raw, explain_errors(f"{self.summary.destination}/{name}"):
            if raw.finish_parts():
                return
            content = cast(IO[bytes], raw)
            if self._bucket.is_there(name, content, size, sha256):
                with self._lock:
                    self.summary.skipped += 1
                return
            self._change()
            send(self._bucket, name, content, size, sha256)

    def _change(self) -> None:
        """Before the first change: from now on what is there is no whole export."""
        with self._lock:
            if self._changed:
                self._claim.verify()
                return
            self._claim.acquire()
            if self._bucket.size(MANIFEST) is not None:
                self._bucket.delete(MANIFEST)
            self._changed = True

    def _refuse_what_is_not_ours(self) -> None:
        where = self.summary.destination
        if self._bucket.size(MARKER) is not None or next(self._bucket.names(), None) is None:
            return
        if self._bucket.size(MANIFEST) is None:
            raise InputError(f"{where}: contains files that are not an export of demotape; choose another prefix")
        manifest = parse_manifest(b"".join(self._bucket.read(MANIFEST)), f"{where}/{MANIFEST}")
        self._earlier = manifest
        known = {file["path"] for file in manifest["files"]} | {MANIFEST}
        if extra := next((name for name in self._bucket.names() if name not in known), None):
            raise InputError(f"{where}/{extra}: not part of the export to be replaced; move it away or choose "
                             "another prefix")

    def _collect(self, done: set[Future]) -> None:
        self._sending -= done
        for future in done:
            future.result()

    def _close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._before.close()
        self._bucket.close()
        self.opened.close()


class _Outgoing(io.RawIOBase):
    """A file that is being made. With `begin_parts` it is sent in parts meanwhile, once it is larger than one.

    It stays readable whole until the service has shown that it need not be sent or hashed again.
    """

    def __init__(self, where: str, begin_parts: Callable[[], Parts] | None):
        self._where = where
        self._file: IO[bytes] | None = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
        self._begin_parts = begin_parts
        self._parts: Parts | None = None
        self._next: list[bytes] = []
        self._buffered = 0

    def write(self, content: Any) -> int:
        if self._file:
            self._file.write(content)
        if self._begin_parts:
            self._next.append(bytes(content))
            self._buffered += len(content)
            while self._buffered > (size := self._parts.next_size if self._parts else part_size(0)):
                last = self._next.pop()  # split where the part ends, so that all else is copied once
                rest = self._buffered - size
                part, self._next, self._buffered = [*self._next,
                                                    last[:len(last) - rest]], [last[len(last) - rest:]], rest
                self._send_early(b"".join(part))
        return len(content)

    def finish_parts(self) -> bool:
        """Send the rest; false when the whole is still to be sent."""
        if self._parts is None:
            return False
        self._parts.add(b"".join(self._next))
        self._parts.end(self._file)
        return True

    @property
    def _complete_file(self) -> IO[bytes]:
        if self._file is None:
            raise ValueError("what was written is kept no longer")
        return self._file

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._complete_file.seek(offset, whence)

    def read(self, size: int = -1) -> bytes:
        return self._complete_file.read(size)

    def close(self) -> None:
        self._drop()
        super().close()

    def _send_early(self, part: bytes) -> None:
        with explain_errors(self._where):
            if self._parts is None and self._begin_parts:
                self._parts = self._begin_parts()
            if self._parts is not None:
                self._parts.add(part)
                if self._parts.needs_no_copy:
                    self._drop()

    def _drop(self) -> None:
        if self._file:
            self._file.close()
            self._file = None
