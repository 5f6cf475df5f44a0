"""Exports of the format parquet: a turn a row, the rows of a demonstration in any order and file."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from pipeline.importing.contract import Action, Importer, Item, Session, Utterance
from pipeline.importing.sources import explained, head
from schemas import InputError, limits
from schemas.files import open_inside, open_named

from .own_exports import provenance_of, turn_of

_MARK = b"PAR1"
_COLUMNS = frozenset({"demonstration", "index", "turn", "type", "intent", "arguments", "element", "state_turn", "html"})
_RANGE = tuple[str, int, int]  # file in the folder, first row, number of rows


def files_in(path: Path) -> list[Path]:
    """The Parquet files of a data set: the file itself, or those in the folder and in its `data`."""
    if path.is_file():
        return [path] if head(path).startswith(_MARK) else []
    matches = [*path.glob("data/*.parquet"), *path.glob("*.parquet"), *path.glob("*/*.parquet")]
    return sorted({file for file in matches if head(file).startswith(_MARK)})


def columns_of(file: Path) -> frozenset[str]:
    """Names of the columns of a Parquet file; none where it cannot be read."""
    try:
        with table(file) as opened:
            return frozenset(opened.schema_arrow.names)
    except InputError:
        return frozenset()


@contextmanager
def table(file: Path, root: Path | None = None) -> Iterator[Any]:
    """A Parquet file, opened; raises InputError, also for what reading it raises."""
    import pyarrow
    import pyarrow.parquet

    try:
        with (open_named(file) if root is None else open_inside(file, root) as raw,
              pyarrow.parquet.ParquetFile(raw) as opened):
            yield opened
    except (pyarrow.ArrowException, OSError, OverflowError) as error:
        raise InputError(f"{file}: not a Parquet file that can be read ({' '.join(str(error).split())[:80]})") from None


def grouped_rows(path: Path, name_column: str, order_column: str) -> Iterator[Item]:
    """Items whose rows have the same name, in the order of a column; positions are ranges of rows."""
    rows: dict[str, list[tuple[int, int, int]]] = {}
    files = files_in(path)
    for number, file in enumerate(files):
        with table(file) as opened:
            first = 0
            for batch in opened.iter_batches(1 << 14, columns=[name_column, order_column]):
                names, orders = (batch.column(name).to_pylist() for name in (name_column, order_column))
                for row, (name, order) in enumerate(zip(names, orders, strict=True), first):
                    with explained(f"{file}: row {row}", f"a row with {name_column} and {order_column}"):
                        rows.setdefault(_text(name), []).append((int(order), number, row))
                first += batch.num_rows
    root = path if path.is_dir() else path.parent
    for name, matches in rows.items():
        yield Item(path, name, tuple(_ranges([(number, row) for _, number, row in sorted(matches)], files, root)))


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError("no text")
    return value


def _ranges(places: list[tuple[int, int]], files: list[Path], root: Path) -> Iterator[_RANGE]:
    """Rows that follow each other, as ranges."""
    runs = groupby(enumerate(places), lambda entry: (entry[1][0], entry[1][1] - entry[0]))
    for (number, _), run in runs:
        members = [row for _, (_, row) in run]
        yield files[number].relative_to(root).as_posix(), members[0], len(members)


def rows_of(item: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of an item, one at a time, each with where it is."""
    root = item.path if item.path.is_dir() else item.path.parent
    for name, first, count in item.position:
        with table(root / name) as opened:
            begin = 0
            for group in range(opened.num_row_groups):
                end = begin + opened.metadata.row_group(group).num_rows
                if begin < first + count and end > first:
                    yield from _rows(opened, group, begin, first, count, root / name)
                begin = end


def _rows(opened: Any, group: int, begin: int, first: int, count: int, file: Path) -> Iterator[tuple[str, dict]]:
    row = begin
    for batch in opened.iter_batches(8, row_groups=[group]):
        for values in batch.to_pylist():
            if first <= row < first + count:
                yield f"{file}: row {row}", values
            row += 1
        if row >= first + count:
            return


def picture_of(value: Any) -> bytes | None:
    """The picture in a cell, as the feature Image of `datasets` keeps it."""
    content = value.get("bytes") if isinstance(value, dict) else value
    return content if isinstance(content, bytes) and len(content) <= limits.BLOB else None


def _detect(path: Path) -> bool:
    files = files_in(path)
    return bool(files) and columns_of(files[0]) >= _COLUMNS


def _read(item: Item) -> Session:
    where, row = next(rows_of(item))
    with explained(where, "a turn"):
        return Session(row["task"] or "", _turns(item), provenance=provenance_of(row))


def _turns(item: Item) -> Iterator[Utterance | Action]:
    for where, row in rows_of(item):
        with explained(where, "a turn of the format parquet"):
            yield turn_of(row, row["html"].encode() if row["html"] else None, picture_of(row["screenshot"]), where)


IMPORTER = Importer("exports of demotape in the format parquet (a folder, or a file .parquet)", _detect, _read,
                    lambda path: grouped_rows(path, "demonstration", "index"))
