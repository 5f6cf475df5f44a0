"""The scorer that ranks by a sentence-transformers model, with a real model, where the library is installed."""

import numpy
import pytest
from lxml import etree

from pipeline.export.model_input.elements import Element, Query
from pipeline.export.model_input.scorers import scorer
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
    asked = Query(["book a flight"], [], {"width": 0, "height": 0})
    page = etree.fromstring("<p><a>Sign in</a><button>Book flight</button><input/></p>")
    scores = scorer(model)(asked, [Element(str(number), node, None, number) for number, node in enumerate(page)])
    assert scores[1] == max(scores) > scores[2]
    assert scorer(model)(asked, []) == []


def test_a_model_that_cannot_be_loaded_is_told(tmp_path):
    with pytest.raises(InputError, match="--scorer .*: cannot be loaded as a sentence-transformers model"):
        scorer(str(tmp_path))
