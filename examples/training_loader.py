"""Go over an export in batches, as a training does: `python examples/training_loader.py FOLDER [SPLIT]`.

FOLDER is an export of the format webdataset or parquet. Nothing here needs PyTorch: with it, `webdataset.WebLoader`
or a `DataLoader` over `load_dataset(…).with_format("torch")` takes the place of `batches`.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy

BATCH = 8


@dataclass(frozen=True)
class Example:
    """One turn: what was on the screen before it, and what a model is to say."""

    screenshot: numpy.ndarray | None
    page: str
    task: str
    target: str


def examples(folder: Path, split: str = "train") -> Iterator[Example]:
    """The turns of a split in order, read as a stream; raises FileNotFoundError when there are none."""
    if shards := sorted(folder.glob(f"{split}-*.tar")):
        return _from_shards(shards)
    if files := sorted((folder / "data").glob(f"{split}-*.parquet")):
        return _from_parquet(files)
    raise FileNotFoundError(f"{folder}: no shards and no Parquet files of the split {split}")


def batches(found: Iterable[Example], size: int = BATCH) -> Iterator[list[Example]]:
    """Lists of up to that many."""
    found = iter(found)
    while batch := list(islice(found, size)):
        yield batch


def _from_shards(shards: list[Path]) -> Iterator[Example]:
    import webdataset

    # With many shards: shardshuffle=len(shards), and .shuffle(1000) behind it.
    for sample in webdataset.WebDataset([str(path) for path in shards], shardshuffle=False).decode("rgb8"):
        fields = sample["json"]
        picture = None if fields["screenshot_status"] == "none" else sample["jpg"]
        yield Example(picture, sample["html"].decode() if isinstance(sample["html"], bytes) else sample["html"],
                      fields["task"], _target(fields))


def _from_parquet(files: list[Path]) -> Iterator[Example]:
    import datasets

    for row in datasets.load_dataset("parquet", data_files=[str(path) for path in files], split="train",
                                     streaming=True):
        picture = None if row["screenshot"] is None else numpy.asarray(row["screenshot"].convert("RGB"))
        yield Example(picture, row["html"], row["task"], _target(row))


def _target(fields: dict) -> str:
    """The turn as text: what was said, or the intent with its arguments and the element's uid in the page."""
    if fields["type"] == "chat":
        return f"say({json.dumps(fields['utterance'])})"
    return f"{fields['intent']}({fields['uid']!r}, {fields['arguments']})"


def main(folder: Path, split: str = "train") -> None:
    """Print what a training would be given."""
    for number, batch in enumerate(batches(examples(folder, split))):
        shapes = {example.screenshot.shape for example in batch if example.screenshot is not None}
        print(f"batch {number}: {len(batch)} turns, screenshots {sorted(shapes)}, first: {batch[0].target}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
