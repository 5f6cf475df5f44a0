"""The data set card: README.md, whose YAML front matter lists the files of each split for `datasets`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.export.manifest import tool_version
from pipeline.export.source import Options, Source, Summary
from pipeline.export.splits import SPLITS, websites

from .features import Features, yaml_lines

_ROWS = 50  # rows of a table; of the others only their number is told
_UNTOLD = "not told"
_BAR = 20  # blocks of the longest bar
_LENGTHS = ((0, 10), (11, 20), (21, 50), (51, 100), (101, 200))  # turns of a demonstration, from and to
_KNOWN = frozenset({"apache-2.0", "mit", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0",
                    "cc-by-nd-4.0", "cc-by-nc-nd-4.0", "odc-by", "odbl", "pddl", "cdla-permissive-2.0"})
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"),
          (10_000_000, "1M<n<10M"))


@dataclass(frozen=True)
class Words:
    """How the card of a format speaks: what a row of it is, by what rows are counted, and what is said of its files."""

    row: str
    kind: str
    about: str


@dataclass(frozen=True)
class Counted:
    """A row that stands in a file with others, for the card: its intent or operation, and how its screenshot is."""

    kind: str
    screenshot_status: str


@dataclass
class Counts:
    """What a card tells of its data, counted while it is written: rows, demonstrations, and what is known of these.

    `names`: what the format calls splits, where it has names of its own.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    rows: Counter[str] = field(default_factory=Counter)
    demonstrations: Counter[str] = field(default_factory=Counter)
    intents: Counter[str] = field(default_factory=Counter)
    pictures: Counter[str] = field(default_factory=Counter)
    sites: Counter[str] = field(default_factory=Counter)
    lengths: Counter[str] = field(default_factory=Counter)
    actors: Counter[str] = field(default_factory=Counter)
    consents: Counter[str] = field(default_factory=Counter)
    licenses: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    reviewers: set[str] = field(default_factory=set)
    validated: int = 0
    _length: int = 0

    def turn(self, source: Source, turn: Counted, count: int = 1) -> None:
        """Count a turn, or several of one kind."""
        self.rows[self._split(source)] += count
        self.intents[turn.kind] += count
        self.pictures[turn.screenshot_status] += count
        self._length += count

    def demonstration(self, source: Source) -> None:
        """Count a demonstration whose turns are counted; none without a turn, as no row is of it."""
        length, self._length = self._length, 0
        if not length:
            return
        provenance, review = source.recording.manifest.get("provenance", {}), source.review
        self.demonstrations[self._split(source)] += 1
        self.sites += Counter(websites(source))
        self.lengths[next((f"{low} to {high}" for low, high in _LENGTHS if length <= high), "201 and more")] += 1
        self.actors[" ".join(filter(None, (provenance.get("actor", _UNTOLD), provenance.get("agent"))))] += 1
        self.consents[{True: "given", False: "not given", None: _UNTOLD}[provenance.get("consent")]] += 1
        self.licenses[provenance.get("license", _UNTOLD)] += 1
        self.statuses[review.status or _UNTOLD] += 1
        self.reviewers |= {*review.annotators, review.validator} - {""}
        self.validated += bool(review.validator)

    def splits(self) -> list[str]:
        """Names of the splits that there are, in their usual order."""
        names = [self.names.get(split, split) for split in SPLITS]
        return [name for name in names if self.demonstrations[name]]

    def license_names(self) -> list[str]:
        """Licences of the recordings, each once; empty for those that tell none."""
        return sorted("" if license_ == _UNTOLD else license_ for license_ in self.licenses)

    def sizes(self, words: Words) -> str:
        """How many demonstrations and rows there are, in words."""
        demonstrations, rows = sum(self.demonstrations.values()), sum(self.rows.values())
        return f"{_number(demonstrations, 'demonstration')}, {_number(rows, words.row)}"

    def _split(self, source: Source) -> str:
        return self.names.get(source.split, source.split)


