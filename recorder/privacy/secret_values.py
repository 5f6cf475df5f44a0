"""Content of the pages' secret fields: in memory only, to replace other occurrences.

A password leaves its field for a request's body, an address, a page that greets with it. What was typed is told by the
capture script, never written, and replaced here before anything is kept.
"""

import base64
import html
import json
import re
import threading
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, quote_plus, urlencode, urlunsplit

from schemas.addresses import split_address
from schemas.normalised_text import forms_in_normalised, normalise
from schemas.secret_digests import make_digests
from schemas.shared import REDACTED, SECRETS
from schemas.types.recordings import SecretDigests

_FEWEST = SECRETS["shortest_value"]  # characters of a value that is looked for at all
_DISTINCT = SECRETS["distinct_value"]  # characters from which on a value is looked for inside other text
_MAX_LEARNED_VALUES = 500  # values of cookies and tokens: pages make new ones each time, and what is used comes again
_LONGEST_BEGUN = 100  # characters of what is looked for of one that was being typed
_WORD_BOUNDARIES = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"  # as a whole in a text
_NAMES = re.compile(SECRETS["names"])
_ADDRESS = re.compile(r"https?://[^\s\"'<>\\]+")
_LABEL = re.compile(r"[^\W\d_][^\d<>=@#$%^&*+|\\~`]{0,79}")


def is_secret_name(name: str) -> bool:
    """Whether a field, parameter or key of that name is likely to hold a secret."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", name).replace("_", "-").lower()
    return bool(_NAMES.search(spaced))


def is_label(value: object) -> bool:
    """Whether what a member is said to hold in secret is only the word for it, as in a page's texts: `Password:`."""
    return isinstance(value, str) and bool(_LABEL.fullmatch(value)) and is_secret_name(value)


