"""Export: demonstrations in, a data set out, in one of several formats; whole or absent, the same each time."""

from collections.abc import Callable, Iterable
from pathlib import Path

from schemas import InputError

from . import webdataset, weblinx
from .folder import Folder
from .source import Options, Source, Summary

FORMATS: dict[str, Callable[[Iterable[Source], Folder, Options], None]] = {
    "weblinx": weblinx.export,
    "webdataset": webdataset.export,
}


def export(sources: Iterable[Source], destination: Path | str, format: str,
           progress: Callable[[str], None] | None = None, *, shard_size: int = Options.shard_size) -> Summary:
    """Write a data set into a folder, streaming: one demonstration is in memory at a time.

    `format` is a key of FORMATS; `progress` is called with each demonstration's id when it is written; `shard_size`
    is in bytes. The folder must be absent, empty or an earlier export, which is then replaced in one step at the end.
    Raises InputError for a wrong destination, an unknown format, no demonstrations, or two of one name.
    """
    if format not in FORMATS:
        raise InputError(f"format {format!r} is unknown; choose one of {', '.join(FORMATS)}")
    with Folder(destination, format) as folder:
        FORMATS[format](sources, folder, Options(shard_size=shard_size, progress=progress or (lambda name: None)))
        return folder.publish()


__all__ = ["FORMATS", "Source", "Summary", "export"]