def card(counts: Counts, files: Mapping[str, str], options: Options, summary: Summary, words: Words,
         features: Features | None = None) -> str:
    """The text. `files`: pattern of the data files by split, where `datasets` can read them; `features`: types of their
    rows, if the files do not contain them."""
    total, rows = sum(counts.rows.values()), f"{words.row}s"
    size = next((name for limit, name in _SIZES if total < limit), "n>10M")
    head = ["---", *_license(counts), "task_categories:",
            "- image-text-to-text", "tags:", "- web-agents", "- demonstrations", "size_categories:", f"- {size}"]
    if files:
        head += ["configs:", "- config_name: default", "  data_files:"]
    for split, pattern in files.items():
        head += [f"  - split: {split}", f"    path: {pattern}"]
    if files and features:
        head += yaml_lines(features)
    parts = ["\n".join([*head, "---"]), _ABOUT.format(
        sizes=counts.sizes(words), about=words.about, version=tool_version(), review=_review(counts))]
    parts += [_table(title, (name, "demonstrations"), _ranked(counter)) for title, name, counter in (
        ("Who acted", "actor", counts.actors), ("Consent to publish", "consent", counts.consents),
        ("Licences of the recordings", "licence", counts.licenses), ("Review", "status", counts.statuses))]
    parts.append(_table("Splits", ("split", "demonstrations", rows),
                        [(split, counts.demonstrations[split], counts.rows[split]) for split in counts.splits()]))
    if summary.split_rule:
        parts.append(f"Split by the rule {_cell(summary.split_rule)}.")
    if summary.selection:
        parts.append(_table("Not selected", ("reason", "number"), _ranked(summary.not_selected)))
    parts.append(_table(f"{rows.capitalize()} by {words.kind}", (words.kind, rows), _ranked(counts.intents)))
    parts.append(_table(f"{rows.capitalize()} by screenshot", ("screenshot", rows), _ranked(counts.pictures)))
    parts.append(_table(f"Demonstrations by number of {rows}", (rows, "demonstrations"),
                        sorted(counts.lengths.items(), key=lambda item: int(item[0].split()[0]))))
    parts.append(_table("Demonstrations by website", ("website", "demonstrations"), _ranked(counts.sites)))
    parts.append(_limits(options, summary))
    return "\n\n".join(parts) + "\n"


def _number(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def _ranked(counter: Counter[str]) -> list[tuple[str, int]]:
    """The most frequent first, those with the same count by name; the last of many together."""
    rows = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    rest = rows[_ROWS:]
    return rows[:_ROWS] + ([(f"{len(rest)} others", sum(count for _, count in rest))] if rest else [])


def _table(title: str, names: tuple[str, ...], rows: Sequence[tuple]) -> str:
    """A table; each row with a bar for its last number, so that the distribution is seen at once."""
    lines = [f"## {title}", "", f"| {' | '.join(names)} | |", "|" + "---|" * (len(names) + 1)]
    highest = max((row[-1] for row in rows), default=0)
    return "\n".join([*lines, *(f"| {' | '.join(_cell(value) for value in row)} | {_bar(row[-1], highest)} |"
                                for row in rows)])


def _bar(number: int, highest: int) -> str:
    return "█" * round(_BAR * number / highest) or "▏" if number else ""


def _license(counts: Counts) -> list[str]:
    """The card's licence: the recordings' where all have the same that the hub knows by its name."""
    [*licenses] = counts.licenses
    if len(licenses) == 1 and licenses[0] != _UNTOLD:
        name = _cell(licenses[0])
        return [f"license: {name.lower()}"] if name.lower() in _KNOWN else ["license: other", f"license_name: {name!r}"]
    return ["license: other", "license_name: to-be-chosen-by-the-publisher"]


def _review(counts: Counts) -> str:
    """What is known of the review, in a sentence."""
    total = sum(counts.demonstrations.values())
    if not counts.reviewers:
        return "Nobody is known to have reviewed them"
    by = f"{len(counts.reviewers)} {'person' if len(counts.reviewers) == 1 else 'people'}"
    return f"{by} worked on them in review; {counts.validated} of {total} were validated or approved"


def _cell(value) -> str:
    """A value that cannot break the table: a website's name comes from outside."""
    return "".join(c if c.isalnum() or c in " .-_:" else "?" for c in str(value))


def _limits(options: Options, summary: Summary) -> str:
    redacted = ", ".join(f"{kind} {count}" for kind, count in sorted(summary.redacted.items())) or "none was found"
    allowed = f" Left in by decision of the publisher: {', '.join(sorted(options.allow))}." if options.allow else ""
    return _LIMITS.format(taken=redacted, allowed=allowed, names=_NAMES if options.names else _NO_NAMES)


_ABOUT = """# Demonstrations of web tasks

{sizes}. {about}

## How it was collected

Each was recorded in a real browser. {review}. Exported with demotape {version}.
`croissant.json` describes the files for machines (Croissant 1.0)."""

_NO_NAMES = "names, addresses of people and what only stands in pictures are not found"
_NAMES = """names and addresses of people by lists and rules, which miss some, and replaced by stand-ins, the same for
  the same person; what only stands in pictures is not found"""
_LIMITS = """## Known limits

- Licence: that of the recordings as told above, else to be chosen by who publishes this; the pages shown belong to
  their owners.
- Personal data and secrets were looked for by rules (e-mail addresses, telephone and card numbers, tokens) and replaced
  by `[REDACTED]`; {names}.
  Taken out: {taken}.{allowed}
- One way of doing a task; there may be others that are as good.
- Pages are snapshots: scripts are empty, and style sheets and images stay where they were."""
