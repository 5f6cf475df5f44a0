"""Fine-tunes a dual encoder that ranks candidates: Dense Markup Ranking (WebLINX, section 5.1 and appendix B.4).

What was said and done, and each element, are encoded apart, by one model of sentence-transformers. Their cosine
similarity is to be 1 for the element that was acted on and 0 for others: the loss is the mean squared error.
"""

import hashlib
import json
import logging
import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pipeline import extras
from pipeline.export.model_input.scorers import lexical
from pipeline.export.trained_scorers.encoder import load_encoder
from schemas import InputError
from schemas.files import write_atomically

from .reading import Choice, NothingToLearn, sample_candidates

_OTHERS = 10  # elements of a turn, besides the right one, that are learned from
_BATCH = 32  # pairs
_WARM_UP = 0.1  # of all steps, in which the learning rate grows
_TEN = 10
_MADE_OF = "made-of.json"  # beside the checkpoints: what they were made of
_A_MODEL = "modules.json"  # is in the folder of every model of sentence-transformers

Sample = dict[str, Any]  # what was asked (`query`), the right element (`positive`), and others (`negative`)
Steps = Callable[[int, int], None]


def ready(folder: Path) -> None:
    """Raises InputError where a model cannot be written to this folder, as something else is there, or cannot be
    trained, as the libraries are not installed."""
    need_training()
    if folder.exists() and not (folder / _A_MODEL).is_file():
        raise InputError(f"{folder}: contains files that are not a model; choose another --output")


def need_training() -> None:
    """Raises InputError where what trains is not installed."""
    with extras.importing("encoder"):
        import accelerate  # noqa: F401
        import datasets  # noqa: F401
        import sentence_transformers  # noqa: F401


def fit(base: str, learned: Iterable[Choice], valid: Iterable[Choice], folder: Path, *, seed: int, epochs: int,
        rate: float, step: Steps = lambda done, total: None) -> int:
    """Fine-tune the model `base`, and write the one that ranks `valid` best after an epoch (MRR over the first ten), or
    the last one without `valid`, to a folder. Returns from how many turns it learned.

    The folder with `.part` at its end holds checkpoints: training that was stopped goes on from the last one if it is
    asked for the same again. `step` is told how many steps are done of how many. Raises NothingToLearn, and InputError
    for a model that cannot be loaded.
    """
    by_chance = random.Random(seed)
    turns, validation = list(_samples(learned, by_chance)), list(_samples(valid, by_chance))
    if not turns:
        raise NothingToLearn
    part = folder.with_name(folder.name + ".part")
    goes_on = _resume_state(part, [base, seed, epochs, rate, turns, validation])
    with _quiet():
        model = load_encoder(base, "--encoder")
        model.model_card_data.widget = [{}]  # else examples are taken of what was captured
        trainer = _trainer(model, turns, validation, part, seed, epochs, rate, step)
        trainer.train(resume_from_checkpoint=goes_on and any(part.glob("checkpoint-*")))
        trainer.model.save_pretrained(str(part / "model"), create_model_card=False)
    if folder.exists():
        shutil.rmtree(folder)
    (part / "model").rename(folder)
    shutil.rmtree(part)
    return len(turns)


def _samples(choices: Iterable[Choice], by_chance: random.Random) -> Iterator[Sample]:
    for choice in choices:
        documents = [element.document for element in choice.elements]
        right = [element.uid == choice.target for element in choice.elements]
        chosen = sample_candidates(lexical(choice.query.text, documents), right, _OTHERS, by_chance)
        yield {"query": choice.query.text, "positive": [documents[number] for number in chosen if right[number]],
               "negative": [documents[number] for number in chosen if not right[number]]}


def _resume_state(part: Path, made_of: list[Any]) -> bool:
    """Whether the folder holds checkpoints of the same training; made anew where it does not."""
    digest = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()
    path = part / _MADE_OF
    if path.is_file() and path.read_text(encoding="utf-8") == digest:
        return True
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    write_atomically(path, digest.encode())
    return False


def _trainer(model: Any, turns: list[Sample], validation: list[Sample], part: Path, seed: int, epochs: int, rate: float,
             step: Steps) -> Any:
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer.evaluation import RerankingEvaluator
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss
    from transformers import PrinterCallback, TrainerCallback

    class Progress(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            step(state.global_step, state.max_steps)

    validation = [sample for sample in validation if sample["negative"]]
    evaluator = RerankingEvaluator(validation, at_k=_TEN, name="valid", write_csv=False) if validation else None
    best: dict[str, Any] = {"eval_strategy": "epoch", "load_best_model_at_end": True,
                            "metric_for_best_model": f"eval_valid_mrr@{_TEN}"} if validation else {}
    arguments = SentenceTransformerTrainingArguments(
        str(part), num_train_epochs=epochs, per_device_train_batch_size=_BATCH, learning_rate=rate,
        warmup_steps=_WARM_UP, seed=seed, data_seed=seed, save_strategy="epoch", save_total_limit=2,
        logging_strategy="no", report_to="none", disable_tqdm=True, dataloader_pin_memory=False, **best)
    pairs = [(turn["query"], element, score) for turn in turns
             for score, kind in ((1.0, "positive"), (0.0, "negative")) for element in turn[kind]]
    columns = dict(zip(("asked", "element", "score"), map(list, zip(*pairs, strict=True)), strict=True))
    trainer = SentenceTransformerTrainer(model, arguments, train_dataset=Dataset.from_dict(columns),
                                         loss=CosineSimilarityLoss(model), evaluator=evaluator, callbacks=[Progress()])
    trainer.remove_callback(PrinterCallback)  # it writes among the results
    return trainer


@contextmanager
def _quiet():
    """Without the bars of the libraries and what they log."""
    from datasets import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    barred = are_progress_bars_disabled()
    disable_progress_bars()
    loggers = [logging.getLogger(name) for name in ("sentence_transformers", "transformers", "datasets", "accelerate")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        if not barred:
            enable_progress_bars()
