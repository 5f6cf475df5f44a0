"""Labels of recordings by people, and the sample for labelling, which contains no verdicts."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import floor
from pathlib import Path

from pipeline.export import Source
from pipeline.export.splits import websites
from schemas import InputError, limits
from schemas.files import dump_line, read_named, validated
from schemas.formats.parts import Strict, flag, string

from .trajectory import open_processed


class _LabelSchema(Strict):
    """A line of labels; people may note more in it."""

    class Meta:
        unknown = "exclude"

    id = string("of the recording")
    success = flag("whether the task was done; null where nobody has said", allow_none=True)


_LABEL = _LabelSchema()


@dataclass(frozen=True)
class Candidate:
    """A recording that may be drawn, by the website that it begins on; empty where it was on none."""

    id: str
    site: str
    task: str
    path: str


def read_labels(path: Path) -> dict[str, bool]:
    """The labels in a file of JSON lines, by the recordings' ids; those that are null are left out.

    Raises InputError for a line that is none, and for an id that is labelled twice.
    """
    labels: dict[str, bool | None] = {}
    for number, line in enumerate(read_named(path, limits.JSON).split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            read = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: not JSON ({error})") from None
        label = validated(read, _LABEL, where)
        if label["id"] in labels:
            raise InputError(f"{where}: field id: {label['id']!r} is labelled twice; delete one of the lines")
        labels[label["id"]] = label["success"]
    return {name: success for name, success in labels.items() if success is not None}


def candidate(path: Path) -> Candidate:
    """What is known of a recording before it is drawn; raises InputError as `open_processed` does."""
    recording, demonstration = open_processed(path)
    site = next(iter(websites(Source(demonstration, recording))), "")
    return Candidate(recording.id, site, demonstration["task"], str(path))


def drawn(candidates: Iterable[Candidate], count: int, seed: int) -> list[Candidate]:
    """So many of them, in an order that tells nothing: each website has its share, the rest goes to those that it is
    most of (largest remainders). The same for the same seed, however they are given."""
    by_site: dict[str, list[Candidate]] = defaultdict(list)
    for drawable in sorted(candidates, key=lambda drawable: _chance(seed, drawable.id)):
        by_site[drawable.site].append(drawable)
    total = sum(map(len, by_site.values()))
    if not total:
        return []
    quotas = {site: min(count, total) * len(members) / total for site, members in by_site.items()}
    by_remainder = sorted(quotas, key=lambda site: (floor(quotas[site]) - quotas[site], _chance(seed, site)))
    missing = min(count, total) - sum(map(floor, quotas.values()))
    counts = {site: floor(quota) for site, quota in quotas.items()}
    for site in by_remainder[:missing]:
        counts[site] += 1
    chosen = [drawable for site, members in by_site.items() for drawable in members[:counts[site]]]
    return sorted(chosen, key=lambda drawable: _chance(seed, drawable.id))


def sample_lines(chosen: Sequence[Candidate]) -> bytes:
    """The sample as a file to be labelled: `success` is null until somebody has said it."""
    return b"".join(dump_line(asdict(candidate_) | {"success": None}) for candidate_ in chosen)


def _chance(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}\n{name}".encode()).hexdigest()
