"""The commands about data sets: export, check, diff, evaluate, push."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from schemas import DemotapeError, InputError
from schemas.actors import ACTORS, UNKNOWN_ACTOR
from schemas.intents import BROWSER_INTENTS

from . import summary
from .app_data import of_app, of_database, open_app
from .terminal import PATH, complain, console, progress

if TYPE_CHECKING:
    from curator_web.db.database import Database
    from pipeline.export import Selection, Source

_DAY = click.DateTime(["%Y-%m-%d"])

ANY = "any"  # as in pipeline.export, which is slow to import
PROBLEMS_SHOWN = 20  # of one path


@click.command("export")
@click.argument("destination")
@click.option("--preset", metavar="NAME", help="Export preset of the project; options given on the command line "
                                               "override it.")
@click.option("--format", "format_",
              help=("Export format: weblinx, mind2web, multimodal-mind2web, webdataset, parquet, chat, playwright, "
                    "trajectories, label-studio, atif, adp, agentnet or a plug-in's."))
@click.option("--project", metavar="ID", help="Only demonstrations of this project.  [default: the only one]")
@click.option("--status", metavar="STATUS",
              help=("Only demonstrations with this status; any: all but invalid ones.  [default: approved if the app "
                    "has accounts, otherwise any]"))
@click.option("--reviewed-only", "reviewed", is_flag=True, help="Only validated demonstrations.")
@click.option("--proven-only", "proven", is_flag=True, help="Only demonstrations whose replay succeeded, in their "
                                                            "current version.")
@click.option("--recorded-by", multiple=True, metavar="NAME", help="Only recordings of this user; repeatable.")
@click.option("--since", type=_DAY, help="Only recordings of this day or later.")
@click.option("--until", type=_DAY, help="Only recordings of this day or earlier.")
@click.option("--actor", "actors", multiple=True, type=click.Choice([*ACTORS, UNKNOWN_ACTOR, ANY]),
              help=("Only demonstrations by this actor: person, agent, script, unknown (the recording does not state "
                    "it), any; repeatable.  [default: person, unknown]"))
@click.option("--outcome", type=click.Choice(["success", "failure", "undecided", ANY]),
              help="Only demonstrations with this last result of outcome checks.  [default: any]")
@click.option("--website", "websites", multiple=True, metavar="NAME",
              help="Only demonstrations on this website, such as shop.example; repeatable.")
@click.option("--label", "labels", multiple=True, metavar="NAME=VALUE",
              help="Only demonstrations with this label in the file of --splits; repeatable.")
@click.option("--intent", "intents", multiple=True, type=click.Choice(sorted(BROWSER_INTENTS)),
              help="Only actions with this intent, and chat; repeatable.")
@click.option("--good-screenshots", is_flag=True, help="Only actions with a good screenshot, and chat.")
@click.option("--without-check", "without_checks", multiple=True, metavar="KIND",
              help="Only actions without a check of this kind, and chat; repeatable.")
@click.option("--splits", type=PATH, help="JSON file with the split rule.  [default: the project's, if it has one]")
@click.option("--screenshots", type=click.Choice(["png", "webp", "jpg"]),
              help="Encoding of the screenshots.  [default: depends on the format]")
@click.option("--set-of-marks", is_flag=True, help="Also export screenshots with numbered boxes, and the elements of "
                                                   "the numbers.")
@click.option("--axtree", is_flag=True, help="Also export the accessibility trees, if they were recorded.")
@click.option("--candidates", is_flag=True, help="weblinx: also export ranked candidate elements.")
@click.option("--records", is_flag=True, help="weblinx: also export model-ready records.")
@click.option("--budget", type=click.IntRange(min=64), default=2048, show_default=True, help="Maximum number of "
                                                                                             "tokens in a record.")
@click.option("--scorer", metavar="MODEL",
              help=("Scorer of candidates: a file of `ranker train`, or a sentence-transformers model.  [default: "
                    "lexical]"))
@click.option("--grammar", type=click.Choice(["weblinx", "browsergym", "computer-use"]),
              help="chat, trajectories: grammar of the actions.  [default: browsergym]")
@click.option("--allow", multiple=True, metavar="KIND",
              help="Kind of personal data that is not redacted: email, phone, card, iban, id or token; repeatable.")
@click.option("--ocr", is_flag=True, help="Also redact personal data in the text of images.")
@click.option("--names", is_flag=True, help="Also redact names of persons and postal addresses.")
@click.option("--without-reports", is_flag=True, help="Omit what agents reported of their steps, such as reasoning.")
@click.option("--release", metavar="NAME", help="Write a release with this name below DESTINATION; existing releases "
                                                "are never replaced.")
@click.option("--new-splits", is_flag=True, help="With --release: assign all splits by the rule again; by "
                                                    "default those of the previous release are kept.")
@click.option("--show-splits", is_flag=True, help="Only show the splits, and the demonstrations whose split differs "
                                                  "from the earlier export at DESTINATION or the previous release.")
@click.option("--shard-size", type=click.IntRange(min=1), default=256, show_default=True, help="Maximum size of a "
                                                                                               "shard in MiB.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of parallel processes.")
@click.option("--scheduler", metavar="ADDRESS", help="Use the Dask cluster of the scheduler at tcp://HOST:PORT.")
@of_database
@of_app
def export(destination: str, preset: str | None, splits: Path | None, shard_size: int, jobs: int,
           scheduler: str | None, endpoint_url: str | None, db: str | None, data: Path, blobs: str | None,
           project: str | None, show_splits: bool, **options) -> None:
    """Export the demonstrations of a project as a data set to DESTINATION, a folder or s3://bucket/prefix.

    The format is given by --format or --preset. By default, demonstrations of people are exported: the approved ones
    if the app has accounts, otherwise all except invalid ones. manifest.json counts the excluded ones by reason.
    Damaged demonstrations are reported and skipped; the exit code is then 1.
    """
    from curator_web.demonstrations.library import actors, damage
    from curator_web.demonstrations.library.export_counts import count_for_export, explain_empty
    from curator_web.demonstrations.library.export_sources import exportable, properties
    from curator_web.demonstrations.library.reported_secrets import reported_secrets
    from curator_web.jobs.export_presets import options_of
    from curator_web.storage.names_key import names_key
    from curator_web.users import project_settings, projects
    from pipeline.export import InOrder, LeftOut, export, make_rule, preview_splits, read_rule

    rule = read_rule(splits) if splits else None
    database, store = open_app(db, data, blobs, endpoint_url)
    chosen = projects.named(database, project)
    if preset:
        preset_options = _preset_options(options_of(database, chosen, preset))
        if rule is None and preset_options.get("splits"):
            rule = make_rule(preset_options["splits"], f"preset {preset!r}")
        options |= {name: value for name, value in preset_options.items() if name in options and not _is_set(name)}
    format_, allow = options.pop("format_"), frozenset(options.pop("allow"))
    if not format_ and not show_splits:
        raise click.UsageError("Missing option '--format' (or a '--preset' with a format).")
    if rule is None and (set_rule := project_settings.split_rule(database, chosen)):
        rule = make_rule(set_rule, "the project's split rule")
    if options["names"]:
        options["names_key"] = names_key(database, store)
    damaged: list[LeftOut] = []
    done, not_selected, selection = set[str](), Counter[str](), _selection(options, database)
    actors.read_missing(database, store)
    counts = count_for_export(database, selection, chosen)
    empty = "" if counts.selected else (f"{destination}: no demonstrations to export; nothing was written; "
                                        f"{explain_empty(counts, selection, prefix='--')}")
    sources = InOrder(_unless(empty, exportable(database, store, selection, damaged, not_selected, chosen)))
    if blobs and not destination.startswith("s3://"):
        endpoint_url = None  # it is only that of the recordings
    if show_splits:
        preview = preview_splits(sources, destination, rule, release=options["release"],
                                 new_splits=options["new_splits"], selection=selection, not_selected=not_selected,
                                 endpoint_url=endpoint_url)
        return summary.print_split_preview(console, destination, preview)
    store.temporary.remove_left_over()  # such as of an export that was killed
    try:
        with (store.temporary.folder() as temporary,
              progress("Exporting", counts.selected) as step):
            def advance(name: str) -> None:
                done.add(name)
                step(name)
            result = export(sources, destination, format_, advance, rule=rule, jobs=jobs, scheduler=scheduler,
                            endpoint_url=endpoint_url, damaged=damaged, selection=selection, not_selected=not_selected,
                            properties=properties(database, chosen), shard_size=shard_size << 20, allow=allow,
                            temporary=temporary,
                            secret_digests=reported_secrets(database, store), **options)
    finally:
        damage.note(database, damaged, done)
    summary.print_export(console, result)
    for left_out in damaged:
        complain("damaged", f"{left_out.id}: {left_out.reason}")
    if damaged:
        raise DemotapeError(f"{len(damaged)} of {len(damaged) + result.demonstrations} demonstrations are damaged "
                            "and were skipped, see above; the others were exported")


def _unless(empty: str, sources: Iterator["Source"]) -> Iterator["Source"]:
    """The sources, after the export has verified its options; raises InputError with the reason why there are none."""
    if empty:
        raise InputError(empty)
    yield from sources


def _is_set(name: str) -> bool:
    """Whether an option was told on the command line."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def _preset_options(content: dict[str, Any]) -> dict[str, Any]:
    """A preset's options as this command has them. One that has a status or actors, also none, means exactly those."""
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}
    options["format_"] = options.pop("format")
    options["labels"] = tuple(f"{name}={value}" for name, value in content.get("labels", {}).items())
    for name in ("since", "until"):
        options[name] = content.get(name) and datetime.fromisoformat(content[name])
    for name in {"status", "actors"} & content.keys():
        options[name] = options[name] or (ANY if name == "status" else (ANY,))
    return options


