"""Parses a judge's response as a verdict. An answer is text that anybody may have written, also a recorded page."""

import re
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["success", "failure", "unknown"]
REASON_LENGTH = 4000
_LABEL = re.compile(r"verdict[^\w\n]{0,6}[:\uff1a]", re.I)  # markup may stand around the word
_WORD = re.compile(r"[^\W_]+")
_SUCCESS, _FAILURE = ("success", "successful"), ("failure", "failed", "unsuccessful")
_NEGATIONS, _BETWEEN = ("not", "no"), ("a", "yet")


@dataclass(frozen=True)
class Read:
    """A verdict with what was said for it."""

    verdict: Verdict
    reason: str


def read_verdict(answer: str) -> Read:
    """The verdict of an answer: of the last `VERDICT:` in it, else of its first or last line, where that says nothing
    else. `unknown` where it says neither, or both."""
    text = answer.rpartition("</think>")[2].strip()  # models that think aloud weigh both before
    lines = text.splitlines()
    number = next((number for number in range(len(lines) - 1, -1, -1) if _LABEL.search(lines[number])), None)
    if number is not None:
        return Read(_after_label(_LABEL.split(lines[number])[-1]), _reason(lines, {number}))
    ends = {0, len(lines) - 1} if lines else set()
    verdicts = {number: verdict for number in ends if (verdict := _sole_verdict(lines[number])) is not None}
    if len(set(verdicts.values())) != 1:
        return Read("unknown", _reason(lines, set()))
    return Read(next(iter(verdicts.values())), _reason(lines, set(verdicts)))


def _after_label(rest: str) -> Verdict:
    verdict, more = _leading(_WORD.findall(rest))
    if verdict is None or {"SUCCESS", "FAILURE", "UNSUCCESSFUL"} & set(more):  # both, as where the choice is repeated
        return "unknown"
    return verdict


def _sole_verdict(line: str) -> Verdict | None:
    """The verdict of a line that says nothing else."""
    verdict, more = _leading(_WORD.findall(line))
    return None if more else verdict


def _leading(words: list[str]) -> tuple[Verdict | None, list[str]]:
    """The verdict that the first words are, and the words after it."""
    small = [word.lower() for word in words[:3]]
    if not small:
        return None, []
    if small[0] in _SUCCESS:
        return "success", words[1:]
    if small[0] in _FAILURE:
        return "failure", words[1:]
    after = 2 if small[1:2] and small[1] in _BETWEEN else 1
    if small[0] in _NEGATIONS and len(small) > after and small[after] in _SUCCESS:
        return "failure", words[after + 1:]
    return None, words


def _reason(lines: list[str], without: set[int]) -> str:
    """The answer without the lines that are the verdict; whole where there is nothing else."""
    left = "\n".join(line for number, line in enumerate(lines) if number not in without).strip()
    return (left or "\n".join(lines))[:REASON_LENGTH]
