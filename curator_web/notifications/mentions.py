"""Names in a text: `@ann` mentions a member of the project."""

import re
from collections.abc import Collection, Iterator

from curator_web.db.columns import ID_LENGTH

# Behind a letter it is an e-mail address. A text has few places to begin at and each is as long as a name at most, so
# this takes linear time.
_BEHIND_AT = re.compile(rf"(?<![A-Za-z0-9._@-])@([A-Za-z0-9][A-Za-z0-9._@-]{{0,{ID_LENGTH - 1}}})")
_MAY_END_SENTENCE = "._@-"


def names(text: str) -> set[str]:
    """What may be names; of `@ann.`, which ends a sentence, both `ann.` and `ann`."""
    candidates = {match[1] for match in _BEHIND_AT.finditer(text)}
    return candidates | {name.rstrip(_MAY_END_SENTENCE) for name in candidates}


def parts(text: str, members: Collection[str]) -> Iterator[tuple[str, bool]]:
    """The text in pieces, and of each whether it is the mention of a member."""
    end = 0
    for match in _BEHIND_AT.finditer(text):
        name = next((name for name in (match[1], match[1].rstrip(_MAY_END_SENTENCE)) if name in members), None)
        if name is not None:
            yield text[end:match.start()], False
            end = match.start() + 1 + len(name)
            yield text[match.start():end], True
    yield text[end:], False
