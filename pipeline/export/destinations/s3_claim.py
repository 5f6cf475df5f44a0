"""Prevents two exports to one prefix: the first one writes `incomplete.json` and renews it.

A claim counts for LEASE seconds after it was last renewed, by the service's own clock; one of this machine only as long
as its process lives, so that a killed export is gone on with at once. Services that know conditional writes let one of
two win; with others there is a moment between looking and writing.
"""

import hashlib
import json
import os
import platform
import uuid
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from pipeline.export.manifest import MANIFEST
from schemas import InputError

from .destination import json_bytes
from .s3_objects import Bucket, StoredObject

MARKER = "incomplete.json"
LEASE = 60  # seconds
RENEWED = 15  # seconds from one renewal to the next
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Claim:
    """The right of one export to change what is under a prefix."""

    _active_tokens: set[str] = set()  # tokens of exports of this process

    def __init__(self, bucket: Bucket, where: str):
        self._bucket, self._where = bucket, where
        self._token = uuid.uuid4().hex
        self._etags_checked: tuple[str | None, str | None] = (None, None)
        self._ended = Event()
        self._renewing: Thread | None = None
        self._lost = False

    def check(self) -> None:
        """Before anything is listed; raises InputError when another export is at work."""
        marker = self._bucket.fetch(MARKER)
        self._refuse(marker)
        self._etags_checked = marker.etag if marker else None, self._bucket.etag_now(MANIFEST)

    def acquire(self) -> None:
        """Before the first change; raises InputError when another export was first."""
        marker = self._bucket.fetch(MARKER)
        self._refuse(marker)
        if (marker.etag if marker else None, self._bucket.etag_now(MANIFEST)) != self._etags_checked:
            raise InputError(f"{self._where}: another export wrote to it in the meantime; run the export again")
        if not self._bucket.put_if(MARKER, self._marker_content(),
                                   marker.etag if marker else None) or not self._is_ours():
            self._complain()
        self._active_tokens.add(self._token)
        self._renewing = Thread(target=self._renew, name="s3-claim", daemon=True)
        self._renewing.start()

    def verify(self, *, fresh: bool = False) -> None:
        """Raise InputError when another export took over; `fresh` asks the service."""
        if self._lost or (fresh and self._renewing and not self._is_ours()):
            self._complain()

    def end(self, *, complete: bool) -> None:
        """No more changes. What is not complete is left for the next export, which need not wait."""
        self._ended.set()
        if self._renewing is None:
            return
        self._renewing.join()
        self._active_tokens.discard(self._token)
        if not complete and not self._lost:
            with suppress(Exception):  # whatever ended the export may keep this from being told: then the lease does
                self._bucket.put(MARKER, json_bytes({"format": "demotape/incomplete-export"}), "")

    def _refuse(self, marker: StoredObject | None) -> None:
        if marker and _is_live(marker, self._active_tokens):
            self._complain()

    def _complain(self) -> None:
        raise InputError(f"{self._where}: another export is writing to it; wait until it ends, or {LEASE} seconds if "
                         "it was killed")

    def _is_ours(self) -> bool:
        marker = self._bucket.fetch(MARKER)
        return marker is not None and _owner(marker).get("token") == self._token

    def _marker_content(self) -> bytes:
        return json_bytes({"format": "demotape/incomplete-export",
                           "owner": {"token": self._token, "machine": _machine(), "process": os.getpid()}})

    def _renew(self) -> None:
        while not self._ended.wait(RENEWED):
            with suppress(Exception):  # the service is away for a moment; what is sent meanwhile will tell
                if not self._is_ours():
                    self._lost = True
                    return
                self._bucket.put(MARKER, self._marker_content(), "")


def _is_live(marker: StoredObject, active_tokens: set[str]) -> bool:
    """Whether the export that left a marker is still at work, as far as can be known."""
    owner = _owner(marker)
    if not owner or marker.age > LEASE:
        return False
    if owner.get("machine") != _machine():
        return True
    if owner.get("process") == os.getpid():
        return owner.get("token") in active_tokens
    if os.name == "nt":  # there, asking after a process like this would end it
        return True
    try:
        os.kill(int(owner["process"]), 0)
    except (ProcessLookupError, KeyError, ValueError, TypeError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _owner(marker: StoredObject) -> dict[str, Any]:
    try:
        owner = json.loads(marker.content).get("owner")
    except (ValueError, AttributeError, RecursionError):
        return {}
    return owner if isinstance(owner, dict) else {}


def _machine() -> str:
    """A name for this machine since it was started, that tells nothing of it."""
    boot = _BOOT.read_text() if _BOOT.exists() else str(uuid.getnode())
    return hashlib.sha256(f"{platform.node()} {boot}".encode()).hexdigest()[:16]
