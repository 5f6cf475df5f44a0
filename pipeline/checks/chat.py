"""Likely typos in utterances."""

import re
from collections.abc import Iterator
from functools import lru_cache

from spellchecker import SpellChecker

from .material import Finding, Material

_WORD = re.compile(r"(?<![\w@/.:#'’-])[a-z]{4,24}(?![\w@/:#'’-]|\.\w)")  # not names, addresses, words with apostrophes
_LANGUAGE = "en"
_KNOWN = 0.6  # share of an utterance's words that the word list must know: else it is in another language
_COMMON = 2e-6  # how frequent the word must be that was meant


def typos(material: Material) -> Iterator[Finding]:
    """Utterances with words that no list knows, no page shows, and that are one slip away from a common word."""
    for turn in material.turns:
        if turn["type"] != "chat":
            continue
        words = _meant(turn["utterance"])
        for wrong in [wrong for wrong in words if _is_on_a_page(material, wrong)]:
            del words[wrong]
        if words:
            mended = turn["utterance"]
            for wrong, right in words.items():
                mended = re.sub(rf"\b{wrong}\b", right, mended)
            list_ = ", ".join(f"{wrong} for {right}" for wrong, right in words.items())
            yield Finding(turn["id"], "typo", f"Perhaps a typo: {list_}.",
                          {"op": "set_utterance", "turn": turn["id"], "utterance": mended})


def _meant(utterance: str) -> dict[str, str]:
    """Words that look mistyped, and what they were probably meant to be."""
    speller = _speller()
    every = re.findall(r"[A-Za-z]{2,}", utterance)
    if not every or len(speller.known(every)) < _KNOWN * len({word.lower() for word in every}):
        return {}
    corrections = {}
    for word in dict.fromkeys(_WORD.findall(utterance)):
        if word in speller:
            continue
        candidates = speller.known(speller.edit_distance_1(word))
        swapped = {candidate for candidate in candidates if sorted(candidate) == sorted(word)}  # the commonest slip
        best = max(swapped or candidates, key=lambda candidate: (speller[candidate], candidate), default=None)
        if best and speller[best] / speller.word_frequency.total_words > _COMMON:
            corrections[word] = best
    return corrections


def _is_on_a_page(material: Material, word: str) -> bool:
    """A word that the site itself uses is no typo."""
    return any(re.search(rb"(?i)\b" + word.encode() + rb"\b", material.dom(name)) for name in material.doms)


@lru_cache(maxsize=1)
def _speller() -> SpellChecker:
    return SpellChecker(language=_LANGUAGE, distance=1)
