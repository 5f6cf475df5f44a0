"""`python -m benchmarks.privacy --spellings`: personal data and secrets in many spellings, by kind and place."""

import email
import html
import json
import random
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.mime.text import MIMEText
from urllib.parse import quote

from benchmarks.privacy import corpus, ordinary_pages
from pipeline.export.archives import mhtml_without, redact_har
from pipeline.pages.dom import flatten
from pipeline.privacy.finding import find
from pipeline.privacy.recorded_secrets import RecordedSecrets
from pipeline.privacy.redacting import Redactor, findings, redactor
from recorder.privacy.secret_values import Secrets
from recorder.privacy.stand_ins import StandIns
from schemas import REDACTED
from schemas.secret_digests import make_digests

Spell = Callable[[str], str]
GOALS = {"recall": 0.98, "precision": 0.95, "speed": 0.8}
_INVISIBLE = {
    "soft hyphen": "\xad", "zero-width space": "\u200b", "zero-width non-joiner": "\u200c",
    "zero-width joiner": "\u200d",
    "left-to-right mark": "\u200e", "right-to-left override": "\u202e", "isolate": "\u2068", "word joiner": "\u2060",
    "byte order mark": "\ufeff", "variation selector": "\ufe0f", "grapheme joiner": "\u034f", "tag": "\U000e0041",
    "soft hyphen, as reference": "&shy;", "zero-width space, as reference": "&#8203;",
    "zero-width space, in percent": "%E2%80%8B", "zero-width space, in JSON": "\\u200b"}
_SPACES = {"no-break": "\xa0", "narrow": "\u202f", "thin": "\u2009", "figure": "\u2007", "en": "\u2002", "em": "\u2003",
           "ideographic": "\u3000", "mathematical": "\u205f", "no-break, as reference": "&nbsp;"}
_HYPHENS = {"hyphen": "\u2010", "no-break hyphen": "\u2011", "figure dash": "\u2012", "en dash": "\u2013",
            "em dash": "\u2014", "minus": "\u2212", "small hyphen": "\ufe63", "wide hyphen": "\uff0d"}
_DIGITS = {"Arabic": 0x660, "Persian": 0x6F0, "Devanagari": 0x966, "Bengali": 0x9E6, "Thai": 0xE50, "bold": 0x1D7CE,
           "monospace": 0x1D7F6, "wide": 0xFF10}


def _each(template: str) -> Spell:
    """Every character in an escape."""
    return lambda value: "".join(template.format(ord(sign)) if ord(sign) < 128 else sign for sign in value)


def _signs(template: str) -> Spell:
    """Every sign that is no letter or digit in an escape."""
    return lambda value: "".join(sign if sign.isalnum() else template.format(ord(sign), sign) for sign in value)


def _percent(value: str) -> str:
    return quote(value, safe="")


def _json(value: str) -> str:
    return json.dumps(value)[1:-1]


def _between(sign: str) -> Spell:
    return lambda value: value[:3] + sign + value[3:-3] + sign + value[-3:]


def _instead(old: str, new: str) -> Spell:
    return lambda value: value.replace(old, new)


def _digits(zero: int) -> Spell:
    return lambda value: value.translate({ord("0") + number: zero + number for number in range(10)})


