"""Finds secrets in one recording that were typed in another, by the digests in recordings.

A secret of one session may stand in plain text in another: in a chat, a typed text, a list of accounts. Nobody here
knows it. Words that may be one are compared under the salt of each recording, and each comparison is slow
(schemas/secret_digests.py). Their number is therefore limited: the likeliest words come first, and long texts may
contain secrets that are not found.
"""

import hashlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import islice, product

from schemas import secret_digests
from schemas.types.recordings import SecretDigests

from .secret_candidates import secret_candidates

MAX_COMPARISONS = 300  # slow digests for the texts of one demonstration, some 20 s of processor time
MAX_COMPARISONS_ON_PAGES = 100  # the same for all its pages
_REMEMBERED = 1 << 16  # comparisons of this process


class RecordedSecrets:
    """The secrets that were typed in the recordings of a data set, by their digests.

    `digest`: names what is searched for; empty when that is nothing.
    """

    def __init__(self, recorded: Iterable[SecretDigests] = ()):
        self._by_salt = {digests["salt"]: frozenset(digests["digests"]) for digests in recorded}
        named = [f"{salt}:{','.join(sorted(digests))}" for salt, digests in sorted(self._by_salt.items())]
        self.digest = hashlib.sha256(";".join(named).encode()).hexdigest() if named else ""

    def find(self, texts: Iterable[str], comparisons: int = MAX_COMPARISONS) -> list[str]:
        """The secrets among the words of texts, each once; with at most so many slow comparisons."""
        if not self._by_salt:
            return []
        pairs = list(islice(product(secret_candidates(texts), sorted(self._by_salt)), comparisons))
        with ThreadPoolExecutor(secret_digests.MAX_THREADS) as threads:
            digests = threads.map(lambda pair: _digest_of(*pair), pairs)
        return list(dict.fromkeys(value for (value, salt), digest in zip(pairs, digests, strict=True)
                                  if digest in self._by_salt[salt]))


_digest_of = lru_cache(_REMEMBERED)(secret_digests.digest_of)
