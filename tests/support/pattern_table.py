"""Every regular expression of the package, as it is used, with generated hostile text."""

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from tests.support.checkout import ROOT

ROOMS = ("schemas", "recorder", "pipeline", "curator_web", "demotape")
_DIRECT = {"match", "search", "sub", "subn", "fullmatch", "findall", "split", "finditer"}
_MAY = re.compile(r"\bre\.(?:compile|" + "|".join(_DIRECT) + r")\(|Regexp\(")  # what may make or ask a pattern
_ENOUGH = 12  # repeats: from here on a pattern counts as one without end
_VARIANTS = 6  # characters that are tried of a set
_OTHER = ("\0", "\n", " ", "a", "1", "<", ":", "é")

# Patterns that are put together while the program runs: of words that were escaped, so that only their number and
# length counts, or of parts that stand in the program.
MADE: dict[tuple[str, str], str | bytes] = {
    ("pipeline/checks/targets.py", "mark"): rb"data-demotape-uid=[\"']i\-4[\"']",
    ("pipeline/outcomes/values.py", "pattern"): "^x$",  # is only looked at for mistakes; RE2 does the matching
    ("pipeline/privacy/numbers.py", "kind.cue"): "my ?number|マイナンバー",
    ("recorder/building/frame_merging.py", "re.escape(mark)"): re.escape("[uid 12]"),
    ("recorder/privacy/secret_values.py", "before + '(?:' + '|'.join(map(re.escape, forms)) + ')' + after"):
        r"(?<![0-9A-Za-z])(?:hunter2|hunter%32)(?![0-9A-Za-z])",
    ("curator_web/storage/recordings.py", "f'{re.escape(folder + os.sep)}|{re.escape(folder)}(?![\\\\w.-])'"):
        r"/srv/demotape/|/srv/demotape(?![\w.-])",
    ("pipeline/checks/chat.py", "f'\\\\b{wrong}\\\\b'"): r"\bteh\b",
    ("pipeline/checks/chat.py", "b'(?i)\\\\b' + word.encode() + b'\\\\b'"): rb"(?i)\bteh\b",
    ("pipeline/privacy/split.py", "_BETWEEN.join(map(_pattern, pieces))"): rb"4111\s*(?:<[^<>]*>\s*)+1111",
    ("pipeline/privacy/known_forms.py", "'|'.join(map(re.escape, forms))"): "ann@x.example|ann",
    ("demotape/commands/hints.py", "f'(?<![\\\\w./-]){PROGRAM}(?= (?:{commands})\\\\b)'"):
        r"(?<![\w./-])demotape(?= (?:record|review)\b)",
    ("pipeline/privacy/known_forms.py", "b'|'.join(map(re.escape, there))"): b"ann@x.example|ann",
    ("demotape/session_writer.py", "b'(?<=\\\\s)' + re.escape(attribute.encode()) + b'(?==)'"):
        rb"(?<=\s)backend_node_id(?==)",
    ("pipeline/importing/readers/mind2web.py",
     "b'<[^<>]*\\\\b' + _MARK.encode() + b'=\"' + re.escape(mark.encode()) + b'\"[^<>]*>'"):
        rb'<[^<>]*\bdata_pw_testid_buckeye="a1"[^<>]*>',
    ("pipeline/importing/readers/mind2web.py", "b'\\\\s' + re.escape(attribute.encode()) + b'=\"([^\"]*)\"'"):
        rb'\sbackend_node_id="([^"]*)"',
}


@dataclass(frozen=True)
class Used:
    """A pattern and the ways in which it is asked."""

    where: str
    pattern: Any
    methods: frozenset[str]

    def calls(self) -> Iterator[Callable[[Any], Any]]:
        """What is done with a text."""
        for method in sorted(self.methods):
            if method in ("sub", "subn"):
                yield lambda text: self.pattern.sub(text[:0], text)
            elif method == "finditer":
                yield lambda text: sum(1 for _ in self.pattern.finditer(text))
            else:
                yield getattr(self.pattern, method)


def patterns() -> list[Used]:
    """All of them. Raises AssertionError for one of which nothing is known."""
    return [used for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))
            if "migrations" not in path.parts for used in _of_module(path)]


def _of_module(path: Path) -> Iterator[Used]:
    relative = path.relative_to(ROOT)
    source = path.read_text(encoding="utf-8")
    if not _MAY.search(source):
        return
    nodes = list(ast.walk(ast.parse(source)))
    uses = _uses(nodes)
    names = {id(call): target for node in nodes if isinstance(node, ast.Assign)
             for call in ast.walk(node.value) for target in (_target(node),)}
    for node in nodes:
        kind = _kind(node)
        if kind is None:
            continue
        assert isinstance(node, ast.Call)
        text, given = _pattern(relative, node)
        if isinstance(text, re.Pattern):
            continue
        flags = sum(int(getattr(re, part.attr)) for argument in [*node.args[1:], *(k.value for k in node.keywords)]
                    for part in ast.walk(argument) if isinstance(part, ast.Attribute) and hasattr(re, part.attr)
                    and isinstance(getattr(re, part.attr), re.RegexFlag)) if given else 0
        methods = {kind} if kind in _DIRECT else {"match"} if kind == "Regexp" else (
            uses.get(names.get(id(node), ""), set()) or {"search", "finditer"})
        yield Used(f"{relative}:{node.lineno}", re.compile(text, flags), frozenset(methods))


