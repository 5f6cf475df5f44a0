"""Input and output of an export: sources, options, the summary."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict

from recorder import Recording
from schemas.types import Question
from schemas.types.recordings import BrowserTurn, Demonstration, SecretDigests, Turn

MAX_NAME = 60  # with a turn number and a suffix it stays within the 100 characters of a tar member's name


class About(TypedDict, total=False):
    """What the split rule's file tells of a demonstration; AboutSchema in splits.py."""

    website: str
    category: str
    subdomain: str
    region: str
    instructor: str
    vision: bool
    labels: dict[str, str]


@dataclass(frozen=True)
class ReviewState:
    """What became of a demonstration in the review app; empty where it was never there.

    People are told by pseudonyms: `annotators` edited or submitted it, `validator` validated or approved it. `proof`:
    the verdict of its last run, `changed` where it was changed since.
    """

    status: str = ""
    annotators: tuple[str, ...] = ()
    validator: str = ""
    proof: str = ""


@dataclass(frozen=True)
class Source:
    """One demonstration to export: its turns with all edits folded, the recording that holds its blobs, its split.

    `recorded`: the demonstration of the whole recording before all edits, from which its split is decided; None where
    no edits were made to it. `without`: ids of turns that are not selected (selection.py). `near_duplicate_of`: the id
    of the oldest of those that it is nearly the same as (near_duplicates.py); empty where it is that, or like no other.
    `questions`: those of the project's labelling scheme, to which its `answers` are.
    """

    demonstration: Demonstration
    recording: Recording
    split: str = "train"
    about: About = field(default_factory=About)
    review: ReviewState = ReviewState()
    without: frozenset[str] = frozenset()
    near_duplicate_of: str = ""
    recorded: Demonstration | None = None
    questions: tuple[Question, ...] = ()

    @property
    def before_edits(self) -> Demonstration:
        return self.recorded or self.demonstration

    @property
    def id(self) -> str:
        return self.demonstration["id"]

    @property
    def name(self) -> str:
        """The id as a file name without dots and underscores (WebLINX's evaluation cuts names at them).

        Ids that are none already get a digest, so that no two fall together.
        """
        slug = re.sub(r"[^A-Za-z0-9-]+", "-", self.id)[:MAX_NAME]
        if slug == self.id and slug.strip("-"):
            return slug
        return f"{slug[:MAX_NAME - 9].strip('-') or 'demonstration'}-{hashlib.sha256(self.id.encode()).hexdigest()[:8]}"

    @property
    def sha256(self) -> str:
        """SHA-256 of the demonstration as compact JSON with sorted keys."""
        canonical = json.dumps(self.demonstration, sort_keys=True, separators=(",", ":")).encode("ascii")
        return hashlib.sha256(canonical).hexdigest()

    @property
    def turns(self) -> list[Turn]:
        """The turns in order, without those that were dropped or are not selected; no `reply_to` names none."""
        selected = [turn for turn in self.demonstration["turns"]
                if not turn.get("dropped") and turn["id"] not in self.without]
        said = {turn["id"] for turn in selected if turn["type"] == "chat"}
        return [_answering(turn, said) for turn in selected]


def leave_out_dropped(sources: Iterable[Source], not_selected: Counter[str]) -> Iterator[Source]:
    """The sources without those whose turns were all dropped, which are counted."""
    for source in sources:
        turns = source.demonstration["turns"]
        if turns and all(turn.get("dropped") for turn in turns):
            not_selected["demonstration: all its turns are dropped"] += 1
        else:
            yield source


def remove_reports(sources: Iterable[Source]) -> Iterator[Source]:
    """The sources without the reports of agents in their turns."""
    for source in sources:
        turns = [turn if turn["type"] == "chat" or "agent" not in turn else _without_report(turn)
                 for turn in source.demonstration["turns"]]
        yield replace(source, demonstration={**source.demonstration, "turns": turns})


def _without_report(turn: BrowserTurn) -> BrowserTurn:
    remaining = turn.copy()
    del remaining["agent"]
    return remaining


def _answering(turn: Turn, said: Container[str]) -> Turn:
    """The turn; a chat turn that answers none of those (or itself) without `reply_to`."""
    if turn["type"] == "browser" or "reply_to" not in turn:
        return turn
    if turn["reply_to"] in said and turn["reply_to"] != turn["id"]:
        return turn
    alone = turn.copy()
    del alone["reply_to"]
    return alone


def secret_digests_of(recordings: Iterable[Recording]) -> tuple[SecretDigests, ...]:
    """The digests of secrets that were typed in recordings, of each recording that has any (Options.secret_digests)."""
    digests = (recording.manifest.get("secret_digests") for recording in recordings)
    return tuple({of_one["salt"]: of_one for of_one in digests if of_one}.values())


told_by = secret_digests_of  # its name in earlier versions


