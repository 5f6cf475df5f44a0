"""Room on the disk: some of it stays free, for the database and for what is being worked on."""

import shutil
from pathlib import Path

from curator_web.errors import DiskFull
from schemas import limits


def require_room(folder: Path, size: int) -> None:
    """Raises DiskFull when so many bytes more would leave too little free on a folder's disk."""
    if shutil.disk_usage(folder).free - size < limits.FREE:
        raise DiskFull(f"the server's disk has less than {limits.size(size)} free; contact its administrator")
