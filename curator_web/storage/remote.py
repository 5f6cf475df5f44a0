"""Recordings that lie in S3, read through a cache on this machine's disk.

Nothing in an imported recording ever changes, so what is in the cache is never out of date; it is only taken away when
the cache is full, what was not used for longest first. Several processes share one cache.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from filelock import lock_descriptor

from curator_web.errors import NotFound
from recorder.reader import Recording
from schemas import InputError, RecordingLayout, RecordingSchema, limits
from schemas.files import read_versioned

from .objects import Objects
from .temporary import Temporary

CACHE_BYTES = 4 << 30
UNTOUCHED = 600  # seconds without use before something may be taken away: it might be being read
ABSENT, PRESENT = ".absent", ".present"  # what is known of a file that the cache does not hold


@cache
def _of_this_process(*arguments: Any) -> "Cache":
    return Cache(*arguments)


class Cache:
    """Copies of objects, under their names, in a folder. Sent to another process, it counts again what it adds."""

    def __init__(self, objects: Objects, folder: Path, temporary: Temporary, limit: int = CACHE_BYTES):
        self.objects, self.folder, self._temporary, self._limit = objects, folder, temporary, limit
        self._added = 0
        folder.mkdir(parents=True, exist_ok=True)

    def __reduce__(self):
        return _of_this_process, (self.objects, self.folder, self._temporary, self._limit)

    def path(self, name: str, *, remember: bool = False) -> Path:
        """Where the copy of an object is, fetched if need be; nothing is there when there is no such object.

        `remember`: do not ask again for an object that is absent. Raises StoreUnavailable.
        """
        path = self.folder / name
        with suppress(FileNotFoundError):
            os.utime(path)
            return path
        if not (remember and self._marked(name, ABSENT)) and not self._fetch(name, path) and remember:
            self._mark(name, ABSENT)
        return path

    def exists(self, name: str) -> bool:
        """Whether there is such an object, without fetching it; asked only once. Raises StoreUnavailable."""
        if (self.folder / name).exists() or self._marked(name, PRESENT):
            return True
        if self._marked(name, ABSENT):
            return False
        is_present = self.objects.exists(name)
        self._mark(name, PRESENT if is_present else ABSENT)
        return is_present

    def forget(self, name: str) -> bool:
        """Drop a copy that turned out to be damaged; whether there was one."""
        with suppress(FileNotFoundError):
            (self.folder / name).unlink()
            return True
        return False

    def prune(self) -> None:
        """Take away what was not used for longest until the cache is three quarters full; one process at a time."""
        with (self.folder / ".pruning").open("w") as lock:
            if not lock_descriptor(lock.fileno(), blocking=False):
                return
            files = sorted(_files(self.folder))
            size = sum(file_size for _, file_size, _ in files)
            for used, file_size, path in files:
                if size <= self._limit * 3 // 4 or used > time.time() - UNTOUCHED:
                    break
                Path(path).unlink(missing_ok=True)
                size -= file_size

    def _fetch(self, name: str, path: Path) -> bool:
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._temporary.file(path.parent) as (file, temporary):
            is_fetched = self.objects.fetch(name, file)
            size = file.tell()
            file.flush()
            if is_fetched:
                os.replace(temporary, path)
                self._count(size)
            return is_fetched

    def _count(self, size: int) -> None:
        self._added += size
        if self._added > self._limit // 16:
            self._added = 0
            threading.Thread(target=self.prune, daemon=True, name="cache").start()

    def _marked(self, name: str, mark: str) -> bool:
        return (self.folder / f"{name}{mark}").exists()

    def _mark(self, name: str, mark: str) -> None:
        path = self.folder / f"{name}{mark}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


class RemoteLayout(RecordingLayout):
    """A recording's places in the cache; asking for one fetches what lies there."""

    FETCHED = ("events.jsonl", "chat.jsonl", "resources.jsonl", "video.webm", "external-video", "network.har",
               "network.jsonl", "messages.jsonl", "console.jsonl", "agent_steps.jsonl", "demonstration.json",
               "processed.json")

    def __init__(self, cache: Cache, name: str):
        super().__init__(cache.folder / name)
        self._cache, self._name = cache, name

    def path_of(self, name: str) -> Path:
        """As RecordingLayout's, fetched."""
        if name in self.FETCHED:
            return self._cache.path(f"{self._name}/{name}", remember=True)
        return super().path_of(name)

    def blob(self, sha256: str) -> Path:
        """As RecordingLayout's, fetched."""
        for path in (self.blobs / sha256[:2] / sha256, self.derived_blob(sha256)):
            if self._cache.path(self.name_of(path)).exists():
                return path
        return self.blobs / sha256[:2] / sha256

    def name_of(self, path: Path) -> str:
        """The object's name."""
        return f"{self._name}/{path.relative_to(self.root).as_posix()}"


class RemoteRecording(Recording):
    """A recording in S3. What is damaged in the cache is fetched once more."""

    layout: RemoteLayout

    def __init__(self, cache: Cache, recording_id: str):
        """Raises NotFound when there is none."""
        self.layout = RemoteLayout(cache, f"recordings/{recording_id}")
        self._cache = cache
        manifest = self.layout.manifest
        if not cache.path(self.layout.name_of(manifest)).is_file():
            raise NotFound(f"unknown recording {recording_id!r}")
        try:
            self.manifest, self.version = read_versioned(manifest, RecordingSchema(), limits.RECORD)
        except InputError:
            cache.forget(self.layout.name_of(manifest))  # so that a mended one is seen
            raise

    def blob(self, sha256: str) -> bytes:
        """As Recording's; raises StoreUnavailable besides."""
        try:
            return super().blob(sha256)
        except InputError:
            if not self._cache.forget(self.layout.name_of(self.layout.blob(sha256))):
                raise
            return super().blob(sha256)


def _files(folder: Path) -> Iterator[tuple[float, int, str]]:
    """When each file was last used, its bytes, its path."""
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.is_dir(follow_symlinks=False):
                    yield from _files(Path(entry.path))
                elif not entry.name.startswith("."):
                    stat = entry.stat()
                    yield stat.st_mtime, stat.st_size, entry.path
