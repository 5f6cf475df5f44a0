"""Keeps blobs in a recording's folder: each once, and one that is like another by that one."""

import hashlib
from collections import deque
from pathlib import Path
from typing import Protocol, Self

from schemas import DemotapeError, DiskFull, RecordingLayout
from schemas.files import is_disk_full, reason, write_atomically

from . import bitmaps, blobs

_KEYS = 4  # blobs of a kind, standing alone, by which others may be kept
_NEAR = 0.03  # of what another takes alone, that a blob kept by it takes when they are nearly the same
_WORTH = 0.5  # of its size alone that a blob kept by another may have; else it stands alone and serves itself


class Blobs(Protocol):
    """Keeps blobs; see BlobStore."""

    def keep(self, content: bytes, like: str | None = None, *, picture: bool = False) -> str: ...
    def close(self) -> None: ...


class BlobStore:
    """The blobs of one recording, kept by whoever asks."""

    def __init__(self, layout: RecordingLayout):
        self._layout = layout
        self._known: set[str] = set()
        self._keys: dict[str, deque[blobs.Base]] = {}

    def keep(self, content: bytes, like: str | None = None, *, picture: bool = False) -> str:
        """Keep bytes once per content; returns their SHA-256, which is the blob's name. It is on disk then.

        `like` names a kind of blob that resemble each other, such as DOMs: then one is kept by the nearest of the last
        ones that stand alone, and costs almost nothing when it is nearly the same. `picture`: the content is a picture
        file, of which the bitmap is kept. Raises DemotapeError when the disk takes no more.
        """
        if picture:
            content = bitmaps.bitmap(content)
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 not in self._known:
            with clear_errors(self._layout.root):
                write_atomically(self._layout.blob(sha256), self._compressed(content, sha256, like))
            self._known.add(sha256)
        return sha256

    def close(self) -> None:
        """Nothing more is kept."""

    def _compressed(self, content: bytes, sha256: str, like: str | None) -> bytes:
        form = blobs.Form.of(content)
        if like is None:
            return blobs.compress(form)
        keys = self._keys.setdefault(like, deque(maxlen=_KEYS))
        best = None
        for base in blobs.worth_trying(keys, form):
            this = base.compress(form)
            if len(this) < base.size * _NEAR:
                return this  # no other could be worth its time
            best = min(best or this, this, key=len)
        alone = blobs.compress(form)
        if best and len(best) < len(alone) * _WORTH:
            return best
        keys.append(blobs.Base(sha256, form, len(alone)))
        return alone


class clear_errors:
    """Turns an operating-system error into one line for the user."""

    def __init__(self, root: Path):
        self.root = root

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            if is_disk_full(error):
                raise DiskFull(f"{self.root}: the disk is full; recording stopped, what was recorded is kept") from None
            raise DemotapeError(f"{self.root}: cannot be written ({reason(error)})") from None
