"""Reading pickles that are not trusted: the values are rebuilt as plain data, no class or function of theirs is used.

A pickle names classes and functions, which Python's own reader imports and calls. Here each of them stands for
`Opaque`, which only remembers what it was made of.
"""

import gzip
import io
import pickle
import struct
import zlib
from typing import Any

from schemas import InputError

_MAX_NUMBERS = 1 << 20  # of an array
_NUMBERS = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f4": "f",
            "f8": "d", "b1": "?"}  # numpy's names of types, and those of struct
_MALFORMED = (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError, AttributeError, IndexError,
              ImportError, OverflowError, RecursionError, struct.error)


class Opaque(dict[Any, Any]):
    """An object of a class that is not used: its fields by name. `arguments`: with which it was called."""

    source = ""  # module and name of the class or function
    arguments: tuple[Any, ...] = ()

    def __new__(cls, *values: Any, **_: Any) -> "Opaque":
        instance = super().__new__(cls)
        instance.arguments = values
        return instance

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def __setstate__(self, state: Any) -> None:
        for part in state if isinstance(state, tuple) else (state,):
            if isinstance(part, dict):
                self.update(part)
        if isinstance(state, tuple):
            self[""] = state

    def append(self, value: Any) -> None:
        """Members of lists of other classes are not needed."""

    def extend(self, values: Any) -> None:
        """The same, of several."""

    def add(self, value: Any) -> None:
        """Members of sets of other classes are not needed."""


class _Reader(pickle.Unpickler):
    def __init__(self, content: bytes):
        super().__init__(io.BytesIO(content))
        self._classes: dict[tuple[str, str], type[Opaque]] = {}

    def find_class(self, module_name: str, global_name: str) -> Any:
        key = module_name, global_name
        if key not in self._classes:
            self._classes[key] = type("Opaque", (Opaque,), {"source": f"{module_name}.{global_name}"})
        return self._classes[key]

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("refers to something outside it")


def read_pickle(content: bytes, where: str) -> Any:
    """What a pickle says, objects as `Opaque`; raises InputError, naming `where`."""
    try:
        return _Reader(content).load()
    except (*_MALFORMED, MemoryError):
        raise InputError(f"{where}: not a pickle that can be read") from None


def unpack_gzip(content: bytes, limit: int, where: str) -> bytes:
    """What was packed with gzip; raises InputError, also where it is larger than `limit` bytes."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            unpacked = file.read(limit + 1)
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{where}: not packed with gzip, or cut off") from None
    if len(unpacked) > limit:
        raise InputError(f"{where}: larger than {limit} bytes when unpacked")
    return unpacked


def numbers(value: Any) -> list[float]:
    """The numbers of a value: of a number itself, of a list of them, of an array or a scalar of numpy."""
    if isinstance(value, bool | int | float):
        return [value]
    if isinstance(value, list | tuple):
        return [number for member in value[:_MAX_NUMBERS] for number in numbers(member)]
    if not isinstance(value, Opaque):
        return []
    try:
        if value.source.endswith(".scalar"):  # called with type and bytes
            return _unpack(value.arguments[0], value.arguments[1])
        _, _, kind, _, content = value[""]  # version, shape, type, order, bytes
        return _unpack(kind, content)
    except _MALFORMED:
        return []


def _unpack(kind: Opaque, content: bytes) -> list[float]:
    code = _NUMBERS[kind.arguments[0]]
    order = kind[""][1] if "" in kind else "<"
    order = order if order in "<>" else "="
    count = min(len(content) // struct.calcsize(code), _MAX_NUMBERS)
    return list(struct.unpack_from(f"{order}{count}{code}", content))
