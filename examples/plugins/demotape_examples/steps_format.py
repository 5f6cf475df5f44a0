"""A format: `<split>/<name>.json` for each demonstration, the task and the steps that a person took, as text only."""

import json
from collections.abc import Iterator

from pipeline.export import File, Files, Format, Options, Source, States, Tally


def samples(source: Source, options: Options, tally: Tally) -> Iterator[File]:
    """One file; runs in any process, so it depends on what it is given alone."""
    states = States(source, "data-demotape-uid", options, "png")
    source = states.source  # without personal data
    tally.redacted += states.known.counts
    steps = []
    for turn in source.turns:
        if turn["type"] == "chat":
            steps.append(f"{turn['speaker']}: {turn['utterance']}")
        elif turn["element"] or turn["intent"] == "load":
            name = turn["element"]["name"] if turn["element"] else turn["arguments"]["url"]
            steps.append(f"{turn['intent']} {name}".strip())
        else:
            tally.left_out[f"{turn['intent']} without an element"] += 1
            continue
        tally.turns += 1
    content = json.dumps({"task": source.demonstration["task"], "steps": steps}, indent=1)
    yield File(f"{source.split}/{source.name}.json", content.encode("ascii"), tally.turns)


FORMAT = Format(samples, Files)
