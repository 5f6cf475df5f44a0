"""Recordings, packages and exports in S3, so that server processes on several machines share them.

The data folder then holds only what can be made again: the cache of recordings, and what is being worked on.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import cast

from curator_web.errors import InputError
from recorder.reader import Recording
from schemas.files import open_inside, reason

from .files import S3Files
from .objects import Objects
from .recordings import ID, RecordingStore, files_of
from .remote import CACHE_BYTES, Cache, RemoteLayout, RemoteRecording

AT_ONCE = 8
AWAY = ".store-away"  # in the data folder: there while the service does not answer


class S3Store(RecordingStore):
    """Recordings by their id, under `recordings/<id>/` of an address in S3.

    A recording's manifest is sent last: one without it is not there yet, and importing it again goes on.
    """

    keeps_secret = False

    def __init__(self, data_dir: Path | str, address: str, endpoint_url: str | None = None,
                 cache_bytes: int = CACHE_BYTES):
        """Raises InputError when the bucket is not there or the keys are wrong."""
        super().__init__(data_dir)
        self._objects = Objects(address, endpoint_url, away=self.data_dir / AWAY)
        self._cache = Cache(self._objects, self.data_dir / "cache", self.temporary, cache_bytes)
        self.files = S3Files(self._objects, self.data_dir, self.temporary)

    @property
    def location(self) -> str:
        return self._objects.address

    def require_reachable(self) -> None:
        self._objects.require_reachable()

    def open(self, recording_id: str) -> Recording:
        """As RecordingStore's; raises StoreUnavailable besides, here and when the recording is read."""
        self.path(recording_id)
        return RemoteRecording(self._cache, recording_id)

    def holds(self, recording_id: str) -> bool:
        self.path(recording_id)
        return self._cache.path(f"recordings/{recording_id}/recording.json").is_file()

    def lacks(self, recording_id: str, blobs: Iterable[str]) -> list[str]:
        """None: asking for each takes too long; what is missing is told where it is shown."""
        self.open(recording_id)
        return []

    def has_video(self, recording_id: str) -> bool:
        self.path(recording_id)
        return self._cache.exists(f"recordings/{recording_id}/video.webm")

    def has_external_video(self, recording_id: str) -> bool:
        self.path(recording_id)
        return self._objects.exists(f"recordings/{recording_id}/external-video")  # it may come later

    def add(self, recording: Recording) -> None:
        """As RecordingStore's; raises StoreUnavailable besides."""
        self.path(recording.id)
        folder, is_stored = f"recordings/{recording.id}", self.holds(recording.id)
        sizes = self._objects.sizes(folder)
        manifest = recording.layout.manifest.name

        def send(source: Path, relative: Path) -> None:
            name = relative.as_posix()
            try:
                with open_inside(source) as file:
                    if file.seek(0, 2) != sizes.get(name):
                        self._objects.send(f"{folder}/{name}", file)
                        self._cache.forget(f"{folder}/{name}")
            except OSError as error:
                raise InputError(f"{source}: cannot be read ({reason(error)})") from None

        files = [pair for pair in files_of(recording.layout) if not is_stored or len(pair[1].parts) > 1
                 or pair[1].name == recording.layout.external_video.name]
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="store") as pool:
            list(pool.map(lambda pair: send(*pair), [pair for pair in files if pair[1].name != manifest]))
        for source, relative in files:
            if relative.name == manifest:
                send(source, relative)

    def listed(self) -> Iterator[tuple[str, datetime]]:
        for name in sorted(name for name in self._objects.folders("recordings") if ID.fullmatch(name)):
            if times := [changed for _, _, changed in self._objects.listed(f"recordings/{name}")]:
                yield name, max(times)

    def stored_blobs(self, recording_id: str) -> Iterator[str]:
        self.path(recording_id)
        yield from (name for name in self._objects.sizes(f"recordings/{recording_id}")
                    if name.startswith(("blobs/", "derived/")))

    def remove(self, recording_id: str) -> None:
        self.path(recording_id)
        folder = f"recordings/{recording_id}"
        # The manifest first: without it the recording is not there, should this be broken off.
        for name in sorted(self._objects.sizes(folder), key=lambda name: name != "recording.json"):
            self._objects.delete(f"{folder}/{name}")
            self._cache.forget(f"{folder}/{name}")

    def store_blob(self, recording: Recording, content: bytes) -> str:
        name = super().store_blob(recording, content)
        layout = cast(RemoteLayout, recording.layout)
        path = layout.derived_blob(name)
        if path.exists():
            with path.open("rb") as file:
                self._objects.send(layout.name_of(path), file)
        return name

    def secret(self) -> None:
        """None: it is kept in the database, which all machines share."""
