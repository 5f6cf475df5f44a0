"""`python -m benchmarks.privacy`: how much of the personal data and secrets in a generated corpus is found, and how
much of what is found is any; by kind and language. The corpus has texts and pages in seven languages. With `--names`,
the same of names of persons and postal addresses in sentences written by hand."""

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.privacy import names, spellings
from benchmarks.privacy import sessions as privacy_sessions
from benchmarks.privacy.corpus import LANGUAGES, PATTERNED, Sample, page, samples
from pipeline.pages.dom import flatten
from pipeline.privacy import finding
from pipeline.privacy.redacting import findings

_ON_A_PAGE = 20  # samples


@dataclass
class Score:
    """What there was, what of it was found, and what was found that was none; by kind and language."""

    there: Counter[tuple[str, str]] = field(default_factory=Counter)
    found: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    right: int = 0
    missed: list[Sample] = field(default_factory=list)
    mistaken: list[tuple[str, str]] = field(default_factory=list)

    def recall(self, kinds: Iterable[str], languages: Iterable[str] = LANGUAGES) -> float:
        """The share that was found."""
        keys = [(kind, language) for kind in kinds for language in languages]
        return sum(self.found[key] for key in keys) / max(1, sum(self.there[key] for key in keys))

    @property
    def precision(self) -> float:
        """The share of what was found that is personal or secret."""
        return self.right / max(1, self.right + self.wrong.total())


def score(corpus: Iterable[Sample]) -> Score:
    """Each sample as a text by itself: a value is found when all of it lies in what was."""
    scored = Score()
    for sample in corpus:
        spans = finding.find(sample.text)
        places = [(sample.text.index(value), value) for value in sample.values]
        for start, value in places:
            key = sample.kind, sample.language
            scored.there[key] += 1
            if any(span.start <= start and start + len(value) <= span.end for span in spans):
                scored.found[key] += 1
            else:
                scored.missed.append(sample)
        for span in spans:
            if any(span.start < start + len(value) and start < span.end for start, value in places):
                scored.right += 1
            else:
                scored.wrong[span.kind] += 1
                scored.mistaken.append((sample.text[span.start:span.end], sample.text))
    return scored


def score_pages(corpus: list[Sample], seed: int) -> float:
    """The share of values that are found in the samples put together to pages."""
    rng, there, found = random.Random(seed), 0, 0
    rng.shuffle(corpus)
    for at in range(0, len(corpus), _ON_A_PAGE):
        part = corpus[at:at + _ON_A_PAGE]
        texts = flatten(page(rng, [sample.text for sample in part]).encode(), "data-demotape-uid").texts
        known = [value for value, _ in findings(sorted(texts))]
        for sample in part:
            for value in sample.values:
                there += 1
                found += any(value in each for each in known)
    return found / max(1, there)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--count", type=int, default=200, help="samples of each kind in each language")
    parser.add_argument("--show", action="store_true", help="print what was missed and mistaken")
    parser.add_argument("--sessions", action="store_true", help="record sessions instead, and look into their exports")
    parser.add_argument("--scene", action="append", default=[], help="with --sessions: only scenes of these names")
    parser.add_argument("--names", action="store_true", help="names and addresses instead")
    parser.add_argument("--spellings", action="store_true", help="values in many spellings, kinds and places instead")
    parser.add_argument("--rounds", type=int, default=1, help="with --spellings: values of each kind")
    parser.add_argument("--before", default="", help="with --spellings: a checkout to compare the speed with")
    arguments = parser.parse_args()
    if arguments.spellings:
        sys.exit(spellings.main(arguments.seed, arguments.rounds, arguments.before, arguments.show))
    if arguments.names:
        print(json.dumps(names.figures(arguments.show)))
        return
    if arguments.sessions:
        sys.exit(privacy_sessions.main(arguments.seed, arguments.scene))
    corpus = list(samples(arguments.seed, arguments.count))
    began = time.perf_counter()
    scored = score(corpus)
    took = time.perf_counter() - began
    print("recall   " + " ".join(f"{language:>6}" for language in LANGUAGES))
    for kind in (*PATTERNED, "spoken"):
        print(f"{kind:8} " + " ".join(f"{scored.recall([kind], [language]):6.3f}" for language in LANGUAGES))
    if arguments.show:
        for sample in scored.missed:
            print("missed:", sample)
        for span, text in scored.mistaken:
            print("mistaken:", repr(span), "in", repr(text))
    print(json.dumps({
        "samples": len(corpus), "seed": arguments.seed, "seconds": round(took, 2),
        "recall_patterned": round(scored.recall(PATTERNED), 4), "recall_spoken": round(scored.recall(["spoken"]), 4),
        "recall_by_kind": {kind: round(scored.recall([kind]), 4) for kind in (*PATTERNED, "spoken")},
        "recall_on_pages": round(score_pages(corpus, arguments.seed), 4), "precision": round(scored.precision, 4),
        "mistaken": dict(scored.wrong)}))