def _selection(options: dict[str, Any], database: "Database") -> "Selection":
    """The selection that the options ask for, taken out of them; raises a usage error for what is no label."""
    from curator_web.db.models.core import STATUSES
    from curator_web.jobs.export_request import selection, with_defaults
    from pipeline.export import Selection

    fields = {name: options.pop(name) for name in tuple(options) if name in Selection.__dataclass_fields__}
    labels = [label.partition("=") for label in fields["labels"]]
    if wrong := [name for name, equals, _ in labels if not equals]:
        raise click.BadParameter(f"{wrong[0]!r}: must be NAME=VALUE", param_hint="--label")
    fields |= {name: day and day.date() for name in ("since", "until") for day in (fields[name],)}
    fields["labels"] = {name: value for name, _, value in labels}
    if fields["status"] not in (None, *STATUSES, ANY):
        raise click.BadParameter(f"unknown status {fields['status']!r}; choose from {', '.join((*STATUSES, ANY))}",
                                 param_hint="--status")
    return selection(with_defaults(database, {name: value for name, value in fields.items()
                                              if value or name not in ("status", "actors")}))


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--endpoint-url", metavar="URL", help="Address of an S3 service other than Amazon's.")
@click.option("--rendered", is_flag=True, help="Also render the page of each state and compare it with its screenshot; "
                                               "the result is written into demonstration.json.")
