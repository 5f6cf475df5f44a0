"""The data folder: imported recordings and the app's secret. Nothing a recording says can name a path outside it."""

import errno
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from curator_web.errors import InputError, NotFound
from pipeline.cache import derived, process_inputs
from pipeline.cache.inputs import hash_file
from recorder.reader import Recording
from schemas import RecordingLayout
from schemas.files import open_inside, reason

from .files import Files, FolderFiles
from .temporary import Temporary

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
ID_SHOWN = 80  # of a wrong id, in the message
BLOB_FOLDER = re.compile(r"[0-9a-f]{2}")
FOLDERS = ("recordings", "exports", "uploads")
BLOB_NAME = re.compile(r"[0-9a-f]{64}")
CACHED_LISTS = 4  # recordings whose names of blobs are in memory
LISTED_BLOBS = 500  # blobs from which on reading the folders is faster than to ask for each file


class RecordingStore:
    """Recordings by their id, in `recordings/<id>/` of the data folder; packages and exports beside them in `files`."""

    files: Files
    keeps_secret = True  # in the folder, and not in the database

    def __init__(self, data_dir: Path | str):
        """Make the folder if need be; raises InputError when that cannot be done."""
        self.data_dir = Path(data_dir).absolute()
        self.files = FolderFiles(self.data_dir)
        self.temporary = Temporary(self.data_dir)
        self.recordings = self.data_dir / "recordings"
        self._listed: dict[Path, tuple[tuple, frozenset[str]]] = {}
        folders = {str(self.data_dir), str(self.data_dir.resolve()), tempfile.gettempdir()} - {os.sep}
        self._folders = sorted(folders, key=len, reverse=True)  # one may lie in another
        try:
            self.recordings.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{data_dir}: the data folder cannot be created ({reason(error)})") from None

    @property
    def location(self) -> str:
        """Where recordings lie, for who runs the server."""
        return str(self.data_dir)

    def require_reachable(self) -> None:
        """Raises OSError where the folder is not there, or StoreUnavailable where the bucket does not answer."""
        self.recordings.stat()

    def open(self, recording_id: str) -> Recording:
        """An imported recording; raises NotFound for any name that is not one."""
        path = self.path(recording_id)
        if not path.is_dir():
            raise NotFound(f"unknown recording {recording_id!r}")
        return Recording(path)

    def holds(self, recording_id: str) -> bool:
        """Whether a recording of that id was imported."""
        return self.path(recording_id).is_dir()

    def lacks(self, recording_id: str, blobs: Iterable[str]) -> list[str]:
        """Which of these blobs are not there, as far as can be told at once; raises InputError for no recording."""
        layout, names = self.open(recording_id).layout, set(blobs)
        if len(names) > LISTED_BLOBS:
            names -= self._blob_names(layout)
        return sorted(name for name in names if not layout.blob(name).exists())

    def _blob_names(self, layout: RecordingLayout) -> frozenset[str]:
        """The names of all blobs, read again only where a folder has changed since."""
        folders = [folder for root in (layout.blobs, layout.derived) for folder in _entries(root, BLOB_FOLDER)]
        stamp = tuple((folder, folder.stat().st_mtime_ns) for folder in folders)
        known, names = self._listed.get(layout.root, ((), frozenset()))
        if stamp != known:
            names = frozenset(name for folder in folders for name in os.listdir(folder))
            while len(self._listed) >= CACHED_LISTS:
                self._listed.pop(next(iter(self._listed)), None)
            self._listed[layout.root] = stamp, names
        return names

    def has_video(self, recording_id: str) -> bool:
        """Whether the recording has a video; raises NotFound when the id is not a plain name."""
        return RecordingLayout(self.path(recording_id)).video.exists()

    def has_external_video(self, recording_id: str) -> bool:
        """Whether the external video that it was processed with came along; raises NotFound as `has_video` does."""
        return RecordingLayout(self.path(recording_id)).external_video.exists()

    def has_network(self, recording_id: str) -> bool:
        """Whether the recording kept its network, in either form; raises NotFound as `has_video` does."""
        layout = RecordingLayout(self.path(recording_id))
        return layout.network.exists() or layout.har.exists()

    def has_console(self, recording_id: str) -> bool:
        """Whether the recording kept what pages wrote to the console; raises NotFound as `has_video` does."""
        return RecordingLayout(self.path(recording_id)).console.exists()

    def listed(self) -> Iterator[tuple[str, datetime]]:
        """The recordings that are there, whole or not, each with when it was written last."""
        for name in sorted(name for name in os.listdir(self.recordings) if ID.fullmatch(name)):
            with suppress(FileNotFoundError):
                yield name, datetime.fromtimestamp((self.recordings / name).stat().st_mtime, UTC)

    def stored_blobs(self, recording_id: str) -> Iterator[str]:
        """The places in a recording at which blobs lie; raises NotFound when the id is not a plain name."""
        for _, relative in _blobs(RecordingLayout(self.path(recording_id))):
            yield relative.as_posix()

    def remove(self, recording_id: str) -> None:
        """Take a recording away; raises NotFound when the id is not a plain name."""
        shutil.rmtree(self.path(recording_id), ignore_errors=True)

    def store_blob(self, recording: Recording, content: bytes) -> str:
        """Keep a picture that a reviewer chose from the video beside the recording's own; returns its blob's name."""
        return derived.store_derived(recording.layout, content)

    def add(self, recording: Recording) -> None:
        """Copy a recording in: whole or not at all, with the external video that it was processed with. Of one that is
        there already, take along only new blobs, and another external video.

        Raises InputError when a file cannot be copied or is a link.
        """
        target = self.path(recording.id)
        try:
            with self.temporary.folder(within=self.recordings) as temporary:
                if target.is_dir():
                    _add_blobs(recording.layout, target, temporary)
                    _renew_video(recording.layout, RecordingLayout(target), temporary)
                    return
                for source, relative in files_of(recording.layout):
                    _copy(source, temporary / relative)
                os.rename(temporary, target)
            _sync(self.recordings)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # another import of the same was first
                where = error.filename or recording.layout.root
                raise InputError(f"{where}: cannot be copied ({reason(error)})") from None

    def path(self, recording_id: str) -> Path:
        """Where a recording lies; raises NotFound when the id is not a plain name."""
        if not ID.fullmatch(recording_id):
            raise NotFound(f"unknown recording {recording_id[:ID_SHOWN]!r}")
        return self.recordings / recording_id

    def without_paths(self, message: str) -> str:
        """An error's words as users may read them: places of this machine are told from the data folder on."""
        for folder in self._folders:
            message = re.sub(rf"{re.escape(folder + os.sep)}|{re.escape(folder)}(?![\w.-])",
                             lambda path_match: "" if path_match[0].endswith(os.sep) else "the data folder", message)
        return message

    def secret(self) -> bytes | None:
        """The key that signs sessions; made once, readable by the owner only."""
        path = self.data_dir / "secret.key"
        if not path.exists():
            with suppress(FileExistsError), self.temporary.file() as (file, temporary):
                file.write(secrets.token_hex(32).encode())
                file.flush()
                os.link(temporary, path)  # fails when another process was first: then its key counts
        return path.read_bytes()

    def set_secret(self, key: bytes, name: str = "secret.key") -> None:
        """Have sessions signed by a key from the next start on, where the folder keeps it."""
        with self.temporary.file() as (file, temporary):
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, self.data_dir / name)
        _sync(self.data_dir)

    def propose_secret(self, key: bytes) -> bytes:
        """Keep the next key beside the one that counts, until `adopt_secret`; returns that which was proposed first,
        should a change of keys have been broken off."""
        path = self.data_dir / "secret.key.next"
        if not path.exists():
            self.set_secret(key, path.name)
        return path.read_bytes()

    def adopt_secret(self) -> None:
        """What was proposed counts."""
        os.replace(self.data_dir / "secret.key.next", self.data_dir / "secret.key")
        _sync(self.data_dir)

    def is_unused(self) -> bool:
        """Whether nothing was kept here yet, nor a session signed."""
        return self.files.path("secret.key") is None and not any(
            True for folder in FOLDERS for _ in self.files.listed(folder))