def _kind(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    owner = node.func.value
    if isinstance(owner, ast.Name) and owner.id == "re" and node.func.attr in {"compile", *_DIRECT}:
        return node.func.attr
    return "Regexp" if node.func.attr == "Regexp" else None


def _pattern(relative: Path, call: ast.Call) -> tuple[Any, bool]:
    """The pattern that a call names."""
    told = ast.unparse(call.args[0])
    if (relative.as_posix(), told) in MADE:
        return MADE[relative.as_posix(), told], True
    module = importlib.import_module(".".join(relative.with_suffix("").parts).removesuffix(".__init__"))
    try:
        return eval(compile(ast.Expression(call.args[0]), str(relative), "eval"), vars(module)), True
    except NameError:
        raise AssertionError(f"{relative}:{call.lineno}: name an example of {told} in {__name__}") from None


def _target(node: ast.Assign) -> str:
    target = node.targets[0]
    return target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""


def _uses(nodes: list[ast.AST]) -> dict[str, set[str]]:
    """Methods by the name of what they are called on, as far as that stands in the same module."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in _DIRECT:
            owner = node.value
            name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
            found[name].add(node.attr)
    for node in nodes:  # what is asked of each of several
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Name):
            for target in ast.walk(node.target):
                if isinstance(target, ast.Name):
                    found[node.iter.id] |= found.get(target.id, set())
    return found


def hostile(pattern: "re.Pattern[Any]", length: int) -> Iterator[Any]:
    """Texts of about a length: what comes before each part that may repeat, that part many times, and not what would
    end it; and the same over and over."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    units = set(_repeats(parser.parse(source, pattern.flags & ~re.U), "", ""))
    texts = {text * (length // max(1, len(text))) for text in _OTHER}
    for before, body, after in units:
        many = max(1, length // max(1, len(body)))
        texts |= {before + body * many, before + body * many + "\0", before + body * many + after[:-1]}
        for unit in (before, before + body, before + body * 3 + after[:-1], before + body + after, body + after):
            texts.add((unit or "a") * (length // max(1, len(unit or "a"))))
    for text in sorted(texts):
        yield text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")


def _repeats(nodes: Any, before: str, after: str) -> Iterator[tuple[str, str, str]]:
    """For each part that may repeat often: an example of what precedes it, of it, and of what follows."""
    nodes = list(nodes)
    for place, (code, given) in enumerate(nodes):
        first = before + "".join(_examples([node])[0] for node in nodes[:place])
        rest = "".join(_examples([node])[0] for node in nodes[place + 1:]) + after
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            _, most, body = given
            if most >= _ENOUGH:
                for example in _examples(body):
                    yield first, example or "a", rest
            yield from _repeats(body, first, rest)
        elif code is codes.SUBPATTERN:
            yield from _repeats(given[-1], first, rest)
        elif code is codes.BRANCH:
            for branch in given[1]:
                yield from _repeats(branch, first, rest)


def _examples(nodes: Any) -> list[str]:
    """Some texts that match, the shortest choices taken."""
    pieces: list[list[str]] = [[""]]
    for code, given in nodes:
        if code is codes.LITERAL:
            pieces.append([chr(given)])
        elif code is codes.NOT_LITERAL:
            pieces.append(["a" if given != ord("a") else "b"])
        elif code is codes.ANY:
            pieces.append(["a", " ", ":"])
        elif code is codes.IN:
            pieces.append(_members(given))
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            least, _, body = given
            pieces.append([example * max(1, least) for example in _examples(body)])
        elif code is codes.SUBPATTERN:
            pieces.append(_examples(given[-1]))
        elif code is codes.BRANCH:
            pieces.append([example for branch in given[1] for example in _examples(branch)])
    pieces = [each[:_VARIANTS] if len(pieces) < 4 else each[:1] for each in pieces]
    return ["".join(each) for each in product(*pieces)][:_VARIANTS] or [""]


def _members(given: Any) -> list[str]:
    """Characters of a set."""
    if given[0][0] is codes.NEGATE:
        compiled = [character for character in "a1 :/<>\"'-.,;({\t\n\0é" if not _in(character, given[1:])]
        return compiled or ["\u4e2d"]
    found = []
    for code, value in given:
        if code is codes.LITERAL:
            found.append(chr(value))
        elif code is codes.RANGE:
            found.append(chr(value[0]))
        elif code is codes.CATEGORY:
            found.append({codes.CATEGORY_DIGIT: "1", codes.CATEGORY_SPACE: " ", codes.CATEGORY_WORD: "a",
                          codes.CATEGORY_NOT_SPACE: ":", codes.CATEGORY_NOT_WORD: ":",
                          codes.CATEGORY_NOT_DIGIT: "a"}[value])
    return found


def _in(character: str, given: Any) -> bool:
    for code, value in given:
        if code is codes.LITERAL and chr(value) == character:
            return True
        if code is codes.RANGE and value[0] <= ord(character) <= value[1]:
            return True
        if code is codes.CATEGORY:
            test = {codes.CATEGORY_DIGIT: r"\d", codes.CATEGORY_SPACE: r"\s", codes.CATEGORY_WORD: r"\w",
                    codes.CATEGORY_NOT_SPACE: r"\S", codes.CATEGORY_NOT_WORD: r"\W", codes.CATEGORY_NOT_DIGIT: r"\D"}
            if re.match(test[value], character):
                return True
    return False
