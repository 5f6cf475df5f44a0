"""Hostile pages and style sheets by rules, from a seed: all of what is known to slip through filters, in new mixtures.

What they would run sets the mark `data-owned` on the document and asks the canary; what they would fetch is of it.
"""

import random

from .pieces import GROW, NAMES, RUN, SHEETS, SLIPS, SPICE, TAGS, URLS

SHOWN: list[str] = []  # addresses of the pages that the review app shows


def page(random_: random.Random, canary: str) -> str:
    """One page."""
    kind = random_.random()
    if kind < 0.04:
        text = _grown(random_)
    elif kind < 0.3:
        text = _spoilt(random_, "".join(random_.choices(SLIPS, k=random_.randint(1, 3))))
    else:
        text = "".join(_piece(random_) for _ in range(random_.randint(2, 12)))
    return _told(
        f"<!DOCTYPE html><html data-demotape-uid=1 data-demotape-base='{canary}/'><body data-demotape-uid=2>{text}",
        canary,
    )


def sheet(random_: random.Random, canary: str) -> str:
    """One page whose style sheets are hostile, in elements and in attributes."""
    css = "".join(random_.choices(SHEETS, k=random_.randint(1, 5)))
    if random_.random() < 0.04:
        unit = random_.choice(
            ("@import ", "url(", "{", "\\", "/*", "a{", "'", "(", " ", "@media{", "a:not(", "var(", "--x:")
        )
        css = unit * (random_.choice((500, 20_000, 60_000)) // len(unit))
    for _ in range(random_.randint(0, 4)):
        place = random_.randint(0, len(css))
        css = css[:place] + random_.choice(SPICE) + css[place:]
    inner = css.partition("{")[2].rpartition("}")[0]
    quote = random_.choice("\"'")
    return _told(
        f"<!DOCTYPE html><html data-demotape-uid=1><style>{css}</style><p style={quote}{inner}{quote}>x</p>"
        f"<svg><style>{css}</style></svg>",
        canary,
    )


def _grown(random_: random.Random) -> str:
    unit, size = (
        "".join(random_.choices(GROW, k=random_.randint(1, 2))),
        random_.choice((1_000, 30_000, 100_000, 100_000, 1_500_000)),
    )
    text = unit * (size // len(unit))
    return random_.choice(
        (text, f'<img alt="{text}">', f"<style>{text}</style>", f"<p title='{text}", f'<a href="{text}">x')
    )


def _piece(random_: random.Random) -> str:
    if random_.random() < 0.25:
        return random_.choice(SLIPS)
    if random_.random() < 0.2:
        return random_.choice(
            (
                "text",
                "<!-- c -->",
                "&lt;b&gt;",
                "</div>",
                "</svg>",
                "</style>",
                "</template>",
                "]]>",
                "<",
                "\0",
                "<style>" + random_.choice(SHEETS) + "</style>",
                "ann@mail.example +49 30 1234567",
            )
        )
    tag = random_.choice(TAGS)
    equals = ("=", " = ", "=\n", "")
    given = "".join(
        f" {random_.choice(NAMES)}{random_.choice(equals)}{_value(random_)}" for _ in range(random_.randint(0, 4))
    )
    inner = _piece(random_) if random_.random() < 0.5 else "x"
    close = random_.choice((f"</{tag}>", f"</{tag}>", "", f"</{tag} x>", "/>"))
    return f"<{tag}{random_.choice((' ', '', '/', chr(9)))}{given}{random_.choice(('>', '>', '/>', ''))}{inner}{close}"


def _value(random_: random.Random) -> str:
    quote = random_.choice(('"', "'", "", "`"))
    value = random_.choice(
        (*URLS, "RUN", "0;url=CANARY/r", "stylesheet", "refresh", "text/css", "1", "open", "color:red")
    )
    if random_.random() < 0.2:
        value = "".join(f"&#{ord(letter)};" for letter in value[:200])
    return f"{quote}{value.replace(quote, '') if quote else value.replace(' ', '')}{quote}"


def _spoilt(random_: random.Random, text: str) -> str:
    for _ in range(random_.randint(0, 3)):
        place = random_.randint(0, len(text))
        text = random_.choice(
            (
                text[:place] + random_.choice("<>\"'/= \0\n`&;") + text[place:],
                text[:place] + text[place + 1 :],
                text[:place] + text[place : place + 9].swapcase() + text[place + 9 :],
            )
        )
    return text


def _told(text: str, canary: str) -> str:
    return text.replace("RUN", RUN).replace("CANARY", canary).replace("HOST", canary.partition("//")[2])