@dataclass(frozen=True)
class Options:
    """What a format needs to know besides its sources.

    `shard_size` is in bytes. `screenshots`: png, webp or jpg; None for what is usual in the format. `allow`: kinds of
    personal data (keys of pipeline.privacy.finding.KINDS) that are not redacted; `secret_digests`: of the
    secrets typed in the data set's recordings; each is searched in all (pipeline/privacy/recorded_secrets.py). `ocr`:
    text that is only in pictures is read, and personal data in it redacted (pipeline/privacy/ocr/). `budget`:
    tokens of a record's state; `scorer`: a sentence-transformers model that ranks candidates, None for the lexical one.
    `grammar`: how actions are written (pipeline/export/grammars), None for what is usual.
    `names`: take out names of persons and postal addresses, too; `names_key`: the secret under which their stand-ins
    are made, the same for the same stand-ins; empty for one that is made for this export. `without_reports`: turns lose
    what agents reported. `temporary`: folder for what waits to be written, None for the system's; who names one removes
    what a killed export leaves in it.
    """

    shard_size: int = 256 << 20
    screenshots: str | None = None
    set_of_marks: bool = False
    axtree: bool = False
    candidates: bool = False
    records: bool = False
    budget: int = 2048
    scorer: str | None = None
    grammar: str | None = None
    allow: frozenset[str] = frozenset()
    secret_digests: tuple[SecretDigests, ...] = ()
    ocr: bool = False
    names: bool = False
    names_key: str = ""
    without_reports: bool = False
    temporary: Path | None = None


@dataclass
class Tally:
    """What became of one demonstration: `turns` in the data set, and the counts of Summary."""

    turns: int = 0
    pictures_left_out: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    redacted: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class File:
    """A whole file of an export, as a format makes it of one demonstration; `samples` are the turns in it."""

    path: str
    content: bytes
    samples: int = 0


@dataclass(frozen=True)
class Line:
    """One line of a file that all demonstrations of a split share; `samples` are the turns in it."""

    path: str
    content: bytes
    samples: int = 1


@dataclass(frozen=True)
class LeftOut:
    """A demonstration that could not be read, and is not in the export."""

    id: str
    reason: str


# By property, then by value: how many are in the export (EXPORTED) and how many are not (LEFT_OUT).
DemonstrationCounts = dict[str, dict[str, dict[str, int]]]
EXPORTED, LEFT_OUT = "exported", "left_out"


def count_demonstrations(properties: Mapping[str, Mapping[str, str]], exported: Collection[str]) -> DemonstrationCounts:
    """Count demonstrations by each of their properties. `properties`: by id, then by name of the property."""
    counts: DemonstrationCounts = {}
    for demonstration_id, named in properties.items():
        part = EXPORTED if demonstration_id in exported else LEFT_OUT
        for name, value in named.items():
            counts.setdefault(name, {}).setdefault(value, {EXPORTED: 0, LEFT_OUT: 0})[part] += 1
    return {name: dict(sorted(values.items())) for name, values in counts.items()}


@dataclass
class Summary:
    """What was written. `samples` are turns, `size` is in bytes.

    `left_out` counts turns that the format cannot hold, by reason; `notes` counts what else there is to know;
    `pictures_left_out` screenshots in which it is not known where personal data stand; `redacted` counts what was
    taken out, by kind; `splits` demonstrations by split; `near_duplicates` those in the split of an older one;
    `split_rule`: the plug-in's rule that decided, empty without one. `release`, `previous`: its name and that of the
    one before. `selection` is what was asked for, `not_selected` counts demonstrations and turns that were not, by
    reason. `counts`: demonstrations by property (status, actor, outcome), value, and whether they are in the export.
    `skipped`: files that the destination had already. `damaged`: demonstrations that could not be read.
    """

    format: str
    destination: str
    demonstrations: int = 0
    samples: int = 0
    files: int = 0
    size: int = 0
    skipped: int = 0
    pictures_left_out: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    redacted: Counter[str] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    near_duplicates: int = 0
    split_rule: str = ""
    release: str = ""
    previous: str = ""
    selection: dict[str, Any] = field(default_factory=dict)
    not_selected: Counter[str] = field(default_factory=Counter)
    counts: DemonstrationCounts = field(default_factory=dict)
    damaged: list[LeftOut] = field(default_factory=list)

    def reasons(self) -> list[tuple[str, int]]:
        """What was left out and what else there is to know, with its count, the most frequent first."""
        pictures = {"screenshot left out: personal data may stand anywhere in it": self.pictures_left_out}
        others = Counter({f"not selected: {reason}": count for reason, count in self.not_selected.items()})
        return (self.left_out + self.notes + Counter(pictures) + others).most_common()

    def add(self, tally: Tally) -> None:
        """Take in what became of one demonstration."""
        self.pictures_left_out += tally.pictures_left_out
        self.left_out += tally.left_out
        self.notes += tally.notes
        self.redacted += tally.redacted
