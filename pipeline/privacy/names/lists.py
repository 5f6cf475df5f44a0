"""Lists of given names and surnames, from the data of Faker and Mimesis, and a dictionary of Japanese."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module, resources
from importlib.metadata import version
from typing import Any

from pipeline import extras

_MAIN = ("en_US", "en_GB", "de_DE", "de_AT", "fr_FR", "es_ES", "es_MX")
_OTHERS = ("cs_CZ", "da_DK", "de_CH", "en_IN", "en_NZ", "en_IE", "es_AR", "es_CL", "es_CO", "et_EE", "fi_FI", "fr_BE",
           "fr_CA", "fr_CH", "hr_HR", "hu_HU", "it_IT", "lt_LT", "lv_LV", "nl_NL", "no_NO", "pl_PL", "pt_BR", "pt_PT",
           "ro_RO", "sk_SK", "sl_SI", "sv_SE", "tr_TR", "ga_IE", "en_NG", "yo_NG", "ha_NG", "ig_NG", "zu_ZA")
_MAIN_FILES = ("en-au", "en-ca", "en-gb", "de", "de-at", "de-ch", "fr", "es", "es-mx")
_OTHER_FILES = ("en", "cs", "da", "et", "fi", "hr", "hu", "is", "it", "nl", "nl-be", "no", "pl", "pt", "pt-br", "sk",
                "sv", "tr")
_PLACE_LOCALES = ("en_US", "de_DE", "fr_FR", "es_ES")
_EASTERN = ("zh_CN", "zh_TW", "ko_KR", "ja_JP")
_FIRST_NAME_LISTS = ("first_names", "first_names_female", "first_names_male", "first_romanized_names")
_SURNAMES = ("last_names", "last_names_female", "last_names_male", "last_romanized_names")


@dataclass(frozen=True)
class Names:
    """Names in lower case. `usual`: given names of English, German, French and Spanish, which count alone, too."""

    first_names: frozenset[str]
    usual: frozenset[str]
    surnames: frozenset[str]


@lru_cache(maxsize=1)
def versions() -> str:
    """The versions of what names are found by; raises InputError when it is not installed."""
    extras.require("names")
    return " ".join(f"{name} {version(name)}" for name in extras.EXTRAS["names"].libraries)


@lru_cache(maxsize=1)
def latin() -> Names:
    """Names in Latin letters."""
    main = [*map(_faker, _MAIN), *map(_mimesis, _MAIN_FILES)]
    others = [*map(_faker, (*_OTHERS, *_EASTERN)), *map(_mimesis, _OTHER_FILES)]
    return Names(frozenset(_names([*main, *others], _FIRST_NAME_LISTS)), frozenset(_names(main, _FIRST_NAME_LISTS)),
                 frozenset(_names([*main, *others], _SURNAMES)))


@lru_cache(maxsize=1)
def place_names() -> frozenset[str]:
    """Countries, and some cities, in English, German, French and Spanish."""
    providers = [import_module(f"faker.providers.address.{locale}").Provider for locale in _PLACE_LOCALES]
    return frozenset(name.lower() for provider in providers for field in ("countries", "cities", "states")
                     for name in getattr(provider, field, ()) if isinstance(name, str))


@lru_cache(maxsize=4)
def names_of(language: str, *locales: str) -> Names:
    """Names of a language (Mimesis) and locales (Faker) as they are written there."""
    sources = [*map(_faker, locales), _mimesis(language)]
    first_names = frozenset(_names(sources, _FIRST_NAME_LISTS[:3]))
    return Names(first_names, first_names, frozenset(_names(sources, _SURNAMES[:3])))


@lru_cache(maxsize=2)
def usual_surnames(locale: str) -> tuple[str, ...]:
    """The hundred most frequent surnames of a locale, as far as they are told."""
    return tuple(_faker(locale)["last_names"])[:100]


@lru_cache(maxsize=1)
def japanese() -> Any:
    """A tokenizer whose words tell whether they are names."""
    from sudachipy import Dictionary, SplitMode

    return Dictionary(dict="small").tokenizer(mode=SplitMode.A)


def _faker(locale: str) -> dict[str, Any]:
    """The lists of a locale by their names; none where this version has no such locale."""
    try:
        return {name: value for kind in import_module(f"faker.providers.person.{locale}").Provider.__mro__[::-1]
                for name, value in vars(kind).items()}
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("faker."):
            return {}
        raise


def _mimesis(language: str) -> dict[str, Any]:
    """The same of a language."""
    file = resources.files("mimesis") / "datasets" / language / "person.json"
    data = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {"first_names": _all(data.get("names", ())), "last_names": _all(data.get("surnames", ()))}


def _all(names: Any) -> list[str]:
    return [name for part in names.values() for name in part] if isinstance(names, dict) else list(names)


def _names(sources: list[dict[str, Any]], fields: tuple[str, ...]) -> set[str]:
    listed = [source.get(field, ()) for source in sources for field in fields]
    return {name.lower() for names in listed if isinstance(names, Iterable) for name in names
            if isinstance(name, str) and (len(name) > 1 or not name.isascii())}