_MATHS = {ord("a") + number: 0x1D41A + number for number in range(26)}
SPELLINGS: dict[str, Spell] = {
    "percent": _percent, "percent of all": _each("%{:02X}"), "percent in lower case": _each("%{:02x}"),
    "percent twice": lambda value: _percent(_percent(value)),
    "percent three times": lambda value: _percent(_percent(_percent(value))),
    "references": _each("&#{};"), "hexadecimal references": _each("&#x{:x};"), "long references": _each("&#{:06};"),
    "references twice": lambda value: html.escape(_each("&#X{:X};")(value)),
    "references in percent": lambda value: _percent(_signs("&#{};")(value)),
    "named references": lambda value: value.replace("@", "&commat;").replace(".", "&period;").replace(" ", "&nbsp;"),
    "JSON": _each("\\u{:04x}"), "JSON twice": lambda value: _json(_each("\\u{:04X}")(value)),
    "percent in JSON": lambda value: _json(_each("%{:02x}")(value)),
    "JSON in references": lambda value: html.escape(_each("\\u{:04x}")(value)).replace("\\", "&#92;"),
    "JavaScript": _each("\\x{:02x}"), "JavaScript code points": _each("\\u{{{:x}}}"), "Markdown": _signs("\\{1}"),
    "quoted-printable": lambda value: "=\n".join((_each("={:02X}")(value[:4]), _each("={:02X}")(value[4:]))),
    "wide": lambda value: value.translate({code: code + 0xFEE0 for code in range(0x2E, 0x7F)} | {0x20: 0x3000}),
    "wide signs": lambda value: value.translate({0x40: "＠", 0x2E: "．", 0x2B: "＋", 0x20: "\u3000"}),
    "small signs": lambda value: value.translate({0x40: "﹫", 0x2E: "﹒", 0x2B: "﹢", 0x2D: "﹣"}),
    "decomposed": lambda value: unicodedata.normalize("NFD", value),
    "bold letters": lambda value: value.translate(_MATHS),
    "dots": _instead(" ", "."),
    **{f"{name} digits": _digits(zero) for name, zero in _DIGITS.items()},
    **{f"{name} space": _instead(" ", sign) for name, sign in _SPACES.items()},
    **{f"{name} for a space": _instead(" ", sign) for name, sign in _HYPHENS.items()},
    **{name: _between(sign) for name, sign in _INVISIBLE.items()},
}


def _make_secret(rng: random.Random, _: str) -> str:
    return f"{rng.choice(corpus._WORDS)}{rng.randint(10, 99)}{rng.choice('!$?_')}{rng.choice(corpus._WORDS).title()}"


KINDS: dict[str, Callable[[random.Random, str], str]] = {
    "email": corpus._MADE["email"], "card": corpus._MADE["card"], "iban": corpus._MADE["iban"],
    "phone": lambda rng, _: f"+49 {rng.randint(30, 89)} {rng.randint(1000000, 9999999)}",
    "spoken": _make_secret, "recorded": _make_secret}


@dataclass
class Rates:
    """How many of the values there were are removed, and nothing around them, by kind and place."""

    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    removed: Counter[tuple[str, str]] = field(default_factory=Counter)
    missed: list[tuple[str, ...]] = field(default_factory=list)

    def recall(self, kind: str = "", place: str = "") -> float:
        """The share of a kind, in a place, or of all."""
        keys = [key for key in self.tried if kind in ("", key[0]) and place in ("", key[1])]
        return sum(self.removed[key] for key in keys) / max(1, sum(self.tried[key] for key in keys))


def _demonstration(text: str, place: str) -> dict:
    state = {"url": text if place == "address" else "https://x.example/", "title": text if place == "title" else ""}
    turn = {"type": "browser", "id": "1", "intent": "textInput", "element": None, "state": state,
            "arguments": {"text": text if place == "typed text" else ""}}
    chat = [{"type": "chat", "id": "0", "utterance": text}] if place == "chat" else []
    return {"task": "", "turns": [*chat, turn]}


def _in_demonstration(text: str, place: str, recorded: RecordedSecrets) -> str:
    demonstration = _demonstration(text, place)
    return json.dumps(redactor(demonstration, (), recorded_secrets=recorded).walk(demonstration))  # type: ignore[arg-type]


def _in_page(markup: str, recorded: RecordedSecrets) -> str:
    page = flatten(f"<!DOCTYPE html><html><body>{markup}</body></html>".encode(), "data-demotape-uid")
    texts = sorted(page.texts)
    known = Redactor(dict([*findings(texts), *((value, "token") for value in recorded.find(texts))]))
    return known.markup(page.content).decode()


def _in_har(body: str, kind: str, known: Redactor) -> str:
    har = {"log": {"entries": [{"response": {"content": {"mimeType": kind, "text": body}}}]}}
    clean, _ = redact_har(har, known)
    return str(clean["log"]["entries"][0]["response"]["content"]["text"])


def _in_mhtml(text: str, known: Redactor) -> str:
    part = MIMEText(f"<p>{text}</p>", "html", "utf-8")
    payload = email.message_from_bytes(mhtml_without(part.as_bytes(), known)).get_payload(decode=True)
    return payload.decode() if isinstance(payload, bytes) else ""


