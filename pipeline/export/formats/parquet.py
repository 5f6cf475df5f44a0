"""Parquet: one row for each turn with its pictures, and a README.md with which `datasets.load_dataset(FOLDER)`
works."""

import pickle
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pipeline.export.destinations.destination import HashingFile
from pipeline.export.sharding import ShardedFiles
from pipeline.export.source import Options, Source, Tally
from pipeline.export.splits import SPLITS

from . import card, documents, layouts, turnwise

ROWS = 64  # rows of a row group, so that a reader that wants one picture does not read a thousand
_GROUP_SIZE = 32 << 20  # bytes; the other limit of a row group
_TEXT = 6  # times that pages and their boxes get smaller


def samples(source: Source, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    """One row a turn; a picture is null where there is none."""
    kind = options.screenshots or "jpg"
    for sample in turnwise.samples(source, options, tally, kind):
        row = sample.record | {"html": sample.page.decode("utf-8"),
                               "screenshot": image(sample.picture, sample.key, kind)}
        if options.set_of_marks:
            row["marked_screenshot"] = image(sample.marked, sample.key, kind)
        yield row


def image(picture: bytes | None, key: str, kind: str) -> dict[str, Any] | None:
    """As the feature Image of `datasets` keeps it."""
    return None if picture is None else {"bytes": picture, "path": f"{key}.{kind}"}


class ParquetFiles(ShardedFiles):
    """Writes rows into `data/<split>-<name>.parquet` of about `shard_size` bytes; of a demonstration that is larger by
    itself, the rest into `data/<split>-<name>_001.parquet`, …"""

    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """Their names and types."""

    def counted(self, sample: dict[str, Any]) -> card.Counted:
        return card.Counted(sample["intent"], sample["screenshot_status"])

    def turn_of(self, sample: dict[str, Any]) -> str:
        return sample["turn"]

    def encode(self, sample: dict[str, Any]) -> bytes:
        return pickle.dumps(sample, pickle.HIGHEST_PROTOCOL)

    def about(self, sample: dict[str, Any]) -> int:
        return sum(map(_stored, sample.values()))

    def extent(self, lengths: list[int]) -> int:
        return len(lengths)

    def name_of(self, split: str, shard: str, number: int) -> str:
        return f"data/{split}-{shard}{f'_{number:03d}' if number else ''}.parquet"

    def put(self, split: str, shard: str, samples: Iterator[bytes], limit: int | None) -> Iterator[HashingFile]:
        import pyarrow
        import pyarrow.parquet

        schema, groups, number = _schema(self.columns()), _groups(samples), 0
        group = next(groups, None)
        while group is not None:
            with (self.destination.create(self.name_of(split, shard, number)) as file,
                  pyarrow.parquet.ParquetWriter(
                      pyarrow.PythonFile(file, mode="w"), schema, compression="zstd", write_statistics=False,
                      use_dictionary=[name for name in _REPEATED if name in schema.names]) as table):
                yield file
                while group is not None and not (limit and file.samples and file.size > limit):
                    table.write_table(pyarrow.Table.from_pylist(group, schema), row_group_size=len(group))
                    file.samples += len(group)
                    group = next(groups, None)
            number += 1

    def read(self, file: Path, start: int) -> Iterator[bytes]:
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(file) as table:
            for number in range(table.num_row_groups):
                count = table.metadata.row_group(number).num_rows
                if start < count:
                    for row in table.read_row_group(number).slice(start).to_pylist():
                        yield self.encode(row)
                start = max(0, start - count)


class Writer(ParquetFiles):
    """Writes rows, and the data set card."""

    def columns(self) -> dict[str, Any]:
        return _columns(self.options)

    def finish(self) -> None:
        super().finish()
        files = {split: f"data/{split}-*.parquet" for split in SPLITS if split in self.splits}
        documents.write(self.destination, self.options, self.counts, turnwise.WORDS, files,
                        layouts.tables(arrow_types(self.columns()), files, "turn"))


def _groups(samples: Iterable[bytes]) -> Iterator[list[dict[str, Any]]]:
    """Rows that are written together."""
    rows: list[dict[str, Any]] = []
    size = 0
    for sample in samples:
        rows.append(pickle.loads(sample))
        size += sum(map(_size, rows[-1].values()))
        if len(rows) >= ROWS or size >= _GROUP_SIZE:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _size(value: Any) -> int:
    """About the bytes of a cell."""
    if isinstance(value, dict):
        return len(value["bytes"])
    return sum(map(len, value)) if isinstance(value, list) else len(value) if isinstance(value, str) else 0


def _stored(value: Any) -> int:
    """About the bytes of a cell in a file: pictures are compressed already."""
    return _size(value) if isinstance(value, dict) else _size(value) // _TEXT + 1


def image_type() -> Any:
    """The type of a column of pictures."""
    import pyarrow

    return pyarrow.struct({"bytes": pyarrow.binary(), "path": pyarrow.string()})


def arrow_types(columns: dict[str, Any]) -> dict[str, str]:
    """Columns with the names of their types."""
    return {name: str(type_) for name, type_ in columns.items()}


def _columns(options: Options) -> dict[str, Any]:
    """Columns and their types."""
    import pyarrow

    texts = ("demonstration", "recording", "task")
    columns = {name: pyarrow.string() for name in texts} | {
        "index": pyarrow.int32(), "turn": pyarrow.string(), "type": pyarrow.string(), "timestamp": pyarrow.float64(),
        **{name: pyarrow.string() for name in ("speaker", "utterance", "source", "reply_to", "reactions", "room",
                                               "intent", "arguments", "uid", "element", "state_turn", "url", "title")},
        "tab": pyarrow.int32(), "viewport_width": pyarrow.int32(), "viewport_height": pyarrow.int32(),
        "scroll_x": pyarrow.float64(), "scroll_y": pyarrow.float64(), "zoom": pyarrow.float64(),
        "device_pixel_ratio": pyarrow.float64(), "screenshot_status": pyarrow.string(), "boxes": pyarrow.string(),
        **{name: pyarrow.string() for name in ("checks", "answers", "report", "actor", "agent", "license", "consent",
                                               "review_status", "annotators", "validator")}}
    if options.set_of_marks:
        columns["marks"] = pyarrow.string()
    if options.axtree:
        columns["axtree"] = pyarrow.string()
    columns |= {"html": pyarrow.large_string(), "screenshot": image_type()}
    if options.set_of_marks:
        columns["marked_screenshot"] = image_type()
    return columns


def _schema(columns: dict[str, Any]) -> Any:
    """Columns with what `datasets` needs to decode the pictures."""
    import json

    import pyarrow

    features = {name: _feature(type_) for name, type_ in columns.items()}
    metadata = json.dumps({"info": {"features": features}})
    return pyarrow.schema(columns.items(), metadata={"huggingface": metadata})


def _feature(type_: Any) -> dict[str, Any]:
    """A type in the words of `datasets`."""
    if type_ == image_type():
        return {"_type": "Image"}
    if str(type_).startswith("list<"):
        return {"feature": _feature(type_.value_type), "_type": "List"}
    return {"dtype": _DTYPES[str(type_)], "_type": "Value"}


# Columns whose cells are often alike; pictures are compressed already, and no two cells of text are alike
_REPEATED = ("demonstration", "recording", "task", "intent", "url", "title", "website", "domain", "subdomain",
             "annotation_id", "confirmed_task")
_DTYPES = {"string": "string", "large_string": "large_string", "int32": "int32", "double": "float64"}
