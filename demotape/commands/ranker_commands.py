"""The commands about rankers of candidate elements."""

import itertools
import json
from pathlib import Path

import click

from schemas import DemotapeError

from . import summary
from .terminal import PATH, complain, console, counted


@click.group()
def ranker() -> None:
    """Rankers of candidate elements, which learn from exports."""


@ranker.command("train")
@click.argument("export", type=PATH)
@click.option("--output", type=PATH, default=None,
              help="File of the ranker, by default ranker.json; with --encoder its folder, by default ranker.")
@click.option("--encoder", metavar="MODEL", help="Fine-tune this sentence-transformers model (name or folder) as a "
              "dual encoder, instead of growing trees.")
@click.option("--epochs", type=click.IntRange(1), default=3, show_default=True, help="Epochs of the dual encoder.")
@click.option("--learning-rate", type=click.FloatRange(0, min_open=True), default=3e-5, show_default=True,
              help="Of the dual encoder, at most.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed makes another ranker.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def train(export: Path, output: Path | None, encoder: str | None, epochs: int, learning_rate: float, seed: int,
          as_json: bool) -> None:
    """Train a ranker on an EXPORT in the format weblinx, for `export --scorer FILE`.

    It learns from the split train, is stopped by valid, and is measured beside the lexical scorer on each test split,
    over all candidates: the share of turns whose element is among the first ten, and the mean of one over its rank.
    """
    from pipeline.ranker import Encoder, reading
    from pipeline.ranker import train as trained

    output = output or Path("ranker" if encoder else "ranker.json")
    read, total = itertools.count(1), sum(map(len, reading.splits_of(export).values()))
    with counted("Training") as bar:
        training = trained(export, output, seed=seed, progress=lambda name: bar(next(read), total, name),
                           encoder=Encoder(
            encoder, epochs, learning_rate, lambda done, total: bar(done, total, "steps")) if encoder else None)
    if as_json:
        click.echo(json.dumps(summary.ranker_figures(training)))
    else:
        summary.print_ranker(console, training)
    for reason in training.damaged:
        complain("damaged", reason)
    if training.damaged:
        raise DemotapeError(f"{len(training.damaged)} demonstrations are damaged and left out, see above")
