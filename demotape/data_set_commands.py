"""The commands about data sets: export, check, evaluate."""

import json
from pathlib import Path

import click

from schemas import DemotapeError, InputError

from . import summary
from .terminal import DATA, PATH, complain, console, of_app, open_app, progress


@click.command("export")
@click.argument("destination")
@click.option("--format", "format_", required=True, help="weblinx, mind2web, webdataset, parquet or a plug-in's.")
@click.option("--status", help="Only demonstrations with this status, such as approved.")
@click.option("--splits", type=PATH, help="JSON file with the split rule; without it, all is train.")
@click.option("--screenshots", type=click.Choice(["png", "webp", "jpg"]),
              help="Encoding of the screenshots.  [default: what is usual in the format]")
@click.option("--set-of-marks", is_flag=True, help="Also screenshots with numbered boxes, and what the numbers mean.")
@click.option("--axtree", is_flag=True, help="Also the accessibility trees, where they were recorded.")
@click.option("--candidates", is_flag=True, help="weblinx: also ranked candidate elements.")
@click.option("--records", is_flag=True, help="weblinx: also model-ready records.")
@click.option("--budget", type=click.IntRange(min=64), default=2048, show_default=True, help="Tokens in a record.")
@click.option("--scorer", metavar="MODEL", help="sentence-transformers model that ranks candidates.")
@click.option("--allow", multiple=True, metavar="KIND",
              help="Kind of personal data to leave in: email, phone, card, iban, id or token; may be given again.")
@click.option("--ocr", is_flag=True, help="Also read the text in pictures, and take personal data out of it.")
@click.option("--names", is_flag=True, help="Also take out names of persons and postal addresses.")
@click.option("--shard-size", type=click.IntRange(min=1), default=256, show_default=True, help="MiB in a shard.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that work at once.")
@click.option("--db", metavar="URL", help="Database.  [default: SQLite in the data folder]")
@click.option("--data", type=PATH, default=DATA, show_default=True, help="Data folder of the review app.")
@of_app
def export(destination: str, format_: str, status: str | None, splits: Path | None, shard_size: int, jobs: int,
           allow: tuple[str, ...], endpoint_url: str | None, db: str | None, data: Path, blobs: str | None,
           **options) -> None:
    """Write the reviewed demonstrations as a data set to DESTINATION, a folder or s3://bucket/prefix.

    Demonstrations that are damaged are named and left out; the exit code is 1 then.
    """
    from curator_web.demonstrations import damage
    from curator_web.demonstrations.library import exportable
    from curator_web.demonstrations.told_secrets import told_secrets
    from curator_web.storage.names_key import names_key
    from pipeline.export import LeftOut, Source, export, read_rule

    rule = read_rule(splits) if splits else None
    database, store = open_app(db, data, blobs, endpoint_url)
    if options["names"]:
        options["names_key"] = names_key(database, store)
    damaged: list[LeftOut] = []
    done = set[str]()
    sources = (Source(*pair) for pair in exportable(database, store, status, damaged))
    if blobs and not destination.startswith("s3://"):
        endpoint_url = None  # it is only that of the recordings
    try:
        with progress("Exporting") as step:
            def advance(name: str) -> None:
                done.add(name)
                step(name)
            result = export(sources, destination, format_, advance, rule=rule, jobs=jobs, endpoint_url=endpoint_url,
                            damaged=damaged, shard_size=shard_size << 20, allow=frozenset(allow),
                            told=told_secrets(database, store), **options)
    finally:
        damage.note(database, damaged, done)
    summary.print_export(console, result)
    for each in damaged:
        complain("damaged", f"{each.id}: {each.reason}")
    if damaged:
        raise DemotapeError(f"{len(damaged)} of {len(damaged) + result.demonstrations} demonstrations are damaged and "
                            "left out, see above; the others are exported")


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--endpoint-url", metavar="URL", help="Address of an S3 service other than Amazon's.")
def check(paths: tuple[str, ...], endpoint_url: str | None) -> None:
    """Verify recordings, demonstrations and exports, also s3://bucket/prefix: hashes, references, order."""
    from pipeline.verify import verify

    broken = 0
    for path in paths:
        try:
            problems = verify(path, endpoint_url)
        except InputError as error:  # the others are looked at all the same
            if len(paths) == 1:
                raise
            problems = [str(error)]
        for problem in problems:
            complain("problem", problem)
        broken += bool(problems)
        if not problems:
            console.print(f"{path}: whole{summary.loss_note(Path(path))}")
    if broken:
        raise DemotapeError(f"{broken} of {len(paths)} not whole")


@click.command()
@click.argument("predictions", type=PATH)
@click.argument("export", type=PATH)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def evaluate(predictions: Path, export: Path, as_json: bool) -> None:
    """Score the PREDICTIONS of a model (JSON list or JSON lines) over an EXPORT in the format weblinx or mind2web."""
    from pipeline.evaluate import evaluate as score

    scores = score(predictions, export)
    if as_json:
        console.print(json.dumps(scores, indent=1))
    else:
        summary.print_scores(console, scores)


COMMANDS = (export, check, evaluate)
