"""Parquet: one row a turn with its pictures inside, and a README.md by which `datasets.load_dataset(FOLDER)` works."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from pipeline.export.destinations.destination import Destination, HashingFile
from pipeline.export.running import Files
from pipeline.export.source import Options, Source, Tally
from pipeline.export.splits import SPLITS

from . import card, turnwise

ROWS = 64  # rows of a row group, so that a reader that wants one picture does not read a thousand
_GROUP_SIZE = 32 << 20  # bytes; the other limit of a row group


def samples(source: Source, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    """One row a turn; a picture is null where there is none."""
    kind = options.screenshots or "jpg"
    for sample in turnwise.samples(source, options, tally, kind):
        row = sample.record | {"html": sample.page.decode("utf-8"),
                               "screenshot": _image(sample.picture, sample.key, kind)}
        if options.set_of_marks:
            row["marked_screenshot"] = _image(sample.marked, sample.key, kind)
        yield row


def _image(picture: bytes | None, key: str, kind: str) -> dict[str, Any] | None:
    """As the feature Image of `datasets` keeps it."""
    return None if picture is None else {"bytes": picture, "path": f"{key}.{kind}"}


class Writer(Files):
    """Writes rows into `data/<split>-00000-of-0000N.parquet` of about `shard_size` bytes, and the data set card."""

    def __init__(self, destination: Destination, options: Options):
        super().__init__(destination, options)
        self._shards: dict[str, _Shards] = {}
        self._counts = card.Counts()

    def write(self, source: Source, row: dict[str, Any]) -> None:
        if source.split not in self._shards:
            self._shards[source.split] = _Shards(self.destination, self.options, source.split)
            self._open.push(self._shards[source.split].abandon)
        self._shards[source.split].write(row)
        self._counts.turn(source, row["intent"])

    def add(self, source: Source) -> None:
        self._counts.demonstration(source)

    def finish(self) -> None:
        for split in SPLITS:
            if split in self._shards:
                self._shards[split].finish()
        files = {split: f"data/{split}-*.parquet" for split in SPLITS if split in self._shards}
        text = card.card(self._counts, files, self.options, self.destination.summary)
        self.destination.write("README.md", text.encode())


class _Shards:
    """The files of one split. They stay open until their number, which is in their names, is known."""

    def __init__(self, destination: Destination, options: Options, split: str):
        self._destination, self._options, self._split = destination, options, split
        self._open = ExitStack()
        self._files: list[HashingFile] = []
        self._table: Any = None  # a ParquetWriter
        self._rows: list[dict[str, Any]] = []
        self._size = 0

    def write(self, row: dict[str, Any]) -> None:
        """Append one row; rows are written in groups."""
        self._rows.append(row)
        self._size += len(row["html"]) + (len(row["screenshot"]["bytes"]) if row["screenshot"] else 0)
        if len(self._rows) >= ROWS or self._size >= _GROUP_SIZE:
            self._flush()

    def finish(self) -> None:
        """Name the files."""
        self._flush()
        if self._table:
            self._table.close()
        for number, file in enumerate(self._files):
            file.name = f"data/{self._split}-{number:05d}-of-{len(self._files):05d}.parquet"
        self._open.close()

    def abandon(self, *error) -> None:
        """Close what is open, also after an error."""
        if self._table and self._table.is_open:
            self._table.close()
        self._open.__exit__(*error)

    def _flush(self) -> None:
        import pyarrow
        import pyarrow.parquet

        if not self._rows:
            return
        schema = _schema(self._options)
        if self._table is None or self._files[-1].size > self._options.shard_size:
            if self._table:
                self._table.close()
            name = f"data/{self._split}-{len(self._files):05d}"
            self._files.append(self._open.enter_context(self._destination.create(name, provisional=True)))
            self._table = pyarrow.parquet.ParquetWriter(
                pyarrow.PythonFile(self._files[-1], mode="w"), schema, compression="zstd",
                # pictures are compressed already, and no two cells of text are alike
                use_dictionary=["demonstration", "recording", "task", "intent", "url", "title"], write_statistics=False)
        self._table.write_table(pyarrow.Table.from_pylist(self._rows, schema), row_group_size=len(self._rows))
        self._files[-1].samples += len(self._rows)
        self._rows, self._size = [], 0


def _schema(options: Options):
    """Columns and their types, with what `datasets` needs to decode the pictures."""
    import json

    import pyarrow

    texts = ("demonstration", "recording", "task")
    image = pyarrow.struct({"bytes": pyarrow.binary(), "path": pyarrow.string()})
    columns = {name: pyarrow.string() for name in texts} | {
        "index": pyarrow.int32(), "turn": pyarrow.string(), "type": pyarrow.string(), "timestamp": pyarrow.float64(),
        **{name: pyarrow.string() for name in ("speaker", "utterance", "source", "reply_to", "reactions", "intent",
                                               "arguments", "uid", "element", "state_turn", "url", "title")},
        "tab": pyarrow.int32(), "viewport_width": pyarrow.int32(), "viewport_height": pyarrow.int32(),
        "scroll_x": pyarrow.float64(), "scroll_y": pyarrow.float64(), "zoom": pyarrow.float64(),
        "device_pixel_ratio": pyarrow.float64(), "screenshot_status": pyarrow.string(), "boxes": pyarrow.string(),
        "checks": pyarrow.string()}
    if options.set_of_marks:
        columns["marks"] = pyarrow.string()
    if options.axtree:
        columns["axtree"] = pyarrow.string()
    columns |= {"html": pyarrow.large_string(), "screenshot": image}
    if options.set_of_marks:
        columns["marked_screenshot"] = image
    features = {name: {"_type": "Image"} if type_ is image else {"dtype": _DTYPES[str(type_)], "_type": "Value"}
                for name, type_ in columns.items()}
    metadata = json.dumps({"info": {"features": features}})
    return pyarrow.schema(columns.items(), metadata={"huggingface": metadata})


_DTYPES = {"string": "string", "large_string": "large_string", "int32": "int32", "double": "float64"}
