"""Room on the disk: some of it stays free, for the database and for what is being worked on."""

import errno
import os
import shutil
from pathlib import Path

from curator_web.errors import NoRoom
from schemas import limits

_FULL = (errno.ENOSPC, errno.EDQUOT)
_RECORDER = "the disk is full"  # as the recorder says it


def expect_room(folder: Path, size: int) -> None:
    """Raises NoRoom when so many bytes more would leave too little free on a folder's disk."""
    if shutil.disk_usage(folder).free - size < limits.FREE:
        raise NoRoom(f"the server's disk has no room for {limits.size(size)} more; tell who runs it")


def no_room(error: BaseException) -> bool:
    """Whether an error came from a disk that is full. Those of other processes tell it in the system's words only."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _FULL:
            return True
        cause = cause.__cause__ or cause.__context__
    return any(words in str(error) for words in (_RECORDER, *map(os.strerror, _FULL)))