def check(paths: tuple[str, ...], endpoint_url: str | None, rendered: bool) -> None:
    """Verify hashes, references and order of recordings, demonstrations and exports (folders or s3://bucket/prefix)."""
    from pipeline.verify import verify

    broken = 0
    for path in paths:
        try:
            problems = verify(path, endpoint_url)
        except InputError as error:  # the others are looked at all the same
            if len(paths) == 1:
                raise
            problems = [str(error)]
        for problem in problems[:PROBLEMS_SHOWN]:
            complain("problem", problem)
        if len(problems) > PROBLEMS_SHOWN:
            complain("problem", f"{path}: and {len(problems) - PROBLEMS_SHOWN} more; `pipeline.verify` returns all "
                                "of them")
        broken += bool(problems)
        if not problems:
            console.print(f"{path}: whole{summary.loss_note(Path(path), of_lines=False)}")
            _show_partial_exchanges(Path(path))
            if rendered:
                _compare_rendered(Path(path))
    if broken:
        raise DemotapeError(f"{broken} of {len(paths)} are incomplete or damaged")


def _show_partial_exchanges(path: Path) -> None:
    """Print which requests of a recording's network are partial: they are no damage."""
    from pipeline.partial_exchanges import partial_exchanges
    from recorder import Recording
    from schemas.layout import RecordingLayout

    if not RecordingLayout(path).manifest.exists():
        return
    texts = list(partial_exchanges(Recording(path)))
    for text in texts[:PROBLEMS_SHOWN]:
        complain("partial", text)
    if len(texts) > PROBLEMS_SHOWN:
        complain("partial", f"{path}: and {len(texts) - PROBLEMS_SHOWN} more")