class Secrets:
    """What is secret in one recording."""

    def __init__(self) -> None:
        self._by_field: dict[str, str] = {}
        self._values: set[str] = set()
        self._learned: dict[str, None] = {}  # the newest last
        self._left: list[str] = []  # those of them that a field held
        self._inside: re.Pattern | None = None
        self._whole_words: re.Pattern | None = None
        self._whole_values: re.Pattern | None = None
        self._begun: re.Pattern | None = None
        self._by_form: dict[str, str] = {}
        self._lock = threading.Lock()  # pages tell in one thread, the network is looked through in another

    @property
    def patterns(self) -> tuple[re.Pattern | None, ...]:
        """Patterns of the secrets: anywhere in a text, as whole words, and as a whole text or attribute value of HTML.
        None for one without secrets."""
        return self._inside, self._whole_words, self._whole_values

    def value_of(self, form: str) -> str | None:
        """The secret that is written so, if it is one that is known."""
        return self._by_form.get(form)

    def add_field_value(self, field: str, value: str) -> None:
        """A secret field holds a value now; what it held before stays secret, unless it was a beginning of it."""
        with self._lock:
            self._set_field_value(field, value)

    def _set_field_value(self, field: str, value: str) -> None:
        before = self._by_field.get(field, "")
        if value == before:
            return
        if before and not (value.startswith(before) or before.startswith(value)):
            self._remember(before)
        if value or not before:
            self._by_field[field] = value
        else:
            self._remember(before)
            del self._by_field[field]
        self._compile()

    def _remember(self, before: str) -> None:
        self._values.add(before)
        self._left.append(before)

    def learn(self, values: Iterable[str]) -> None:
        """Values that are secret wherever they stand, such as cookies; the newest are remembered."""
        learnable = {value for value in values if len(value) >= _DISTINCT}
        with self._lock:
            new = learnable - self._learned.keys()
            for value in learnable:
                self._learned.pop(value, None)
                self._learned[value] = None
            for value in list(self._learned)[:-_MAX_LEARNED_VALUES]:
                del self._learned[value]
            if new:
                self._compile()

    def facts(self) -> dict[str, SecretDigests]:
        """What recording.json tells of them: digests by which to find elsewhere what was typed here, of the newest."""
        typed = [*reversed(self._by_field.values()), *reversed(self._left)]
        digests = make_digests(value for value in typed if len(value) >= _DISTINCT and not _is_plain(value))
        return {"secret_digests": digests} if digests else {}

    def in_text(self, text: str) -> str:
        """A text with every secret in it replaced. Short or plain words are left: they would be found everywhere."""
        return self._replace(self._inside, text)

    def in_markup(self, text: str) -> str:
        """HTML with every secret in it replaced, short and plain ones where they are all of a text or of a value."""
        text = self.in_text(text)
        return self._replace(self._whole_values, text)

    def in_event(self, value):
        """The data of an event (any JSON value), with the secrets in its texts and addresses replaced."""
        if isinstance(value, str):
            return self.in_address(value) if value.startswith(("http:", "https:")) else self.in_text(value)
        if isinstance(value, list):
            return [self.in_event(item) for item in value]
        return {key: self.in_event(item) for key, item in value.items()} if isinstance(value, dict) else value

    def in_request(self, text: str) -> str:
        """What a page sends: short and plain secrets, too, are replaced where they stand as a whole."""
        text = self.in_text(text)
        return self._replace(self._whole_words, text)

    def in_console(self, text: str) -> str:
        """What a page writes to the console: as what it sends, and JSON by its members. A page may write what a field
        holds at each letter, so beginnings of what was typed are replaced, too, where they stand as a whole."""
        text = self.in_request(self.in_body(text, "application/json"))
        with self._lock:
            self._begun = self._begun or _beginnings_of({*self._values, *self._by_field.values()})
            return self._begun.sub(self._hide, text) if self._begun else text

    def in_address(self, url: str) -> str:
        """An address without secrets, in its parameters (also by their name), its path and its user part."""
        parts = split_address(url)
        if not parts.scheme and url.startswith(("http:", "https:", "/")):  # it is none or relative, with parameters
            return self._in_parameters_of(self.in_request(url))
        if parts.scheme not in ("http", "https"):
            return self.in_text(url)
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit((parts.scheme, host, self.in_request(parts.path), self._in_parameters(parts.query),
                           self._in_parameters(parts.fragment)))

    def _replace(self, pattern: re.Pattern[str] | None, text: str) -> str:
        """The text with the matches of a pattern of secrets replaced, in whatever way they are encoded."""
        if pattern is None:
            return text
        text = pattern.sub(self._hide, text)
        normalised = normalise(text)
        parts, position = [], 0
        for match in () if normalised.is_raw else pattern.finditer(normalised.text):
            start, end = normalised.raw_span(*match.span())
            if start >= position:
                parts += [text[position:start], self._hide(match)]
                position = end
        return "".join([*parts, text[position:]]) if parts else text

    def _hide(self, match: re.Match[str]) -> str:
        """What stands instead of a secret that was found in a text."""
        return self.instead(match[0])

    def instead(self, value: str) -> str:
        """What stands instead of a secret."""
        return REDACTED

    def _in_json(self, value, labels: bool):
        """Any JSON value with the secrets in it replaced: texts by what is known, members by their name, too."""
        if isinstance(value, str):
            return self.in_request(value)
        if isinstance(value, list):
            return [self._in_json(item, labels) for item in value]
        if isinstance(value, dict):
            return {key: self._in_member(key, inner, labels) for key, inner in value.items()}
        return value

    def _in_member(self, key: str, value, labels: bool):
        hidden = is_secret_name(key) and value and isinstance(value, str | int) and not isinstance(value, bool)
        return self.instead(str(value)) if hidden and not (labels and is_label(value)) else self._in_json(value, labels)

    def in_body(self, body: str, content_type: str, *, labels: bool = False) -> str:
        """A request's or response's text: as JSON, as a form, or as plain text with addresses in it. `labels`: it is an
        answer, in which a member may hold the word for a secret instead of one."""
        kind = content_type.partition(";")[0].strip().lower()
        if kind.endswith("json"):
            try:
                parsed = json.loads(body)
                clean = self._in_json(parsed, labels)
                return body if clean == parsed else json.dumps(clean, ensure_ascii=False)
            except (ValueError, RecursionError):
                pass
        if kind == "application/x-www-form-urlencoded":
            return self._in_parameters(body)
        return _ADDRESS.sub(lambda match: self._in_parameters_of(match[0]), self.in_markup(body))

    def _in_parameters_of(self, url: str) -> str:
        start, mark, query = url.partition("?")
        return start + mark + self._in_parameters(query)

    def _in_parameters(self, query: str) -> str:
        """`a=b&c=d` with what is secret in it replaced, else letter by letter as it was."""
        if "=" not in query:
            return self.in_request(query)
        parts = []
        for part in query.split("&"):
            pairs = parse_qsl(part, keep_blank_values=True)
            if len(pairs) == 1 and pairs[0][1] and (is_secret_name(pairs[0][0]) or
                                                    self.in_request(pairs[0][1]) != pairs[0][1]):
                known = self.in_request(pairs[0][1])
                known = self.instead(known) if known == pairs[0][1] else known
                part = urlencode([(pairs[0][0], known)], errors="replace")
            parts.append(part)
        return "&".join(parts)

    def _compile(self) -> None:
        values = {value for value in (*self._values, *self._learned, *self._by_field.values())
                  if len(value.strip()) >= _FEWEST}
        self._by_form = {form: value for value in values for form in _forms(value)}
        self._inside = _any_of(value for value in values if len(value) >= _DISTINCT and not _is_plain(value))
        self._whole_words = _any_of(values, *_WORD_BOUNDARIES)
        self._begun = None
        self._whole_values = _any_of(values, r"(?:(?<=>)|(?<=value=[\"']))\s*", r"\s*(?=[<\"'])")


def _is_plain(value: str) -> bool:
    """A word such as `password`, which a page's markup holds as well."""
    return value.isascii() and value.isalpha() and (value.islower() or value.istitle())


def _any_of(values: Iterable[str], before: str = "", after: str = "") -> re.Pattern | None:
    return _one_of({form for value in values for form in _forms(value)}, before, after)


def _beginnings_of(values: Iterable[str]) -> re.Pattern | None:
    return _one_of({value[:end] for value in values for end in range(_FEWEST, min(len(value), _LONGEST_BEGUN))},
                   *_WORD_BOUNDARIES)


def _one_of(texts: set[str], before: str, after: str) -> re.Pattern | None:
    forms = sorted(texts, key=len, reverse=True)
    return re.compile(before + "(?:" + "|".join(map(re.escape, forms)) + ")" + after) if forms else None


def _forms(value: str) -> set[str]:
    """How a value may be written: as it is, in HTML, in JSON, in an address, in base64."""
    written = value
    value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # half a character is none elsewhere
    forms = {written, value, html.escape(value, quote=True), html.escape(value, quote=False), json.dumps(value)[1:-1],
             json.dumps(value, ensure_ascii=False)[1:-1], quote(value), quote(value, safe=""), quote_plus(value)}
    forms |= {form for form in forms_in_normalised(value) if len(form) >= _FEWEST}
    if len(value) >= _DISTINCT:
        forms.add(base64.b64encode(value.encode()).decode().rstrip("="))
    return forms
