"""Printed summaries of commands."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from schemas import DemotapeError, InputError, RecordingLayout
from schemas.types.recordings import Demonstration, Turn

from .terminal import hint

if TYPE_CHECKING:
    from demotape.converting import Conversion
    from pipeline.export import DemonstrationCounts, SplitPreview
    from pipeline.judging.figures import Figures
    from pipeline.ranker import Trained
    from recorder import Recording

_COUNT_LIMIT_S = 2.0  # seconds that counting unexplained changes may take at the end of a recording


def folder_size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def human_size(size: int) -> str:
    """Bytes as a person reads them."""
    value = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError


def by_intent(turns: list[Turn]) -> str:
    """Turns counted by intent, most frequent first: `click 9, textInput 2`."""
    counts = Counter(turn["intent"] if turn["type"] == "browser" else "say" for turn in turns)
    return ", ".join(f"{intent} {count}" for intent, count in counts.most_common())


def good_screenshots(turns: list[Turn]) -> tuple[int, int]:
    """Browser turns with a good screenshot, and all browser turns."""
    states = [turn["state"] for turn in turns if turn["type"] == "browser"]
    return sum(1 for state in states if state and state["screenshot_status"] == "good"), len(states)


def print_recording(console: Console, directory: Path, problems: list[str]) -> None:
    """What `record` recorded, and what to do next."""
    from recorder import Recording

    recording = Recording(directory)
    events = recording.events
    counts = Counter(event["type"] for event in events)
    frequent = ", ".join(f"{kind} {count}" for kind, count in counts.most_common(6))
    console.print(f"Recorded {len(events)} events in {events[-1]['time'] if events else 0:.0f} s"
                  f"{f' ({frequent})' if frequent else ''}, {human_size(folder_size(directory))}: {directory}")
    for problem in problems:
        console.print(f"note: {problem}")
    hint(f"{_unexplained_note(recording)}. Next: demotape process {directory}", to=console)


def _unexplained_note(recording: "Recording") -> str:
    """The number of changes that no action explains, counted for a short time at most."""
    from pipeline.checks import Material, count_unexplained_changes
    from pipeline.turns.folding import fold

    count, is_complete = count_unexplained_changes(Material(fold(recording.events), recording), _COUNT_LIMIT_S)
    return f"{'' if is_complete else 'At least '}{_unexplained(count)}"


def _unexplained(count: int) -> str:
    return f"{count} unexplained change{'' if count == 1 else 's'}"


def loss_note(path: Path, *, of_lines: bool) -> str:
    """What of a recording was lost by a kill, and by lines that cannot be read, as the end of a line; else empty."""
    from recorder import Recording

    loss = Recording(path).loss(of_lines=of_lines) if RecordingLayout(path).manifest.exists() else ""
    return f" (recovered: {loss})" if loss else ""


def reuse_lines(job) -> list[str]:
    """What a recording is to be processed with that is not given now, before it is: what was given the last time, and
    subtitles beside the video."""
    from pipeline.cache.process_inputs import ProcessInputs
    from pipeline.processing import load_previous

    without = {*job.without, *(("speech",) if job.recogniser else ())}
    try:
        previous = load_previous(job.path, ProcessInputs(job.chat, job.speakers, job.video, job.speech,
                                                      placement=job.placement), without)
    except DemotapeError:
        return []  # processing says it
    lines = [f"{job.path}: using {' and '.join(previous.reused)} of the last run"] if previous.reused else []
    if previous.is_sidecar and previous.speech:
        lines.append(f"{job.path}: using the speech of {previous.speech.name} beside the video")
    elif previous.excluded_speech and not job.recogniser:
        lines.append(f"{job.path}: omitting the speech of {previous.excluded_speech}, which belongs to another video")
    return lines


def _chat_note(now: int, before: int | None) -> str:
    """What became of the chat turns of a demonstration that was processed again."""
    if not before:
        return ""
    if now == before:
        return f"; {before} chat turns kept"
    return f"; {before} chat turns before, {now} now"


def processed_line(outcome) -> str:
    """What `process` made of a recording."""
    if outcome.state == "unchanged":
        return f"{outcome.path}: unchanged"
    counts = sorted(outcome.intents.items(), key=lambda item: -item[1])
    return (f"{outcome.path}: {sum(outcome.intents.values())} turns "
            f"({', '.join(f'{intent} {count}' for intent, count in counts)}), "
            f"{outcome.good_screenshots} of {outcome.screenshots} screenshots good, {outcome.checks} to look at, "
            f"{_unexplained(outcome.unexplained_changes)}"
            f"{_chat_note(*outcome.chat)}{loss_note(outcome.path, of_lines=outcome.has_lost_lines)}")


def processing_error(failed: list, total: int) -> DemotapeError | None:
    """How `process` ends when recordings failed: the reason of the only one, else how many did; None when none did."""
    if not failed:
        return None
    kind = InputError if failed[0].exit_code == InputError.exit_code else DemotapeError
    if total == 1:
        return kind(failed[0].reason)
    return kind(f"{len(failed)} of {total} failed, see above; the others succeeded")


def rendered_line(demonstration: Demonstration) -> str:
    """How like the rendered pages are to the screenshots, in one line."""
    values = sorted(turn["state"]["render_similarity"] for turn in demonstration["turns"]
                    if turn["type"] == "browser" and turn["state"] and "render_similarity" in turn["state"])
    if not values:
        return "no state with a good screenshot to compare"
    low = sum("rendered-differently" in {check["kind"] for check in turn["checks"]} for turn in demonstration["turns"])
    return (f"{len(values)} rendered pages compared with their screenshots: SSIM {values[len(values) // 2]:.3f} at the "
            f"median, {low} below 0.9")


def print_importers(console: Console) -> None:
    """What `import` accepts, a line each."""
    from pipeline.importing import list_importers

    console.print("recording: folders that demotape record or process wrote\npackage: zip files of the extension")
    for name, accepts in list_importers():
        console.print(f"{name}: {accepts}")


def imported_line(path: object, imported) -> str:
    """What `import` did with a recording."""
    said = {"new": "imported", "known": "already imported", "renewed": "updated with its new turns",
            "kept": "already imported; its edits and their turns are kept"}
    id_note = f", as another recording has the id {imported.sent_as}" if imported.sent_as else ""
    return f"{path}: {said[imported.outcome]} ({imported.id}{id_note})"


def print_export(console: Console, result) -> None:
    """What `export` wrote, and what it had to leave out."""
    console.print(f"{result.destination}: {result.demonstrations} demonstrations, {result.samples} turns, "
                  f"{result.files} files, {human_size(result.size)}")
    if result.skipped:
        console.print(f"  {result.skipped} files already present")
    if len(result.splits) > 1:
        console.print(f"  {', '.join(f'{split} {count}' for split, count in sorted(result.splits.items()))}")
    if result.near_duplicates:
        console.print(f"  {result.near_duplicates} in the split of an older near-duplicate")
    for line in _count_lines(result.counts):
        console.print(f"  {line}")
    for reason, count in result.reasons():
        console.print(f"  {count} × {reason}")
    for kind, count in sorted(result.redacted.items()):
        console.print(f"  {count} × {kind} redacted")


def print_conversion(console: Console, conversion: "Conversion") -> None:
    """What `convert` wrote, what sources lacked, and what importers and the format left out."""
    print_export(console, conversion.summary)
    if conversion.lacks:
        lacks = ", ".join(f"{name} {count}" for name, count in conversion.lacks.most_common())
        console.print(f"  demonstrations whose source has no: {lacks}")
    for reason, count in conversion.left_out.most_common():
        console.print(f"  {count} × not imported: {reason}")


def print_split_preview(console: Console, destination: str, preview: "SplitPreview") -> None:
    """The splits that an export would assign, and what would move."""
    splits = ", ".join(f"{split} {count}" for split, count in sorted(preview.splits.items()))
    console.print(f"{destination}: {preview.splits.total()} demonstrations: {splits}; nothing was written",
                  markup=False, soft_wrap=True)
    if preview.near_duplicates:
        console.print(f"  {preview.near_duplicates} in the split of an older near-duplicate")
    if not preview.compared_with:
        return
    console.print(f"  compared with {preview.compared_with}: {preview.new} new, {preview.gone} no longer there, "
                  f"{len(preview.moves)} with another split", markup=False, soft_wrap=True)
    for move in preview.moves:
        console.print(f"  {move.id}: {move.before} → {move.after} ({move.reason})", markup=False, soft_wrap=True)


def _count_lines(counts: "DemonstrationCounts") -> list[str]:
    """How many exported demonstrations were reviewed, and the exported and excluded ones by status, actor and outcome.
    A property with the same value everywhere has no line, if nothing is excluded."""
    statuses = counts.get("status", {})
    total = sum(part["exported"] for part in statuses.values())
    reviewed = sum(statuses[status]["exported"] for status in ("validated", "approved") if status in statuses)
    lines = [f"{reviewed} of {total} reviewed"] if total else []
    for name, values in counts.items():
        parts = [", ".join(f"{value} {part[kind]}" for value, part in values.items() if part[kind])
                 for kind in ("exported", "left_out")]
        if len(values) > 1 or parts[1]:
            lines.append(f"{name}: {parts[0]}{f'; excluded: {parts[1]}' if parts[1] else ''}")
    return lines


def print_differences(console: Console, differences: list, total: int) -> None:
    """What differs between two exports, the newer of which has `total` demonstrations."""
    kinds, turns = Counter(difference.kind for difference in differences), Counter[str]()
    for difference in differences:
        turns += difference.turns
        more = ", ".join(f"{count} turns {kind}" for kind, count in difference.turns.items())
        console.print(f"{difference.kind:8} {difference.id} ({difference.split}): "
                      f"{'; '.join(filter(None, (*difference.reasons, more)))}",
                      markup=False, soft_wrap=True)
    unchanged = total - kinds["added"] - kinds["changed"]
    for name, counts in (("demonstrations", kinds), ("turns", turns)):
        changes = ", ".join(f"{counts[kind]} {kind}" for kind in ("added", "removed", "changed"))
        console.print(f"{name}: {changes}{f', {unchanged} unchanged' if counts is kinds else ''}")


def print_scores(console: Console, scores: list[dict[str, Any]]) -> None:
    """A table for each split: one row an intent, one column a metric, in percent."""
    for split in dict.fromkeys(score["split"] for score in scores):
        of_split = [score for score in scores if score["split"] == split]
        metrics = list(dict.fromkeys(score["metric"] for score in of_split))
        rows: list[tuple[str, ...]] = [("intent", "turns", *metrics)]
        for intent in dict.fromkeys(score["intent"] for score in of_split):
            row = {score["metric"]: score for score in of_split if score["intent"] == intent}
            values = [row[name]["score"] if name in row else None for name in metrics]
            rows.append((intent, str(max(score["turns"] for score in row.values())),
                         *("" if value is None else f"{100 * value:.1f}" for value in values)))
        console.print(split)
        _print_rows(console, rows)


def ranker_figures(training: "Trained") -> dict[str, Any]:
    """What became of a training, and both scorers on each test split."""
    splits = {split: {"turns": ranker.turns, "recall@10": round(ranker.recall, 4), "mrr": round(ranker.mrr, 4),
                      "lexical_recall@10": round(lexical.recall, 4), "lexical_mrr": round(lexical.mrr, 4)}
              for split, (ranker, lexical) in training.splits.items()}
    return {"ranker": str(training.path), "demonstrations": training.demonstrations, "turns": training.turns,
            "trees": training.trees,
            "splits": splits}


def print_ranker(console: Console, training: "Trained") -> None:
    """The same as lines, in percent."""
    kind = f"{training.trees} trees" if training.trees else "a dual encoder"
    console.print(f"{training.path}: {kind}, learned from {training.turns} turns of "
                  f"{training.demonstrations} demonstrations")
    if not training.splits:
        console.print("no test split in the export, so no metrics; export with --splits")
        return
    width = max(map(len, training.splits))
    console.print(f"  {'':{width}}  turns  recall@10  lexical    MRR  lexical")
    for split, (ranker, lexical) in training.splits.items():
        console.print(f"  {split:{width}}  {ranker.turns:5}  {100 * ranker.recall:9.1f}  {100 * lexical.recall:7.1f}  "
                      f"{100 * ranker.mrr:5.1f}  {100 * lexical.mrr:7.1f}")


def print_judges(console: Console, judges: "list[Figures]", labelled: bool) -> None:
    """What each judge said, how it agrees with people where there are labels, and what it took."""
    rows: list[tuple[str, ...]]
    rows = [("judge", "judged", "failed", "success", "failure", "unknown", "median s", "tokens in", "tokens out")]
    rows += [(figures.judge, f"{figures.judged}", f"{figures.failed}",
              *(f"{count}" for count in figures.verdicts.values()),
              _cell(figures.median_seconds, ".1f"), _cell(figures.prompt_tokens, ","),
              _cell(figures.completion_tokens, ","))
             for figures in judges]
    _print_rows(console, rows)
    if not labelled:
        return
    console.print("\nAgainst people (S success, F failure, ? unknown; S-F: people say success, the judge says failure)")
    cells = [(said, verdict) for said in ("success", "failure") for verdict in ("success", "failure", "unknown")]
    letters = {"success": "S", "failure": "F", "unknown": "?"}
    rows = [("judge", "labelled", "agreement", "kappa", "95 % interval",
             *(f"{letters[said]}-{letters[verdict]}" for said, verdict in cells))]
    rows += [(figures.judge, f"{figures.labelled}", _cell(figures.agreement, ".1%"), _cell(figures.kappa, ".2f"),
              "-" if figures.low is None else f"{figures.low:.2f} to {figures.high:.2f}",
              *(f"{figures.confusion[said][verdict]}" for said, verdict in cells)) for figures in judges]
    _print_rows(console, rows)


def _cell(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _print_rows(console: Console, rows: list[tuple[str, ...]]) -> None:
    """A table: names to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *figures in rows:
        cells = (cell.rjust(width) for cell, width in zip(figures, widths[1:], strict=True))
        console.print("  ".join(("", first.ljust(widths[0]), *cells)))


def print_demo(console: Console, result) -> None:
    """What the demo did and where everything is."""
    turns = result.demonstration["turns"]
    good, all_ = good_screenshots(turns)
    rows = {
        "Task": result.demonstration["task"],
        "Turns": f"{len(turns)}: {by_intent(turns)}",
        "Screenshots": f"{good} good out of {all_}",
        "Chat": f"{result.chat_placed} of {result.chat_lines} utterances placed, from {result.chat}",
        "Outcome checks": f"{RecordingLayout(result.recording).outcome}",
        "Recording": f"{result.recording} ({human_size(folder_size(result.recording))})",
        "Review app": f"{result.data} ({human_size(folder_size(result.data))})",
    } | {f"Export {name}": f"{folder} ({human_size(folder_size(folder))})" for name, folder in result.exports.items()}
    width = max(map(len, rows))
    for name, value in rows.items():
        console.print(f"{name:<{width}} {value}")
    for problem in result.problems:
        console.print(f"note: {problem}")
    for purpose, command in result.next_commands:
        hint(f"\n{purpose}:\n  {command}", to=console)