def places(written: str, kind: str, value: str, recorded: RecordedSecrets) -> Iterator[tuple[str, str, str]]:
    """Each place: its name, what is left there, and what should be."""
    said = "my password is {}" if kind == "spoken" else "so: {}" if kind == "recorded" else "Write to {} please"
    text, left = said.format(written), said.format(REDACTED)
    for place in ("chat", "typed text", "title"):
        yield place, _in_demonstration(text, place, recorded), json.dumps(left)
    address = "https://x.example/a?q={}&page=2#top"
    yield ("address", _in_demonstration(address.format(_percent(text)), "address", recorded),
           json.dumps(address.format(_percent(said).replace("%7B%7D", REDACTED))))
    as_html = flatten(f"<p>{html.escape(said)}</p>".encode(), "u").content.decode()
    body = as_html[as_html.index(html.escape(said)):].split("<")[0].format(REDACTED)
    yield "text", _in_page(f"<p>{html.escape(text)}</p>", recorded), body
    yield "attribute", _in_page(f'<a title="{html.escape(text)}">x</a>', recorded), f'title="{left}"'
    known = Redactor({}).adding([(value, "token")] if kind == "recorded" else [])
    body = json.dumps({"m": text, "n": 1})
    yield "JSON body", _in_har(body, "application/json", known), json.dumps({"m": left, "n": 1})
    yield "HAR", _in_har(f"<p>{text}</p>", "text/html", known), f"<p>{left}</p>"
    yield "MHTML", _in_mhtml(text, known), f"<p>{left}</p>"
    if kind == "recorded":
        secrets = Secrets()
        secrets.add_field_value("f", value)
        warc = StandIns(secrets).in_body(json.dumps({"m": text}), "application/json")
        yield "WARC", warc, json.dumps({"m": said.format("demotape-secret-1")})


def rate(seed: int, rounds: int) -> Rates:
    """Every spelling of every kind in every place; a spelling that changes nothing of a value is left out."""
    rng, rates = random.Random(seed), Rates()
    for _ in range(rounds):
        for kind, make in KINDS.items():
            value = make(rng, rng.choice(corpus.LANGUAGES))
            recorded = RecordedSecrets([digests] if kind == "recorded" and (digests := make_digests([value])) else [])
            for name, spell in SPELLINGS.items():
                if (written := spell(value)) == value:
                    continue
                for place, left, expected in places(written, kind, value, recorded):
                    rates.tried[kind, place] += 1
                    if expected in left:
                        rates.removed[kind, place] += 1
                    else:
                        rates.missed.append((kind, place, name, written, left[:300]))
    return rates


def precision(seed: int) -> tuple[float, int, list[str]]:
    """On ordinary pages with some values in them: the share of what is found that is one, the number of pages, and what
    is none."""
    right, wrong = 0, list[str]()
    pages = list(ordinary_pages.pages(seed))
    for text, values in pages:
        for span in find(text):
            piece = text[span.start:span.end]
            is_right = any(value in piece or piece in value for value in values)
            right += is_right
            wrong += [] if is_right else [f"{span.kind}: {piece}"]
    return right / max(1, right + len(wrong)), len(pages), wrong


def main(seed: int, rounds: int, before: str, show: bool) -> int:
    """Print the figures; returns 1 if a goal is missed."""
    rates = rate(seed, rounds)
    names = list(dict.fromkeys(place for _, place in rates.tried))
    print(f"{'recall':10} " + " ".join(f"{name:>10}" for name in names))
    for kind in KINDS:
        print(f"{kind:10} " + " ".join(
            f"{rates.recall(kind, name):10.3f}" if rates.tried[kind, name] else f"{'-':>10}" for name in names))
    share, pages, wrong = precision(seed)
    speed = ordinary_pages.compare_speed(before, seed) if before else None
    for line in [*map(str, rates.missed), *wrong] if show else ():
        print("missed or wrong:", line)
    lowest = min(rates.recall(kind, place) for kind, place in rates.tried)
    figures = {"seed": seed, "spellings": len(SPELLINGS), "samples": sum(rates.tried.values()),
               "recall": round(rates.recall(), 4), "lowest_recall": round(lowest, 4), "pages": pages,
               "precision": round(share, 4), "wrong": len(wrong), "speed": speed}
    print(json.dumps(figures))
    return int(lowest < GOALS["recall"] or share < GOALS["precision"]
               or (speed is not None and min(speed.values()) < GOALS["speed"]))
