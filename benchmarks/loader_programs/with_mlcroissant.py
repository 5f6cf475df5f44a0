"""Reads an export with `mlcroissant`: every record of every record set that croissant.json tells, every picture."""

import json
import sys
from pathlib import Path

import mlcroissant
from PIL import Image


def main(folder: Path) -> None:
    dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    records, by_split, pictures = {}, {}, 0
    for each in dataset.metadata.record_sets:
        records[each.id] = 0
        for record in dataset.records(each.id):
            records[each.id] += 1
            split = record.get(f"{each.id}/split")
            if split is not None:
                told = by_split.setdefault(each.id, {})
                told[split.decode()] = told.get(split.decode(), 0) + 1
            for picture in [value for value in record.values() if isinstance(value, Image.Image)]:
                picture.load()
                pictures += 1
    print(json.dumps({"records": records, "by_split": by_split, "pictures": pictures}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
