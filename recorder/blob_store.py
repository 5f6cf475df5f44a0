"""Stores blobs in a recording's folder: each once, and similar ones as differences."""

import hashlib
from collections import deque
from pathlib import Path
from typing import Protocol, Self

from schemas import DemotapeError, DiskFull, RecordingLayout, limits
from schemas.files import is_disk_full, read_inside, reason, write_atomically

from . import bitmaps, blobs

_MAX_BASES = 4  # blobs of a kind, standing alone, by which others may be kept
_NEARLY_SAME_RATIO = 0.03  # of what another takes alone, that a blob kept by it takes when they are nearly the same
_MAX_DELTA_RATIO = 0.5  # of its size alone that a blob kept by another may have; else it stands alone and serves itself


class Blobs(Protocol):
    """Keeps blobs; see BlobStore."""

    def store(self, content: bytes, kind: str | None = None, *, picture: bool = False) -> str: ...
    def close(self) -> None: ...


class BlobStore:
    """The blobs of one recording, kept by whoever asks."""

    def __init__(self, layout: RecordingLayout):
        self._layout = layout
        self._known: set[str] = set()
        self._bases: dict[str, deque[blobs.Base]] = {}

    def store(self, content: bytes, kind: str | None = None, *, picture: bool = False) -> str:
        """Keep bytes once per content; returns their SHA-256, which is the blob's name. It is on disk then.

        `kind` names a kind of blob that resemble each other, such as DOMs: then one is kept by the nearest of the last
        ones that stand alone, and costs almost nothing when it is nearly the same. `picture`: the content is a picture
        file, of which the bitmap is kept. Raises DemotapeError when the disk takes no more.
        """
        if picture:
            content = bitmaps.bitmap(content)
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 not in self._known:
            self._write(blobs.Form.from_content(content), sha256, kind)
            self._known.add(sha256)
        return sha256

    def shrink(self, sha256: str, kind: str | None) -> None:
        """Replace the file of a blob that stands alone by the one that `store` would have written.

        Raises DemotapeError, OSError or zstandard.ZstdError when it cannot; the file is then as it was.
        """
        path = self._layout.blob(sha256)
        self._write(blobs.decompress(read_inside(path, limits.BLOB, self._layout.root), _refuse), sha256, kind)

    def close(self) -> None:
        """Nothing more is kept."""

    def _write(self, form: blobs.Form, sha256: str, kind: str | None) -> None:
        with clear_errors(self._layout.root):
            write_atomically(self._layout.blob(sha256), self._compressed(form, sha256, kind))

    def _compressed(self, form: blobs.Form, sha256: str, kind: str | None) -> bytes:
        if kind is None:
            return blobs.compress(form)
        bases = self._bases.setdefault(kind, deque(maxlen=_MAX_BASES))
        best = None
        for base in blobs.worth_trying(bases, form):
            delta = base.compress(form)
            if len(delta) < base.size * _NEARLY_SAME_RATIO:
                return delta  # no other could be worth its time
            best = min(best or delta, delta, key=len)
        standalone = blobs.compress(form)
        if best and len(best) < len(standalone) * _MAX_DELTA_RATIO:
            return best
        bases.append(blobs.Base(sha256, form, len(standalone)))
        return standalone


def _refuse(base: str) -> blobs.Form:
    raise DemotapeError(f"{base}: is needed by a blob that should stand alone")


class clear_errors:
    """Turns an operating-system error into one line for the user."""

    def __init__(self, root: Path):
        self.root = root

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            if is_disk_full(error):
                raise DiskFull(f"{self.root}: the disk is full; recording stopped, the recorded part is kept") from None
            raise DemotapeError(f"{self.root}: cannot be written ({reason(error)})") from None
