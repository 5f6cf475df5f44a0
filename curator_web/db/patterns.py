"""Regular expressions that people search by: RE2, which takes linear time whatever they say."""

from functools import lru_cache
from typing import Any

import re2

from curator_web.errors import InputError


@lru_cache(maxsize=100)
def compiled(pattern: str) -> Any:
    """The expression, for which small and capital letters are the same; raises InputError for a wrong one."""
    options = re2.Options()
    options.case_sensitive, options.log_errors = False, False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise InputError(f"field search: invalid regular expression ({reason})") from None


def matches(pattern: str, text: str) -> bool:
    """What SQLite calls as `demotape_matches`."""
    return compiled(pattern).search(text) is not None
