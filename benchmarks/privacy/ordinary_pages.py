"""Ordinary pages with what only looks like personal data, and a comparison of the finder's speed with a checkout."""

import json
import os
import random
import subprocess
import sys
import sysconfig
import tempfile
import uuid
from collections.abc import Iterator
from html import escape
from pathlib import Path
from urllib.parse import quote

from benchmarks.privacy import corpus
from benchmarks.privacy.corpus import LANGUAGES

_PAGES = 140
_LINES = 40  # of a page
_WITH_VALUE = 0.2  # share of the lines
_MAX_DOCUMENTS = 300
_MAX_DOCUMENT = 200_000  # characters
_ROUNDS = 3
_CODE = (
    "@app.route('/users/<id>')", "import x from '@scope/pkg@{d}.{n2}.{n2}'", "git@github.com:owner/repo.git",
    "a:hover {{ background: url(icon@2x.png) }}", "@media (min-width: {n3}px) {{ .a\\:b {{ margin: 0 }} }}",
    "re.compile(r'\\d{{4}}-\\d{{2}}')", "C:\\new\\table\\40", "s = '\\u4e2d\\u6587 \\x41\\x42'",
    "#%7B%22a%22%3A{n2}%7D", "?id={n16}&w=40px&x=%E4%B8%AD", "root@localhost:~$ ls", "{uuid}", "urn:uuid:{uuid}",
    "{hash}", "sha256-{hash}=", "v{d}.{n2}.{n3}-rc.{d}", "{d}{n2}.{n3}, -{n2}.{n5}", "10.{n2}.{d}.{n2}:80{n2}",
    "ETag: W/\"{n8}-{n4}\"", "&copy; 20{n2} &middot; {n2}&nbsp;% &ndash; {n3}",
    "{d}\u202f{n3}\u202f{n3}\u202f{n3} €", "20{n2}\u20131{n2}, {n4}\u2013{n4}", "Nr.\u00a0{n4}\u00a0{n4}\u00a0{n4}",
    "Order #{n4}-{n4}-{n4}", "4{n3}.{n2} / 4{n3}.{n2}", "０{n2}年 １{d}月", "matrix = A @ B.T",
    "data-x='{{&quot;a&quot;:{n10}}}'", "{n13}", "{n16}", "tel: see below", "password: see below",
    "width=40em;height=4e3")


def pages(seed: int) -> Iterator[tuple[str, list[str]]]:
    """Texts of pages, raw and as JSON, HTML or address have them; and the values in each, as they are written."""
    rng = random.Random(seed)
    samples = list(corpus.samples(seed, 60))
    plain = [sample.text for sample in samples if sample.kind == "none"]
    valued = [sample for sample in samples if sample.kind in ("email", "card", "iban", "phone", "id", "token")]
    for _ in range(_PAGES):
        write = rng.choice((str, escape, lambda text: json.dumps(text)[1:-1], quote))
        lines, values = [], list[str]()
        for _ in range(_LINES):
            if rng.random() < _WITH_VALUE:
                sample = rng.choice(valued)
                lines.append(write(sample.text))
                values += map(write, sample.values)
            else:
                lines.append(write(rng.choice(plain) if rng.random() < 0.4 else _code(rng)))
        yield "\n".join(lines), values


def _code(rng: random.Random) -> str:
    digits = {f"n{count}": str(rng.randint(10 ** (count - 1), 10 ** count - 1))
              for count in (2, 3, 4, 5, 8, 10, 13, 16)}
    return rng.choice(_CODE).format(d=rng.randint(1, 9), uuid=uuid.UUID(int=rng.getrandbits(128)),
                                    hash=f"{rng.getrandbits(256):064x}", **digits)


def documents() -> list[str]:
    """Documents of the installed packages and of the system: HTML, Markdown, reStructuredText and text."""
    roots = (Path(sysconfig.get_paths()["purelib"]), Path("/usr/share/doc"))
    paths = (path for root in roots for path in sorted(root.rglob("*"))
             if path.suffix in (".html", ".md", ".rst", ".txt"))
    texts = (path.read_text("utf-8", "replace")[:_MAX_DOCUMENT] for path in paths if path.is_file())
    return [text for text, _ in zip((text for text in texts if len(text) > 200), range(_MAX_DOCUMENTS), strict=False)]


_TIMED = """
import json, sys, time
from pipeline.privacy.finding import find
corpora = json.load(open(sys.argv[1], encoding="utf-8"))
seconds = {}
for name, texts in corpora.items():
    began = time.process_time()
    for text in texts:
        find(text)
    seconds[name] = time.process_time() - began
print(json.dumps(seconds))
"""


def compare_speed(before: str, seed: int) -> dict[str, float]:
    """How fast the finder is, as a multiple of another checkout's: on documents, their lines, sentences in seven
    languages, and pages; each the best of several runs that alternate."""
    texts = documents()
    sentences = [sample.text for sample in corpus.samples(seed, 100)]
    lines = [line for text in texts for line in text.split("\n") if len(line) > 6]
    corpora = {"documents": texts, "lines": lines[:40_000],
               "sentences": sentences, "pages": [text for text, _ in pages(seed)] * 5}
    assert {sample.language for sample in corpus.samples(seed, 1)} == set(LANGUAGES)
    times: dict[str, list[dict[str, float]]] = {"now": [], "before": []}
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(corpora, file)
        file.flush()
        for _ in range(_ROUNDS):
            for name, root in (("now", os.getcwd()), ("before", before)):
                times[name].append(json.loads(subprocess.run(
                    [sys.executable, "-c", _TIMED, file.name], cwd=root, env=os.environ | {"PYTHONPATH": root},
                    check=True, capture_output=True, text=True).stdout))
    best = {name: {part: min(run[part] for run in runs) for part in corpora} for name, runs in times.items()}
    return {part: round(best["before"][part] / best["now"][part], 2) for part in corpora}
