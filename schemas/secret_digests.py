"""Digests of typed secrets in a recording, with which exports find them in other demonstrations of a data set.

Each recording has a random salt, and a digest is made by a slow, memory-hard function (scrypt, RFC 7914). Nothing else
is told of a value, not even its length: whoever has a recording pays for every guess with one slow digest, and equal
secrets of two recordings have nothing in common. It is no protection for a word that everybody guesses; digests go into
no export.
"""

import hashlib
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from .shared import SECRET_DIGESTS
from .types.recordings import SecretDigests

COST: int = SECRET_DIGESTS["cost"]  # N of scrypt: 16 MiB and some 70 ms with this block size
BLOCK_SIZE: int = SECRET_DIGESTS["block_size"]  # r of scrypt
SALT_BYTES: int = SECRET_DIGESTS["salt_bytes"]
DIGEST_BYTES: int = SECRET_DIGESTS["digest_bytes"]
LONGEST: int = SECRET_DIGESTS["longest"]  # bytes of a value that has a digest
MAX_DIGESTS: int = SECRET_DIGESTS["most"]  # values of a recording
MAX_THREADS = 4  # each needs 16 MiB
_MAX_MEMORY = 2 * 128 * COST * BLOCK_SIZE  # bytes that scrypt may take


def make_digests(values: Iterable[str]) -> SecretDigests | None:
    """The digests of values under a new salt, in an order that tells nothing; None if there are none to make."""
    contents = [value for value in dict.fromkeys(values) if len(_encode(value)) <= LONGEST][:MAX_DIGESTS]
    if not contents:
        return None
    salt = os.urandom(SALT_BYTES).hex()
    with ThreadPoolExecutor(MAX_THREADS) as threads:
        return {"salt": salt, "digests": sorted(threads.map(lambda value: digest_of(value, salt), contents))}


def digest_of(value: str, salt: str) -> str:
    """scrypt of a value in UTF-8 under a salt (hexadecimal), in hexadecimal; takes some 70 ms."""
    return hashlib.scrypt(_encode(value), salt=bytes.fromhex(salt), n=COST, r=BLOCK_SIZE, p=1, maxmem=_MAX_MEMORY,
                          dklen=DIGEST_BYTES).hex()


def _encode(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")
