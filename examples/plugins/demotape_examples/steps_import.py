"""An importer: what steps_format.py wrote, `<split>/<name>.json`, as chat and loads."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pipeline.importing import Action, Importer, Item, Session, Utterance
from pipeline.importing.sources import head, read_document

_SPEAKERS = ("instructor", "navigator")


def detect(path: Path) -> bool:
    """Whether a file begins as ours do."""
    return head(path).startswith(b'{\n "task": ') and b'\n "steps": [' in head(path)


def read(item: Item) -> Session:
    """The session of a file; runs in a process with limits."""
    document = read_document(item.path)
    left_out = Counter[str]()
    return Session(document["task"], steps(document["steps"], left_out), left_out=left_out)


def steps(lines: list[str], left_out: Counter[str]) -> Iterator[Utterance | Action]:
    """The steps that can be had again; the others are counted."""
    for line in lines:
        speaker, _, text = line.partition(": ")
        intent, _, name = line.partition(" ")
        if speaker in _SPEAKERS:
            yield Utterance(text, speaker)  # type: ignore[arg-type]
        elif intent == "load":
            yield Action("load", {"url": name, "transition": "typed"})
        else:
            left_out[f"{intent}: its element is not in the file"] += 1


IMPORTER = Importer("files of the example format steps", detect, read)
