"""The scorer by a sentence-transformers model: the cosine similarity of the vectors of query and element."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from pipeline import extras
from schemas import InputError


def load_encoder(model: str, option: str) -> Any:
    """A sentence-transformers model by its name or folder; raises InputError, which names the option, for what is none,
    and where the library is not installed."""
    with extras.importing("encoder", f"{option} {model}, which is not a file,"):
        from sentence_transformers import SentenceTransformer
    try:
        return SentenceTransformer(model)
    except (OSError, ValueError, RuntimeError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"{option} {model}: cannot be loaded as a sentence-transformers model: {reason}") from None


@lru_cache(maxsize=1)
def embedding(model: str, written: int) -> Callable[[str, Sequence[str]], list[float]]:
    """By a model as it was written at a time: another one may take its place."""
    encoder = load_encoder(model, "--scorer")
    from sentence_transformers import util

    def score(query: str, documents: Sequence[str]) -> list[float]:
        if not documents:
            return []
        query_vector = encoder.encode(query, convert_to_tensor=True, show_progress_bar=False)
        vectors = encoder.encode(list(documents), convert_to_tensor=True, show_progress_bar=False)
        return [float(value) for value in util.cos_sim(query_vector, vectors)[0]]

    return score
