"""The commands about rankers of candidate elements."""

import json
from pathlib import Path

import click

from schemas import DemotapeError

from . import summary
from .terminal import PATH, complain, console, progress


@click.group()
def ranker() -> None:
    """Rankers of candidate elements, which learn from exports."""


@ranker.command("train")
@click.argument("export", type=PATH)
@click.option("--output", type=PATH, default=Path("ranker.json"), show_default=True, help="File of the ranker.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed makes another ranker.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def train(export: Path, output: Path, seed: int, as_json: bool) -> None:
    """Train a ranker on an EXPORT in the format weblinx, for `export --scorer FILE`.

    It learns from the split train, is stopped by valid, and is measured beside the lexical scorer on each test split,
    over all candidates: the share of turns whose element is among the first ten, and the mean of one over its rank.
    """
    from pipeline.ranker import reading
    from pipeline.ranker import train as trained

    with progress("Reading", sum(map(len, reading.splits_of(export).values()))) as step:
        told = trained(export, output, seed=seed, progress=step)
    if as_json:
        click.echo(json.dumps(summary.ranker_figures(told)))
    else:
        summary.print_ranker(console, told)
    for each in told.damaged:
        complain("damaged", each)
    if told.damaged:
        raise DemotapeError(f"{len(told.damaged)} demonstrations are damaged and left out, see above")
