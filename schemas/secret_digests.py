"""Digests of typed secrets in a recording, with which exports find them in all demonstrations of a data set.

A value is told by its length, by a sum of few bits that finds where it may stand, and by a slow digest that proves it.
The sum is no proof: about one in a million stretches of any text has it. Who has a recording can try guesses against
the digest, one at a time; so it is no protection for a word that everybody guesses, and goes into no export.
"""

import hashlib

from .shared import SECRET_DIGESTS
from .types.recordings import SecretDigest

BASE: int = SECRET_DIGESTS["base"]  # of the sum: a polynomial over the bytes, as in the search of Karp and Rabin
PRIME: int = SECRET_DIGESTS["prime"]
ITERATIONS: int = SECRET_DIGESTS["iterations"]
SALT: str = SECRET_DIGESTS["salt"]  # the same everywhere: a secret of two recordings is looked for once
LONGEST: int = SECRET_DIGESTS["longest"]  # bytes of a value that is told
MAX_DIGESTS: int = SECRET_DIGESTS["most"]  # values of a recording


def digest_entry(value: str) -> SecretDigest | None:
    """What is told of a value; None for one that is too long."""
    content = value.encode("utf-8", "surrogatepass")
    if len(content) > LONGEST:
        return None
    return {"length": len(content), "sum": sum_of(content), "digest": digest_of(content)}


def sum_of(content: bytes) -> int:
    """The sum of c[i] times BASE to the power of i, modulo PRIME."""
    total = 0
    for byte in reversed(content):
        total = (total * BASE + byte) % PRIME
    return total


def digest_of(content: bytes) -> str:
    """PBKDF2-HMAC-SHA256 (RFC 8018), 16 bytes in hexadecimal; takes some 30 ms."""
    return hashlib.pbkdf2_hmac("sha256", content, SALT.encode(), ITERATIONS, 16).hex()
