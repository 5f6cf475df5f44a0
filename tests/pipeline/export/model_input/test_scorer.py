"""The scorer that ranks by a sentence-transformers model, with a real model, where the library is installed."""

import numpy
import pytest

from pipeline.export.model_input.candidates import scorer
from schemas import InputError

transformers = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
WORDS = ("[UNK]", "book", "a", "flight", "button", "sign", "in", "search", "input")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    """A small model of its own kind: one vector a word, all at right angles."""
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    words = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.normalizer, words.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    folder = tmp_path_factory.mktemp("model")
    vectors = numpy.eye(len(WORDS), dtype=numpy.float32)
    transformers.SentenceTransformer(modules=[StaticEmbedding(words, embedding_weights=vectors)]).save(str(folder))
    return str(folder)


def test_what_is_nearest_by_the_model_is_first(model):
    scores = scorer(model)("book a flight", ["a Sign in", "button Book flight", "input search"])
    assert scores == pytest.approx([1 / 3, 2 / 3, 0])
    assert scorer(model)("book a flight", []) == []


def test_a_model_that_cannot_be_loaded_is_told(tmp_path):
    with pytest.raises(InputError, match="--scorer .*: not a sentence-transformers model that can be loaded"):
        scorer(str(tmp_path))
