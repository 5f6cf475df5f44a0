"""Finds secrets in one recording that were typed in another, by the digests in recordings.

A secret of one session may stand in plain text in another: in a note, a chat, a list of accounts. Nobody here knows it;
each stretch of a text that has its length and sum is held against its digest (schemas/secret_digests.py).
"""

import hashlib
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import numpy

from schemas import secret_digests
from schemas.types.recordings import SecretDigest

_MAX_CANDIDATES = 200  # stretches of a demonstration held against one digest: hostile sums must not cost hours
_PROOFS = 4096  # stretches of which it is remembered whether they are what they look like


class RecordedSecrets:
    """What was told by the recordings of a data set. `find` looks for it; one for each demonstration, as tries count.

    `digest`: names what is looked for; empty when that is nothing.
    """

    def __init__(self, recorded: Iterable[SecretDigest] = ()):
        self._by_length: dict[int, dict[int, set[str]]] = {}
        for secret in recorded:
            self._by_length.setdefault(secret["length"], {}).setdefault(secret["sum"], set()).add(secret["digest"])
        self._candidates_tested: Counter[str] = Counter()
        names = sorted(digest for sums in self._by_length.values() for digests in sums.values() for digest in digests)
        self.digest = hashlib.sha256(",".join(names).encode()).hexdigest() if names else ""

    def find(self, texts: Iterable[str]) -> list[str]:
        """The secrets that stand in texts, each once."""
        if not self._by_length:
            return []
        content = "\0".join(texts).encode("utf-8", "surrogatepass")
        values: dict[bytes, None] = {}
        for length, sums in self._by_length.items():
            for start, total in _candidate_positions(content, length, tuple(sums)):
                stretch = content[start:start + length]
                if stretch not in values and any(self._is(stretch, digest) for digest in sums[total]):
                    values[stretch] = None
        return [stretch.decode("utf-8", "surrogatepass") for stretch in values]

    def _is(self, stretch: bytes, digest: str) -> bool:
        if self._candidates_tested[digest] >= _MAX_CANDIDATES:
            return False
        self._candidates_tested[digest] += 1
        return _digest_of(stretch) == digest


_digest_of = lru_cache(_PROOFS)(secret_digests.digest_of)


def _candidate_positions(content: bytes, length: int, sums: tuple[int, ...]) -> list[tuple[int, int]]:
    """Where stretches of a length begin that have one of the sums, and which."""
    if len(content) < length:
        return []
    prime = secret_digests.PRIME
    powers = _powers(len(content))
    terms = numpy.frombuffer(content, numpy.uint8).astype(numpy.int64) * powers % prime
    until = numpy.concatenate([[0], numpy.cumsum(terms)])
    # The sum of the stretch that begins at i, times the base to the power of i.
    shifted = (until[length:] - until[:-length]) % prime
    weights = powers[:len(shifted)]
    positions = [(int(start), total) for total in sums
                 for start in numpy.flatnonzero(shifted == total * weights % prime)]
    return sorted(positions)


def _powers(count: int) -> numpy.ndarray:
    """The powers of the base from 0 on, modulo the prime; they come again after one period of at most prime - 1."""
    period = _period()
    return numpy.resize(period, count)


@lru_cache(1)
def _period() -> numpy.ndarray:
    powers, power = [1], secret_digests.BASE % secret_digests.PRIME
    while power != 1:
        powers.append(power)
        power = power * secret_digests.BASE % secret_digests.PRIME
    return numpy.array(powers, numpy.int64)
