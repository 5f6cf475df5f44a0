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
    """Train rankers of candidate elements on exports."""


@ranker.command("train")
@click.argument("export", type=PATH)
@click.option("--output", type=PATH, default=None,
              help=("Output file of the ranker; with --encoder, output folder.  [default: ranker.json; with "
                    "--encoder, ranker]"))
@click.option("--encoder", metavar="MODEL", help="Fine-tune this sentence-transformers model (name or folder) as a "
                                                 "dual encoder, instead of training trees.")
@click.option("--epochs", type=click.IntRange(1), default=3, show_default=True, help="Number of epochs of the dual "
                                                                                     "encoder.")
@click.option("--learning-rate", type=click.FloatRange(0, min_open=True), default=3e-5, show_default=True,
              help="Maximum learning rate of the dual encoder.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the training.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def train(export: Path, output: Path | None, encoder: str | None, epochs: int, learning_rate: float, seed: int,
          as_json: bool) -> None:
    """Train a ranker on an EXPORT in the format weblinx, for `export --scorer FILE`.

    The ranker is trained on the split train, with early stopping on valid. Recall@10 and MRR over all candidates are
    measured on each test split, for the ranker and for the lexical scorer.
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
        raise DemotapeError(f"{len(training.damaged)} demonstrations are damaged and were skipped, see above")
