"""Responses of one address that depend on request headers: ranges, HTML or JSON, fragments for htmx. It is a
preference: a request that says something else is answered all the same.
"""

from collections.abc import Iterable

from replay.archive.exchanges import Headers, Recorded, header

from .bodies import fits

HEADERS = ("accept", "x-requested-with", "hx-request", "hx-target", "turbo-frame", "x-pjax", "x-inertia", "rsc",
           "next-router-prefetch", "sec-fetch-dest", "x-http-method-override")
Variant = tuple[str, ...]  # the range that an answer is of, and the headers above


def variant(exchange: Recorded) -> Variant:
    """What decides among the answers of one address."""
    part = header(exchange.headers, "range") if exchange.status == 206 else ""
    return part, *variant_headers(exchange.headers)


def variant_headers(headers: Headers) -> Variant:
    """The headers that count, in order."""
    by_name: dict[str, str] = {}
    for name, value in headers:
        by_name.setdefault(name.lower(), value)
    return tuple(by_name.get(name, "") for name in HEADERS)


def best(variants: Iterable[Variant], headers: Headers) -> set[Variant]:
    """Those that agree best with the headers of a request. Its range decides first: without one, or when its own was
    not recorded, what is whole is best."""
    part, requested = header(headers, "range"), variant_headers(headers)
    scores = {variant: (2 if part and variant[0] == part else 0 if variant[0] else 1,
                        sum(map(_agree, variant[1:], requested)))
              for variant in variants}
    best_score = max(scores.values())
    return {variant for variant, score in scores.items() if score == best_score}


def _agree(recorded: str, actual: str) -> bool:
    return recorded == actual or fits(recorded, actual)
