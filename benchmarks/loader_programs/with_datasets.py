"""Reads an export with `datasets.load_dataset(FOLDER)`: every row of every split, every picture."""

import json
import sys
from pathlib import Path

import datasets
from PIL import Image


def main(folder: Path) -> None:
    rows, pictures, paths = {}, 0, set()
    for split, loaded in datasets.load_dataset(str(folder)).items():
        rows[split] = 0
        for row in loaded:
            actions = row.get("actions")  # Mind2Web's task files: a row is a task
            rows[split] += 1 if actions is None else len(actions)
            for path in [action["screenshot"] for action in actions or () if action["screenshot"]]:
                Image.open(folder / path).load()
                pictures += 1
            paths |= {*row.get("images", ()), (row.get("observation") or {}).get("screenshot")} - {None}
            for picture in [value for value in row.values() if isinstance(value, Image.Image)]:
                picture.load()
                pictures += 1
    for path in paths:  # of messages and steps
        Image.open(folder / path).load()
    print(json.dumps({"rows": rows, "pictures": pictures + len(paths)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
