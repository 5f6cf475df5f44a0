"""A dual encoder learns from an export and ranks in later ones: with a small model of its own, where
sentence-transformers is installed."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from pipeline.export.model_input.scorers import scorer
from pipeline.ranker import Encoder, train
from pipeline.ranker.reading import choices
from schemas import InputError
from tests.pipeline.ranker.test_training import THINGS, site
from tests.pipeline.test_process import demotape
from tests.support.waiting import wait_until

transformers = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
WORDS = ("[UNK]", *THINGS, "get", "me", "the", "only", "to", "and", "for", "go", "button", "span", "div", "li", "td",
         "h3", "p", "aria", "label", "instructor", "click")


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    return site(tmp_path_factory.mktemp("shops"), {"train": 30, "valid": 6, "test_web": 12})


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> str:
    """A model that knows nothing yet: one vector a word, by chance."""
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    words = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.normalizer, words.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    folder = tmp_path_factory.mktemp("base")
    vectors = numpy.random.default_rng(3).normal(size=(len(WORDS), 32)).astype(numpy.float32)
    transformers.SentenceTransformer(modules=[StaticEmbedding(words, embedding_weights=vectors)]).save(str(folder))
    return str(folder)


def test_a_dual_encoder_learns_and_ranks(shops, base, tmp_path):
    told = train(shops, tmp_path / "model", encoder=Encoder(base, epochs=12, rate=0.05))
    assert (told.demonstrations, told.turns, told.trees, [*told.splits]) == (30, 90, 0, ["test_web"])
    learned, lexical = told.splits["test_web"]
    assert learned.turns == 36 and learned.mrr > lexical.mrr + 0.2 and learned.recall > 0.9
    choice = next(choices(shops, "test-web-0"))
    scores = [scorer(name)(choice.query, choice.elements) for name in (str(tmp_path / "model"), base)]
    place = next(number for number, each in enumerate(choice.elements) if each.uid == choice.target)
    assert sorted(scores[0])[-10] <= scores[0][place] and scores[0] != scores[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]


def test_the_same_gives_the_same(shops, base, tmp_path):
    scores = []
    choice = next(choices(shops, "test-web-0"))
    for name in ("one", "two", "one"):
        train(shops, tmp_path / name, seed=2, encoder=Encoder(base, epochs=2, rate=0.05))
        scores.append(scorer(str(tmp_path / name))(choice.query, choice.elements))
    assert scores[0] == scores[1] == scores[2]


def test_training_that_is_killed_goes_on(shops, base, tmp_path):
    running = subprocess.Popen([
        str(Path(sys.executable).with_name("demotape")), "ranker", "train", str(shops), "--encoder", base, "--json",
        "--learning-rate", "0.05", "--output", str(tmp_path / "model"), "--epochs", "400"])
    wait_until(lambda: running.poll() is not None
               or list(tmp_path.glob("model.part/checkpoint-*/trainer_state.json")), what="a checkpoint")
    assert running.poll() is None
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert not (tmp_path / "model").exists()
    steps = []
    found = max(int(path.name.split("-")[1]) for path in tmp_path.glob("model.part/checkpoint-*"))
    with pytest.raises(KeyboardInterrupt):
        train(shops, tmp_path / "model", encoder=Encoder(base, 400, 0.05, _stopping(steps)))
    assert steps[0] >= found - 31 and steps[0] > 1  # from the last whole one
    train(shops, tmp_path / "model", encoder=Encoder(base, 2, 0.05, lambda done, total: steps.append(done)))
    assert 1 in steps  # other epochs: from the beginning
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]


def _stopping(steps):
    def step(done, total):
        steps.append(done)
        raise KeyboardInterrupt
    return step


def test_the_command(shops, base, tmp_path):
    code, output = demotape("ranker", "train", shops, "--encoder", base, "--output", tmp_path / "model", "--json")
    assert code == 0 and json.loads(output)["splits"]["test_web"]["turns"] == 36


def test_what_it_cannot_do_is_told(shops, base, tmp_path):
    (tmp_path / "things").mkdir()
    (tmp_path / "things" / "mine").write_text("mine")
    with pytest.raises(InputError, match="things: contains files that are not a model"):
        train(shops, tmp_path / "things", encoder=Encoder(base))
    assert (tmp_path / "things" / "mine").read_text() == "mine"
    with pytest.raises(InputError, match="--encoder .*: cannot be loaded as a sentence-transformers model"):
        train(shops, tmp_path / "model", encoder=Encoder(str(tmp_path / "things")))
    empty = site(tmp_path / "empty", {"test_web": 1})
    with pytest.raises(InputError, match="the split train has no turn"):
        train(empty, tmp_path / "model", encoder=Encoder(base))
    assert not (tmp_path / "model").exists()
