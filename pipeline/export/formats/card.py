"""The data set card: a README.md whose YAML head tells `datasets` which files are which split."""

from collections import Counter
from dataclasses import dataclass, field

from pipeline.export.manifest import tool_version
from pipeline.export.source import Options, Source, Summary
from pipeline.export.splits import websites

_SITES = 50  # websites listed; of the others only the number is told
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"),
          (10_000_000, "1M<n<10M"))


@dataclass
class Counts:
    """What a card tells of its data: by split, intent, website."""

    rows: Counter = field(default_factory=Counter)
    demonstrations: Counter = field(default_factory=Counter)
    intents: Counter = field(default_factory=Counter)
    sites: Counter = field(default_factory=Counter)


    def turn(self, source: Source, intent: str) -> None:
        """Count a turn."""
        self.rows[source.split] += 1
        self.intents[intent] += 1

    def demonstration(self, source: Source) -> None:
        """Count a demonstration."""
        self.demonstrations[source.split] += 1
        self.sites += Counter(websites(source))


def card(counts: Counts, files: dict[str, str], options: Options, summary: Summary) -> str:
    """The text. `files`: pattern of the data files by split."""
    total = sum(counts.rows.values())
    size = next((name for limit, name in _SIZES if total < limit), "n>10M")
    head = ["---", "license: other", "license_name: to-be-chosen-by-the-publisher", "task_categories:",
            "- image-text-to-text", "tags:", "- web-agents", "- demonstrations", "size_categories:", f"- {size}",
            "configs:", "- config_name: default", "  data_files:"]
    for split, pattern in files.items():
        head += [f"  - split: {split}", f"    path: {pattern}"]
    parts = ["\n".join([*head, "---"]), _ABOUT.format(
        turns=total, demonstrations=sum(counts.demonstrations.values()), version=tool_version())]
    parts.append(_table("Splits", ("split", "demonstrations", "turns"),
                        [(split, counts.demonstrations[split], counts.rows[split]) for split in files]))
    if summary.split_rule:
        parts.append(f"Split by the rule {_cell(summary.split_rule)}.")
    parts.append(_table("Turns by intent", ("intent", "turns"), counts.intents.most_common()))
    sites = sorted(counts.sites.items(), key=lambda item: (-item[1], item[0]))
    rest = [(f"{len(sites) - _SITES} others", sum(count for _, count in sites[_SITES:]))] if len(sites) > _SITES else []
    parts.append(_table("Demonstrations by website", ("website", "demonstrations"), sites[:_SITES] + rest))
    parts.append(_limits(options, summary))
    return "\n\n".join(parts) + "\n"


def _table(title: str, names: tuple[str, ...], rows: list[tuple]) -> str:
    lines = [f"## {title}", "", f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    return "\n".join([*lines, *(f"| {' | '.join(_cell(value) for value in row)} |" for row in rows)])


def _cell(value) -> str:
    """A value that cannot break the table: a website's name comes from outside."""
    return "".join(c if c.isalnum() or c in " .-_:" else "?" for c in str(value))


def _limits(options: Options, summary: Summary) -> str:
    taken = ", ".join(f"{kind} {count}" for kind, count in sorted(summary.redacted.items())) or "none was found"
    allowed = f" Left in by decision of the publisher: {', '.join(sorted(options.allow))}." if options.allow else ""
    return _LIMITS.format(taken=taken, allowed=allowed, names=_NAMES if options.names else _NO_NAMES)



_ABOUT = """# Demonstrations of web tasks

{demonstrations} demonstrations, {turns} turns. One row a turn: what was said or done, on which element, and the page,
element boxes and screenshot *before* it took effect.

## How it was collected

People did the tasks in a real browser while it was recorded; reviewers went over the turns. Recorded and exported with
demotape {version}. `arguments`, `element`, `boxes` and `checks` are JSON text. Rows without a state of their own carry
that of the turn in `state_turn`."""

_NO_NAMES = "names, addresses of people and what only stands in pictures are not found"
_NAMES = """names and addresses of people by lists and rules, which miss some, and replaced by stand-ins, the same for
  the same person; what only stands in pictures is not found"""
_LIMITS = """## Known limits

- Licence: to be chosen by who publishes this; the pages shown belong to their owners.
- Personal data and secrets were looked for by rules (e-mail addresses, telephone and card numbers, tokens) and replaced
  by `[REDACTED]`; {names}.
  Taken out: {taken}.{allowed}
- One navigator's way of doing a task; there may be others that are as good.
- Pages are snapshots: scripts are empty, and style sheets and images stay where they were."""
