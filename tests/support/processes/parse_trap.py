"""The command `demotape` in a process that may not parse: each call of a parser is written to the file of TRAP.

Used as `python parse_trap.py WORDS...`. Processes that the command starts are as usual.
"""

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lxml.etree
import lxml.html
import tinycss2
import turbohtml

_PARSERS: dict[Any, tuple[str, ...]] = {
    lxml.etree: ("fromstring", "HTML", "XML", "parse", "iterparse"),
    lxml.html: ("fromstring", "document_fromstring", "fragment_fromstring", "fragments_fromstring", "parse"),
    turbohtml: ("parse", "parse_fragment", "tokenize"),
    tinycss2: ("parse_stylesheet", "parse_component_value_list", "parse_rule_list"),
}


def trapped(name: str) -> Callable[..., Any]:
    """A parser that parses nothing, and tells who called it."""
    def parser(*_: Any, **__: Any) -> Any:
        with Path(os.environ["TRAP"]).open("a", encoding="utf-8") as trap:
            trap.write(f"{name}\n{''.join(traceback.format_stack(limit=12))}\n")
        raise RuntimeError(f"{name} in the command's own process")
    return parser


def main() -> None:
    """Replace the parsers, then run the command."""
    for module, names in _PARSERS.items():
        for name in names:
            setattr(module, name, trapped(f"{module.__name__}.{name}"))
    from demotape.cli import main as demotape

    demotape(sys.argv[1:])


if __name__ == "__main__":
    main()
