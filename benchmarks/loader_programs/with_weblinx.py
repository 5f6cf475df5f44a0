"""Reads an export with the `weblinx` library: every turn of every demonstration in splits.json, every picture."""

import json
import sys
from pathlib import Path

import weblinx
from PIL import Image


def main(folder: Path) -> None:
    rows, pictures = {}, 0
    for split in json.loads((folder / "splits.json").read_bytes()):
        for demonstration in weblinx.load_demos_in_split(
                folder / "splits.json", split, demo_base_dir=folder / "demonstrations"):
            replay = weblinx.Replay.from_demonstration(demonstration)
            if not (demonstration.is_valid() and replay.validate_turns()):
                sys.exit(f"{demonstration.name}: not valid")
            rows[split] = rows.get(split, 0) + len(replay)
            for turn in replay:
                if turn.has_html() and not (turn.html and turn.bboxes is not None):
                    sys.exit(f"{demonstration.name}: turn {turn.index} has no page")
            for path in demonstration.list_all_screenshots():
                Image.open(demonstration.path / "screenshots" / path).load()
                pictures += 1
    print(json.dumps({"rows": rows, "pictures": pictures}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
