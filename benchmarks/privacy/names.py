"""How many of the names and addresses in the corpus of sentences are found, and how much of what is found is any."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.privacy.names_corpus import SENTENCES, Sentence, sentences
from pipeline.privacy.finding import NAME_KINDS
from pipeline.privacy.names import finding


@dataclass
class NamesScore:
    """Counts by kind and language: what there is, what of it was found whole, what was found, what of that is any."""

    there: Counter[tuple[str, str]] = field(default_factory=Counter)
    found: Counter[tuple[str, str]] = field(default_factory=Counter)
    told: Counter[tuple[str, str]] = field(default_factory=Counter)
    right: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def recall(self, kind: str = "", language: str = "") -> float:
        """The share of what there is that was found whole."""
        return _sum(self.found, kind, language) / max(1, _sum(self.there, kind, language))

    def precision(self, kind: str = "", language: str = "") -> float:
        """The share of what was found that is a name or an address."""
        told = _sum(self.told, kind, language)
        return _sum(self.right, kind, language) / told if told else 1.0


def score(corpus: Iterable[Sentence]) -> NamesScore:
    """Each sentence by itself."""
    scored = NamesScore()
    for sentence in corpus:
        spans = finding.find(sentence.text)
        for start, end, kind in sentence.spans:
            scored.there[kind, sentence.language] += 1
            whole = any(span.kind == kind and span.start <= start and end <= span.end for span in spans)
            scored.found[kind, sentence.language] += whole
            if not whole:
                scored.wrong.append(f"missed: {sentence.text[start:end]!r} in {sentence.text!r}")
        for span in spans:
            scored.told[span.kind, sentence.language] += 1
            right = any(span.start < end and start < span.end for start, end, _ in sentence.spans)
            scored.right[span.kind, sentence.language] += right
            if not right:
                scored.wrong.append(f"mistaken: {sentence.text[span.start:span.end]!r} in {sentence.text!r}")
    return scored


def figures(show: bool) -> dict[str, float]:
    """Print the table; the figures of all sentences, and of those that were held out."""
    every = sentences()
    scored, held = score(every), score(sentence for sentence in every if sentence.held_out)
    print("                 " + " ".join(f"{language:>6}" for language in SENTENCES))
    for kind in NAME_KINDS:
        for name, share in (("recall", scored.recall), ("precision", scored.precision)):
            print(f"{kind:7} {name:9}" + " ".join(f"{share(kind, language):6.3f}" for language in SENTENCES))
    if show:
        print("\n".join(scored.wrong))
    return {"sentences": len(every), "recall": round(scored.recall(), 4), "precision": round(scored.precision(), 4),
            "recall_person": round(scored.recall("person"), 4), "recall_address": round(scored.recall("address"), 4),
            "recall_held_out": round(held.recall(), 4), "precision_held_out": round(held.precision(), 4)}


def _sum(counts: Counter[tuple[str, str]], kind: str, language: str) -> int:
    return sum(count for (of, spoken), count in counts.items()
               if kind in ("", of) and language in ("", spoken))
