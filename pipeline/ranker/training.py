"""Trains a ranker of candidates: LambdaRank (Burges 2010) over gradient-boosted trees with LightGBM; or a dual encoder.

It learns from the demonstrations in train, stops when those in valid get no better, and is measured beside the lexical
scorer on each test split, over all candidates of each turn.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.export.model_input import features
from pipeline.export.model_input.candidates import order_by_score
from pipeline.export.model_input.scorers import Scorer, lexical, scorer
from pipeline.export.trained_scorers.trees import FORMAT, VERSION, need_lightgbm
from schemas import InputError
from schemas.files import write_atomically

from . import dual_encoder
from .reading import Choice, NothingToLearn, choices, sample_candidates, splits_of

_OTHERS = 200  # elements of a turn, besides the right one, that are learned from: half the likeliest, half by chance
_ROUNDS, _PATIENCE = 300, 50  # trees at most, and without a better one
_MIN_TREES = 50  # trees at least: a few turns in valid may all be right by two or three
_TEN = 10
_PARAMETERS = {
    "objective": "lambdarank", "metric": "ndcg", "eval_at": [1, _TEN], "learning_rate": 0.1, "num_leaves": 15,
    "min_data_in_leaf": 10, "feature_fraction": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1,
    "deterministic": True, "force_row_wise": True, "num_threads": 1, "verbosity": -1}


@dataclass(frozen=True)
class Measures:
    """How a scorer ranks the right elements of some turns: the share that is among the first ten, and the mean of one
    over its rank (MRR)."""

    turns: int
    recall: float
    mrr: float


@dataclass
class Trained:
    """What became of a training. `trees`: 0 where no trees were grown. `splits`: of each test split, the ranker and the
    lexical scorer beside it."""

    path: Path
    demonstrations: int = 0
    turns: int = 0
    trees: int = 0
    splits: dict[str, tuple[Measures, Measures]] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Encoder:
    """How a dual encoder is trained instead of trees. `base`: the sentence-transformers model that it begins as;
    `rate`: the learning rate at most; `step` is told how many steps are done of how many."""

    base: str
    epochs: int = 3
    rate: float = 3e-5
    step: dual_encoder.Steps = lambda done, total: None


def train(export: Path, ranker: Path, *, seed: int = 0, encoder: Encoder | None = None,
          progress: Callable[[str], None] = lambda name: None) -> Trained:
    """Train a ranker on an export in the format weblinx, and write it to the file `ranker`, for `--scorer`; with
    `encoder`, to a folder.

    The same export and seed give the same file. `progress` is called with the name of each demonstration that is read.
    Demonstrations that cannot be read are left out and told in `damaged`. Raises InputError where there is nothing to
    learn from, or what trains is not installed.
    """
    splits, trained = splits_of(export), Trained(ranker)

    def read(split: str) -> Iterator[Choice]:
        for name in splits.get(split, ()):
            try:
                choices_read = list(choices(export, name))
                trained.demonstrations += bool(choices_read) and split == "train"
                yield from choices_read
            except InputError as error:
                trained.damaged.append(str(error))
            progress(name)

    try:
        if encoder:
            dual_encoder.ready(ranker)
            trained.turns = dual_encoder.fit(encoder.base, read("train"), read("valid"), ranker, seed=seed,
                                          epochs=encoder.epochs, rate=encoder.rate, step=encoder.step)
        else:
            trained.turns, trained.trees = _grow(read, ranker, seed)
    except NothingToLearn:
        raise InputError(f"{export}: the split train has no turn that acts on an element of its page") from None
    both = scorer(str(ranker.absolute())), scorer(None)
    for split in sorted(name for name in splits if name.startswith("test")):
        if measured := measure(read(split), both):
            trained.splits[split] = measured
    return trained


def _grow(read: Callable[[str], Iterable[Choice]], ranker: Path, seed: int) -> tuple[int, int]:
    """Write a ranker of trees; of how many turns, and how many trees."""
    lightgbm = need_lightgbm()
    learned = _table(read("train"), random.Random(seed))
    if not len(learned.groups):
        raise NothingToLearn
    valid = _table(read("valid"), random.Random(seed))
    data = _dataset(lightgbm, learned)
    watched = [_dataset(lightgbm, valid, data)] if len(valid.groups) else []
    stopping = [lightgbm.early_stopping(_PATIENCE, first_metric_only=True, verbose=False)] if watched else []
    rounds = _ROUNDS if watched else 2 * _MIN_TREES  # nobody tells when to stop
    booster = lightgbm.train(_PARAMETERS | {"seed": seed}, data, rounds, valid_sets=watched, callbacks=stopping,
                             keep_training_booster=True)  # else the trees after the best one are gone
    trees = min(booster.current_iteration(), max(booster.best_iteration, _MIN_TREES))
    content = {"format": FORMAT, "version": VERSION, "features": list(features.NAMES),
               "model": booster.model_to_string(num_iteration=trees)}
    write_atomically(ranker, json.dumps(content).encode())
    return len(learned.groups), trees


def measure(turns: Iterable[Choice], scorers: tuple[Scorer, Scorer]) -> tuple[Measures, Measures] | None:
    """Both scorers over the same turns, all candidates of each; None where there is no turn."""
    ranks_by_scorer: tuple[list[int], list[int]] = ([], [])
    for choice in turns:
        for ranks, score in zip(ranks_by_scorer, scorers, strict=True):
            order = [element.uid for element, _ in order_by_score(choice.elements, choice.query, score)]
            ranks.append(order.index(choice.target) + 1)
    if not ranks_by_scorer[0]:
        return None
    first, second = (Measures(len(ranks), float(np.mean([rank <= _TEN for rank in ranks])),
                           float(np.mean([1 / rank for rank in ranks]))) for ranks in ranks_by_scorer)
    return first, second


@dataclass(frozen=True)
class _TrainingTable:
    """Rows of features, whether each is the right element, and how many of them each turn has."""

    rows: np.ndarray
    right: np.ndarray
    groups: list[int]


def _table(turns: Iterable[Choice], by_chance: random.Random) -> _TrainingTable:
    parts, groups = [], []
    for choice in turns:
        rows = features.table(choice.query, choice.elements, lexical)
        right = np.array([element.uid == choice.target for element in choice.elements])
        selected = sample_candidates(rows[:, 0].tolist(), right.tolist(), _OTHERS, by_chance)
        parts.append((rows[selected], right[selected]))
        groups.append(len(selected))
    if not parts:
        return _TrainingTable(np.zeros((0, len(features.NAMES)), np.float32), np.zeros(0, bool), [])
    return _TrainingTable(np.concatenate([rows for rows, _ in parts]), np.concatenate([right for _, right in parts]),
                          groups)


def _dataset(lightgbm: Any, learned: _TrainingTable, reference: Any = None) -> Any:
    return lightgbm.Dataset(learned.rows, learned.right.astype(int), group=learned.groups, reference=reference,
                            feature_name=list(features.NAMES), categorical_feature=list(features.CATEGORIES),
                            params={"verbosity": -1})
