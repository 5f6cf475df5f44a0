"""Identifiers are made of the field's terms: words that say nothing are counted, and become fewer only."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.checkout import ROOT

ROOMS = ("schemas", "recorder", "pipeline", "replay", "curator_web", "demotape")
SCRIPTS = ("extension", "curator_web/web/static", "replay", "recorder")
# Words that name nothing: say what the thing is, or what the function does.
BANNED = ("told", "tell", "found", "each", "place", "given", "asked", "held", "stands", "look", "sight", "seen", "kept",
          "taken", "moment", "alike", "apart", "beside", "most", "least", "soon", "tries", "made", "whole", "somebody")
ALLOWED = json.loads((ROOT / "tests/support/allowed_words.json").read_text(encoding="utf-8"))
# `NotFound`, `not_found` and the like are HTTP's term.
EXEMPT = re.compile(r"not_?found", re.I)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DECLARED = re.compile(r"\b(?:const|let|var|function|class)\s+(\w+)|\b(\w+)\s*=>")


def python_identifiers() -> Iterator[str]:
    """Names that the product's Python code gives to modules, classes, functions, parameters and values."""
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            if "migrations" in path.parts:  # as they were
                continue
            yield path.stem
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    yield node.name
                elif isinstance(node, ast.arg):
                    yield node.arg
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id
                elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    yield node.attr


def script_identifiers() -> Iterator[str]:
    """Names that the product's JavaScript gives to files, functions and values."""
    for room in SCRIPTS:
        for path in (ROOT / room).rglob("*.js"):
            if "vendor" not in path.parts:
                yield path.stem
                for names in _DECLARED.findall(path.read_text(encoding="utf-8")):
                    yield from filter(None, names)


def words(identifiers: Iterator[str]) -> Counter[str]:
    return Counter(word.lower() for name in identifiers for word in _WORD.findall(EXEMPT.sub("", name)))


@pytest.mark.parametrize("language, identifiers", [("python", python_identifiers), ("javascript", script_identifiers)])
def test_no_word_that_names_nothing_is_used_more_often_than_before(language, identifiers):
    counted = words(identifiers())
    used = {word: counted[word] for word in BANNED if counted[word] > ALLOWED[language].get(word, 0)}
    assert used == {}, "give these a name that says what they are"
    spare = {word: counted[word] for word in BANNED if counted[word] < ALLOWED[language].get(word, 0)}
    assert spare == {}, "lower these counts in tests/support/allowed_words.json"
