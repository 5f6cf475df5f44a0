"""The scorer by a file of `demotape ranker train`: gradient-boosted trees, evaluated with LightGBM."""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline import extras
from pipeline.export.model_input import features
from pipeline.export.model_input.elements import Element, Query
from schemas import InputError, limits
from schemas.files import read_named

if TYPE_CHECKING:
    from lightgbm import Booster

FORMAT, VERSION = "demotape/ranker", 1


@lru_cache(maxsize=1)
def trained_scorer(file: Path, written: int, lexical: Callable[[str, Sequence[str]], list[float]]
                   ) -> Callable[[Query, Sequence[Element]], list[float]]:
    """By the ranker in a file as it was written at a time: another one may take its place. `lexical`: the lexical
    scorer, whose score is one of the features."""
    booster = read_ranker(file)

    def score(query: Query, elements: Sequence[Element]) -> list[float]:
        if not elements:
            return []
        return [float(value) for value in booster.predict(features.table(query, elements, lexical), num_threads=1)]

    return score


def read_ranker(path: Path) -> "Booster":
    """The model in a ranker's file; raises InputError for what is none, or of other features."""
    lightgbm = need_lightgbm()
    try:
        content = json.loads(read_named(path, limits.BLOB))
        if (content["format"], content["version"]) != (FORMAT, VERSION):
            raise ValueError
        names, model = content["features"], str(content["model"])
    except (ValueError, LookupError, TypeError):
        raise InputError(f"{path}: not a file written by `demotape ranker train`") from None
    if names != list(features.NAMES):
        raise InputError(f"{path}: the features of this ranker do not match this version; train it again")
    try:
        return lightgbm.Booster(model_str=model)
    except lightgbm.basic.LightGBMError as error:
        raise InputError(f"{path}: field model: LightGBM cannot read it ({error})") from None


def need_lightgbm() -> Any:
    """LightGBM; raises InputError where it is not installed or does not run."""
    try:
        with extras.importing("ranker"):
            import lightgbm
    except OSError as error:  # a library of the system that it needs is missing
        raise InputError(f"LightGBM cannot be loaded: {error}; install the missing library (Debian: "
                         "libgomp1)") from None
    return lightgbm
