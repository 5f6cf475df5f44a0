"""Reads an export with `webdataset.WebDataset`: every sample of every shard, every picture."""

import json
import sys
from pathlib import Path

import webdataset


def main(folder: Path) -> None:
    rows, pictures, keys = {}, 0, set()
    shards: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*.tar")):
        shards.setdefault(path.name.partition("-")[0], []).append(str(path))
    for split, paths in shards.items():
        rows[split] = 0
        for sample in webdataset.WebDataset(paths, shardshuffle=False).decode("pil"):
            rows[split] += 1
            keys.add(sample["__key__"])
            sample["jpg"].load()
            pictures += 1
            if sample["json"]["index"] < 0 or not sample["html"]:
                sys.exit(f"{sample['__key__']}: not what was written")
    if len(keys) != sum(rows.values()):
        sys.exit("keys that are there twice")
    print(json.dumps({"rows": rows, "pictures": pictures}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
