"""The command that converts data of other tools into an export."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from schemas import DemotapeError, InputError

from . import summary
from .terminal import PATH, complain, console, progress

_FAILURES_SHOWN = 20


@click.command()
@click.argument("inputs", nargs=-1, required=True, type=PATH)
@click.argument("out")
@click.option("--format", "format_", required=True, help="Export format, as of `demotape export`.")
@click.option("--from", "importer", metavar="NAME", help="Importer that reads INPUTS, see `demotape import --list`.  "
                                                         "[default: detected]")
@click.option("--splits", type=PATH, help="JSON file with the split rule.  [default: all is train]")
@click.option("--screenshots", type=click.Choice(["png", "webp", "jpg"]),
              help="Encoding of the screenshots.  [default: depends on the format]")
@click.option("--allow", multiple=True, metavar="KIND",
              help="Kind of personal data that is not redacted: email, phone, card, iban, id or token; repeatable.")
@click.option("--grammar", type=click.Choice(["weblinx", "browsergym", "computer-use"]),
              help="chat, trajectories: grammar of the actions.  [default: browsergym]")
@click.option("--shard-size", type=click.IntRange(min=1), default=256, show_default=True, help="Maximum size of a "
                                                                                               "shard in MiB.")
@click.option("--temporary", type=PATH, help="Folder for intermediate recordings.  [default: the system's]")
@click.option("--endpoint-url", metavar="URL", help="Address of an S3 service other than Amazon's.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of parallel processes.")
def convert(inputs: tuple[Path, ...], out: str, format_: str, importer: str | None, splits: Path | None,
            shard_size: int, temporary: Path | None, endpoint_url: str | None, allow: tuple[str, ...], jobs: int,
            **options: Any) -> None:
    """Convert INPUTS, data of other tools, recordings or packages, to OUT, a folder or s3://bucket/prefix.

    Imports, processes and exports without the review app. Demonstrations that cannot be read are reported and skipped;
    the exit code is then 1.
    """
    from demotape.converting import convert as convert_parts
    from demotape.importing import Unreadable, expand_paths
    from pipeline.export import format_names, read_rule

    if format_ not in format_names():
        raise InputError(f"unknown format {format_!r}; choose one of {', '.join(format_names())}")
    rule = read_rule(splits) if splits else None
    parts = []
    for part in expand_paths(inputs, importer):
        if isinstance(part, Unreadable):
            raise part.error
        parts.append(part)
    with (TemporaryDirectory(prefix="demotape-convert-", dir=temporary) as folder,
          progress("Converting", len(parts)) as step):
        conversion = convert_parts(parts, out, format_, Path(folder), jobs=jobs, rule=rule, progress=step,
                                   shard_size=shard_size << 20, allow=frozenset(allow), endpoint_url=endpoint_url,
                                   **options)
    summary.print_conversion(console, conversion)
    for failure in conversion.failed[:_FAILURES_SHOWN]:
        complain("failed", f"{failure.id}: {failure.reason}")
    if conversion.failed:
        raise DemotapeError(f"{len(conversion.failed)} of {len(parts)} demonstrations could not be read and were "
                            "skipped; the others were converted")