def _compare_rendered(path: Path) -> None:
    """Compare rendered pages of a recording with its screenshots, and print how like they are."""
    from pipeline.isolation import allowance_for, run_isolated
    from pipeline.rendered_comparison import measure
    from recorder import Recording

    states = run_isolated(allowance_for(path), str(path), measure, Recording(path))
    console.print(f"{path}: {summary.rendered_line(states)}")


@click.command()
@click.argument("predictions", type=PATH)
@click.argument("export", type=PATH)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def evaluate(predictions: Path, export: Path, as_json: bool) -> None:
    """Score the PREDICTIONS of a model (JSON list or JSON lines) on an EXPORT.

    The export has the format weblinx, mind2web or multimodal-mind2web.
    """
    from pipeline.evaluate import evaluate as score
    from pipeline.isolation import allowance_for, run_isolated

    scores = run_isolated(allowance_for(predictions, export), str(export), score, predictions, export)
    if as_json:
        console.print(json.dumps(scores, indent=1))
    else:
        summary.print_scores(console, scores)


@click.command()
@click.argument("before")
@click.argument("after")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, one per demonstration that differs.")
@click.option("--endpoint-url", metavar="URL", help="Address of an S3 service other than Amazon's.")
def diff(before: str, after: str, as_json: bool, endpoint_url: str | None) -> None:
    """Show the differences of two exports: added, removed and changed demonstrations and turns, and the reasons.

    BEFORE and AFTER are folders or s3://bucket/prefix.
    """
    from pipeline.export import differences, read_export

    old, new = (read_export(folder, endpoint_url) for folder in (before, after))
    export_differences = differences(old, new)
    if as_json:
        for difference in export_differences:
            click.echo(json.dumps({"kind": difference.kind, "id": difference.id, "split": difference.split,
                                   "reasons": difference.reasons, "turns": difference.turns}))
    else:
        summary.print_differences(console, [*export_differences], len(new["demonstrations"]))


@click.command()
@click.argument("export", type=PATH)
@click.argument("repository")
@click.option("--public", is_flag=True, help="Make the repository public.  [default: a new repository is private]")
@click.option("--message", default="", help="Commit message.")
@click.option("--dry-run", is_flag=True, help="Show what would be uploaded, without connecting to the Hub.")
def push(export: Path, repository: str, **options: Any) -> None:
    """Upload an EXPORT folder to a data set REPOSITORY of the Hugging Face Hub, hf://OWNER/NAME, in one commit.

    The token is taken from HF_TOKEN or `hf auth login`. The export is verified before the upload.
    """
    from pipeline.hub import push as send

    result = send(export, repository, **options)
    phrase = "would get" if options["dry_run"] else "has"
    removed = f"; {result.removed} files of an earlier export removed" if result.removed else ""
    console.print(f"{result.address} {phrase} {result.files} files, {summary.human_size(result.size)}{removed}",
                  soft_wrap=True)


COMMANDS = (export, check, diff, evaluate, push)
