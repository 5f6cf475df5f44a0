"""Comparison of judges with people: agreement, Cohen's kappa with its interval, confusion matrix, time and tokens."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import get_args

from pipeline.evaluate.reliability import kappa_interval, reliability

from .model_judge import Judgement
from .verdicts import Verdict

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Figures:
    """How one judge did. `verdicts`: how often it said what. `labelled`: how many of those that it judged have a label
    by people; of these are `agreement`, `kappa` with its 95 % interval, and `confusion`: what people say, what the
    judge says, how often. An unknown verdict agrees with no label. None where there is nothing to tell; tokens are the
    sum, None where the endpoint told none."""

    judge: str
    judged: int
    failed: int
    verdicts: dict[str, int]
    labelled: int
    agreement: float | None
    kappa: float | None
    low: float | None
    high: float | None
    confusion: dict[str, dict[str, int]]
    median_seconds: float | None
    prompt_tokens: int | None
    completion_tokens: int | None


def figures(judge: str, judgements: Iterable[Judgement], labels: Mapping[str, bool], failed: int = 0) -> Figures:
    """The figures of one judge's judgements, each of another recording; `labels`: by the recordings' ids."""
    mine = [judgement for judgement in judgements if judgement.judge == judge]
    verdicts = Counter(judgement.verdict for judgement in mine)
    pairs = Counter(("success" if labels[judgement.id] else "failure", judgement.verdict) for judgement in mine
                    if judgement.id in labels)
    table = [(said, verdict, count) for (said, verdict), count in sorted(pairs.items())]
    agreement, (low, high) = reliability([table]), kappa_interval(table)
    return Figures(
        judge, len(mine), failed, {name: verdicts[name] for name in VERDICTS}, agreement.items, agreement.agreement,
        agreement.kappa,
        low, high, {said: {name: pairs[said, name] for name in VERDICTS} for said in ("success", "failure")},
        round(median(judgement.seconds for judgement in mine), 3) if mine else None,
        _sum(judgement.prompt_tokens for judgement in mine), _sum(judgement.completion_tokens for judgement in mine))


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
