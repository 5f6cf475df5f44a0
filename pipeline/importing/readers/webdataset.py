"""Exports of the format webdataset: a turn a sample of a tar, its members side by side."""

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.importing.contract import Action, Importer, Item, Session, Utterance
from pipeline.importing.sources import explained, head, parse_json
from schemas import InputError, limits
from schemas.files import open_inside, open_named

from .own_exports import provenance_of, turn_of

_USTAR = b"ustar"
_PICTURES = ("jpg", "png", "webp")
_ROW = frozenset({"demonstration", "index", "turn", "type", "intent", "arguments", "state_turn"})
_Extent = tuple[int, int]  # where a member's content begins in the tar, and its bytes


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if head(path)[257:262] == _USTAR else []
    return sorted(file for file in path.glob("*.tar") if head(file)[257:262] == _USTAR)


def _samples(file: Path) -> Iterator[dict[str, _Extent]]:
    """Places of the members of each sample, by what follows the first dot of their names; nothing is unpacked."""
    key, members = "", dict[str, _Extent]()
    try:
        with open_named(file) as raw, tarfile.open(fileobj=raw, mode="r:") as tar:
            for count, member in enumerate(tar):
                tar.members = []  # type: ignore[attr-defined]  # tarfile would keep all of them
                if count > limits.ENTRIES:
                    raise InputError(f"{file}: more than {limits.ENTRIES} files in it")
                if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.sparse is not None:
                    continue
                stem, _, kind = member.name.rpartition("/")[2].partition(".")
                if stem != key and members:
                    yield members
                    members = {}
                key = stem
                members[kind] = member.offset_data, member.size
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise InputError(f"{file}: not a tar file that can be read ({str(error)[:80]})") from None
    if members:
        yield members


def _content(file: Path, extent: _Extent, limit: int, root: Path) -> bytes:
    start, size = extent
    if size > limit:
        raise InputError(f"{file}: the file at byte {start} is larger than {limits.size(limit)}")
    try:
        with open_inside(file, root) as raw:
            raw.seek(start)
            content = raw.read(size)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error})") from None
    if len(content) < size:
        raise InputError(f"{file}: cut off")
    return content


def _row(file: Path, members: dict[str, _Extent], root: Path) -> dict[str, Any]:
    if "json" not in members:
        raise InputError(f"{file}: a sample without a .json file")
    where = f"{file}: the JSON at byte {members['json'][0]}"
    row = parse_json(_content(file, members["json"], limits.JSON, root), where)
    if not isinstance(row, dict):
        raise InputError(f"{where}: not an object")
    return row


def _detect(path: Path) -> bool:
    try:
        file = next(iter(_files(path)), None)
        return file is not None and _row(file, next(_samples(file)), file.parent).keys() >= _ROW
    except (InputError, StopIteration):
        return False


def _items(path: Path) -> Iterator[Item]:
    root = path if path.is_dir() else path.parent
    turns: dict[str, list[tuple[int, str, dict[str, _Extent]]]] = {}
    for file in _files(path):
        for members in _samples(file):
            row = _row(file, members, root)
            with explained(f"{file}: the JSON at byte {members['json'][0]}", "a turn"):
                turns.setdefault(str(row["demonstration"]), []).append((int(row["index"]), file.name, members))
    for name, samples in turns.items():
        samples.sort(key=lambda turn: turn[0])
        yield Item(path, name, tuple((file, members) for _, file, members in samples))


def _read(item: Item) -> Session:
    root = item.path if item.path.is_dir() else item.path.parent
    file, members = item.position[0]
    row = _row(root / file, members, root)
    return Session(str(row.get("task") or ""), _turns(item, root), provenance=provenance_of(row))


def _turns(item: Item, root: Path) -> Iterator[Utterance | Action]:
    for name, members in item.position:
        file = root / name
        row = _row(file, members, root)
        where = f"{file}: the JSON at byte {members['json'][0]}"
        with explained(where, "a turn of the format webdataset"):
            page = _content(file, members["html"], limits.BLOB, root) if "html" in members else None
            kind = next((kind for kind in _PICTURES if kind in members), None)
            picture = _content(file, members[kind], limits.BLOB, root) if kind else None
            yield turn_of(row, page, picture, where)


IMPORTER = Importer("exports of demotape in the format webdataset (a folder, or a file .tar)", _detect, _read, _items)
