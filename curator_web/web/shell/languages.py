"""The pages' languages: which there are, which one who asks gets, and how numbers and times are written in it.

English is the source. What the API answers, what is logged, and errors of the rooms below stay English.
"""

from datetime import date, datetime
from typing import Any

from babel.dates import format_skeleton
from babel.numbers import get_decimal_symbol
from flask import Blueprint, Flask, g, has_request_context, redirect, request
from flask_babel import Babel, Domain, format_decimal, get_domain, get_locale
from markupsafe import Markup
from werkzeug import Response

from curator_web.catalogues import FOLDER
from curator_web.web.account.signing_in import own_address

from .browser_choices import set_choice

blueprint = Blueprint("languages", __name__)
SOURCE = "en"
# By the name of the catalogue's folder, each in its own words.
LANGUAGES = {SOURCE: "English", "de": "Deutsch", "es": "Español", "ko": "한국어", "zh_Hans": "简体中文"}
COOKIE = "demotape-language"
_TRADITIONAL = {"hant", "tw", "hk", "mo"}  # who reads Chinese so is not given the simplified one
_TAGS = 20  # of an Accept-Language header that are looked at


class _Texts(Domain):
    """The texts of all languages. Which are wanted is found once a request: a page has hundreds of texts."""

    def get_translations(self) -> Any:
        if not g:
            return super().get_translations()
        if "texts" not in g:
            g.texts = super().get_translations()
        return g.texts


class _Table(dict[str, Markup]):
    """A language's texts as templates show them. Jinja's own functions make each again, which takes twice as
    long; and these are the same few hundred on every page."""

    def __init__(self, texts: Any):
        super().__init__()
        self._texts = texts

    def __missing__(self, text: str) -> Markup:
        markup = self[text] = Markup(self._texts.ugettext(text))
        return markup

    def plural(self, singular: str, several: str, number: int) -> Markup:
        """The form of a text for a number."""
        return Markup(self._texts.ungettext(singular, several, number))


_TABLES: dict[str, _Table] = {}  # by language


def _table() -> _Table:
    """The texts of who asks."""
    if "table" not in g:
        language = str(get_locale())
        g.table = _TABLES.get(language) or _TABLES.setdefault(language, _Table(get_domain().get_translations()))
    return g.table


def _text(text: str, **values: Any) -> Markup:
    """A text in the language of the page; HTML in the values is escaped."""
    return _table()[text] % values


def _plural(singular: str, several: str, number: int, **values: Any) -> Markup:
    """As `_text`, in the form that the number takes."""
    return _table().plural(singular, several, number) % {"num": number, **values}


def register(app: Flask) -> None:
    """Have pages of this app come in the language of who asks."""
    babel = Babel(app, locale_selector=_selected, default_translation_directories=str(FOLDER))
    babel.domain_instance = _Texts()
    app.jinja_env.filters.update(grouped=grouped, decimal=decimal, day_month=day_month)
    app.jinja_env.globals.update(_=_text, gettext=_text, ngettext=_plural)
    app.context_processor(_for_pages)
    app.register_blueprint(blueprint)


def _selected() -> str:
    """The language of the answer: what the person chose, else what their browser asks for, else English."""
    if not has_request_context() or request.path.startswith("/api/"):
        return SOURCE
    chosen = request.cookies.get(COOKIE, "")
    if chosen in LANGUAGES:
        return chosen
    wanted = (matching(tag) for tag in list(request.accept_languages.values())[:_TAGS])
    return next((language for language in wanted if language), SOURCE)


def matching(tag: str) -> str | None:
    """The language that a tag of an Accept-Language header (RFC 5646) means, None where there is none like it."""
    language, *subtags = tag.lower().replace("_", "-").split("-")
    if language == "zh":
        return None if _TRADITIONAL & set(subtags) else "zh_Hans"
    return language if language in LANGUAGES else None


def _for_pages() -> dict[str, Any]:
    locale = get_locale()
    return {"language": str(locale), "direction": locale.text_direction, "languages": LANGUAGES}


@blueprint.post("/language")
def choose() -> Response:
    """Keep the language that the person chose in their browser, and show the page again that they were on."""
    answer = redirect(own_address(request.form.get("next", "")) or "/", 303)
    chosen = request.form.get("language", "")
    if chosen in LANGUAGES:
        set_choice(answer, COOKIE, chosen)
    return answer


def is_english() -> bool:
    """Whether texts come as they are in the source."""
    locale = get_locale()
    return locale is None or locale.language == SOURCE


def grouped(number: int) -> str:
    """A whole number as it is read: 12,345 in English."""
    return f"{number:,}" if is_english() else format_decimal(number)


def decimal(number: float, digits: int = 1) -> str:
    """A number with so many digits behind the decimal sign of the language."""
    text = f"{number:.{digits}f}"
    return text if is_english() else text.replace(".", get_decimal_symbol(get_locale()))


def day_month(day: date) -> str:
    """A day of a year that is known: 3 Jan in English."""
    return f"{day.day} {day:%b}" if is_english() else format_skeleton("MMMd", _as_time(day), locale=get_locale())


def day_and_time(time: datetime) -> str:
    """Day and time as they stand in `time`: 3 Jan 2026, 14:05 in English."""
    if is_english():
        return f"{time.day} {time:%b %Y, %H:%M}"
    return f"{format_skeleton('yMMMd', time, tzinfo=time.tzinfo, locale=get_locale())}, {time:%H:%M}"


def _as_time(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)
