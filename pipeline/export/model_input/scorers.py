"""Scores of elements for utterances and actions: lexical, with a language model's vectors, or with a trained ranker."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas import InputError, limits
from schemas.files import read_named

from . import features
from .elements import Element, Query

if TYPE_CHECKING:
    from lightgbm import Booster

FORMAT, VERSION = "demotape/ranker", 1
_WORD = re.compile(r"\w+")

Scorer = Callable[[Query, Sequence[Element]], list[float]]


def lexical(query: str, documents: Sequence[str]) -> list[float]:
    """How well each document fits the query, by BM25 over the words of the turn's own elements (k1 1.2, b 0.5)."""
    wanted = set(_words(query))
    counted = [Counter(_words(document)) for document in documents]
    spread = Counter(word for words in counted for word in words.keys() & wanted)
    average = sum(map(Counter.total, counted)) / len(counted) if counted else 0
    scores = []
    for words in counted:
        score = 0.0
        for word in words.keys() & wanted:
            rare = math.log(1 + (len(counted) - spread[word] + 0.5) / (spread[word] + 0.5))
            score += rare * words[word] * 2.2 / (words[word] + 1.2 * (0.5 + 0.5 * words.total() / average))
        scores.append(score)
    return scores


def scorer(model: str | None) -> Scorer:
    """The lexical scorer; that of a ranker's file; or the cosine similarity by a sentence-transformers model.

    Raises InputError for what is none of them, and where a library that it needs is not installed.
    """
    if model is None:
        return _by_text(lexical)
    file = Path(model)
    if file.is_file():
        return _trained_scorer(file, file.stat().st_mtime_ns)
    return _by_text(_embedding(model, file.stat().st_mtime_ns if file.exists() else 0))


def _by_text(score: Callable[[str, Sequence[str]], list[float]]) -> Scorer:
    return lambda query, elements: score(query.text, [element.document for element in elements])


def load_encoder(model: str, option: str = "--scorer") -> Any:
    """A sentence-transformers model by its name or folder; raises InputError, which names the option, for what is none,
    and where the library is not installed."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise InputError(f"{option} {model}: no such file, and sentence-transformers, which loads models by name, is "
                         "not installed; install it, or omit the option to use the lexical scorer") from None
    try:
        return SentenceTransformer(model)
    except (OSError, ValueError, RuntimeError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"{option} {model}: cannot be loaded as a sentence-transformers model: {reason}") from None


@lru_cache(maxsize=1)
def _embedding(model: str, written: int) -> Callable[[str, Sequence[str]], list[float]]:
    """By a model as it was written at a time: another one may take its place."""
    encoder = load_encoder(model)
    from sentence_transformers import util

    def score(query: str, documents: Sequence[str]) -> list[float]:
        if not documents:
            return []
        query_vector = encoder.encode(query, convert_to_tensor=True, show_progress_bar=False)
        vectors = encoder.encode(list(documents), convert_to_tensor=True, show_progress_bar=False)
        return [float(value) for value in util.cos_sim(query_vector, vectors)[0]]

    return score


@lru_cache(maxsize=1)
def _trained_scorer(file: Path, written: int) -> Scorer:
    """By the ranker in a file as it was written at a time: another one may take its place."""
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


def need_lightgbm():
    """LightGBM; raises InputError where it is not installed or does not run."""
    try:
        import lightgbm
    except ImportError:
        raise InputError("a trained ranker requires LightGBM; install it with: "
                         "pip install 'demotape[ranker]'") from None
    except OSError as error:  # a library of the system that it needs is missing
        raise InputError(f"LightGBM cannot be loaded: {error}; install the missing library (Debian: "
                         "libgomp1)") from None
    return lightgbm


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
