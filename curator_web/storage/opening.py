"""Opening the store that the settings name."""

from pathlib import Path

from curator_web.errors import InputError

from .objects import is_address
from .recordings import RecordingStore


def open_store(data_dir: Path | str, blobs: str | None = None, endpoint_url: str | None = None) -> RecordingStore:
    """The store in a data folder; in S3 when `blobs` is `s3://bucket/prefix`, at `endpoint_url` if it is not Amazon's.

    Raises InputError when it cannot be opened.
    """
    if not blobs:
        return RecordingStore(data_dir)
    if not is_address(blobs):
        raise InputError(f"--blobs {blobs}: must be s3://bucket/prefix; for a folder, use --data")
    from .s3 import S3Store  # here, as botocore is slow to import and folders need none of it

    return S3Store(data_dir, blobs, endpoint_url)