def files_of(layout: RecordingLayout) -> Iterator[tuple[Path, Path]]:
    """The files that a recording consists of, each with its place in the copy; nothing else is taken along."""
    for path in (layout.manifest, layout.events, layout.chat, layout.resources, layout.video, layout.har,
                 layout.network, layout.messages, layout.console, layout.agent_steps, layout.imported,
                 layout.demonstration):
        if path.exists() or path.is_symlink():
            yield path, path.relative_to(layout.root)
    if video := external_video(layout):
        yield video, layout.external_video.relative_to(layout.root)
    yield from _blobs(layout)


def external_video(layout: RecordingLayout) -> Path | None:
    """The external video that a recording was processed with, if it is still where it was; None otherwise."""
    if layout.external_video.exists():
        return layout.external_video
    try:
        return process_inputs.load_previous(layout, process_inputs.ProcessInputs(), (process_inputs.CHAT,)).video
    except InputError:  # it has gone: reviewers do without
        return None


def _renew_video(layout: RecordingLayout, stored: RecordingLayout, temporary: Path) -> None:
    """Processing a recording again may have been with another external video."""
    source = external_video(layout)
    if source and not (stored.external_video.exists() and hash_file(source) == hash_file(stored.external_video)):
        _copy(source, temporary / stored.external_video.name)
        os.replace(temporary / stored.external_video.name, stored.external_video)


def _blobs(layout: RecordingLayout) -> Iterator[tuple[Path, Path]]:
    for root in (layout.blobs, layout.derived):
        for folder in _entries(root, BLOB_FOLDER):
            for blob in _entries(folder, BLOB_NAME):
                yield blob, blob.relative_to(layout.root)


def _add_blobs(layout: RecordingLayout, target: Path, temporary: Path) -> None:
    """Processing a recording again may have made new screenshots."""
    for source, relative in _blobs(layout):
        if not (target / relative).exists():
            _copy(source, temporary / relative)
            (target / relative).parent.mkdir(parents=True, exist_ok=True)
            os.rename(temporary / relative, target / relative)


def _entries(folder: Path, name: re.Pattern) -> Iterator[Path]:
    if folder.is_symlink():
        raise InputError(f"{folder}: is a link; replace it by the files")
    if folder.is_dir():
        yield from (folder / entry for entry in sorted(os.listdir(folder)) if name.fullmatch(entry))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with open_inside(source) as reading, target.open("wb") as writing:
        shutil.copyfileobj(reading, writing, 1 << 20)
        writing.flush()
        os.fsync(writing.fileno())


def _sync(folder: Path) -> None:
    if os.name == "nt":  # no folder can be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
