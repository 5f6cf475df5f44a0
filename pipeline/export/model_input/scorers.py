"""Scores of elements for utterances and actions: lexical, with a language model's vectors, or with a trained ranker."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from .elements import Element, Query

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
        from pipeline.export.trained_scorers.trees import trained_scorer

        return trained_scorer(file, file.stat().st_mtime_ns, lexical)

    from pipeline.export.trained_scorers.encoder import embedding

    return _by_text(embedding(model, file.stat().st_mtime_ns if file.exists() else 0))


def _by_text(score: Callable[[str, Sequence[str]], list[float]]) -> Scorer:
    return lambda query, elements: score(query.text, [element.document for element in elements])


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
