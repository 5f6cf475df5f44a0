"""Addresses as WebArena-Verified compares them: the part before the ?, and parameters by name. Pure functions."""

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from .folding import Undecided

_SAFE = "~:/#[]@!$&'()*+,;="  # what is not written in percent in a path
_START = re.compile(r"(https?)://([a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?)(?::(\d{1,5}))?(?=[/?#]|$)", re.I)
_PORTS = {"http": "80", "https": "443"}
_GIT = re.compile(r"(git)@([^:/@\s]{1,250}):(.*)", re.I | re.S)


@dataclass(frozen=True)
class Address:
    """`base`: all before the ?, in its usual form; `parameters`: the first value of each name, in the order of their
    letters, in lower case."""

    base: str
    parameters: tuple[tuple[str, str], ...]

    @property
    def plain(self) -> str:
        """What is compared of the base."""
        return self.base.lower().rstrip("/")

    @property
    def normalized(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """What is compared of all of it; a parameter without a value is none."""
        return self.plain, frozenset((name, value) for name, value in self.parameters if value)


def address_of(text: str) -> Address:
    """An address; raises Undecided for one that is not written plainly."""
    text = text.strip().rstrip("/")
    if text.lower().startswith(("git@", "ssh://")):
        return _git_address(text)
    start = _START.match(text)
    if not start or "#!" in text or any(character in text for character in "\\\t\r\n"):
        raise Undecided("it is not plainly an address")
    parts = urlsplit(text.rstrip("&? "))
    scheme, host, port = start[1].lower(), start[2].lower(), start[3] or ""
    port = str(int(port)) if port else ""
    authority = host if port in ("", _PORTS[scheme]) else f"{host}:{port}"
    fragment = f"#{quote(_decode(parts.fragment), '~=')}" if parts.fragment else ""
    return Address(f"{scheme}://{authority}{_path(parts.path)}{fragment}", tuple(parameters(parts.query).items()))


def parameters(query: str) -> dict[str, str]:
    """Parameters of an address: of several values of a name the first in the order of letters, in lower case."""
    values_by_name: dict[str, list[str]] = {}
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        values_by_name.setdefault(_part(name), []).append(_part(value).lower().strip())
    return {name: sorted(values)[0] for name, values in values_by_name.items() if name or any(values)}


def _part(text: str) -> str:
    return unquote(_decode(text).replace("+", " "))


def _decode(text: str) -> str:
    decoded = unicodedata.normalize("NFC", unquote(text))
    if "\ufffd" in decoded:
        raise Undecided("an address is not in UTF-8")
    return decoded


def _path(path: str) -> str:
    decoded = _decode(path)
    if set(decoded) & set("#?") or not decoded.isprintable():
        raise Undecided("an address has signs that are read in several ways")
    segments: list[str] = []
    last = ""
    for last in quote(decoded, _SAFE).split("/"):
        if last == ".." and len(segments) > 1:
            segments.pop()
        elif last not in ("", ".", "..") or (not last and not segments):
            segments.append(last)
    if last in ("", ".", ".."):
        segments.append("")
    return "/".join(segments) or "/"


def _git_address(text: str) -> Address:
    """An address of a repository over SSH, whatever its host."""
    if text.lower().startswith("ssh://"):
        parts = urlsplit(text)
        user = parts.netloc.split("@")[0].lower() if "@" in parts.netloc else "git"
        path = parts.path
    else:
        match = _GIT.fullmatch(text)
        if not match:
            raise Undecided("it is not plainly an address")
        user, path = match[1].lower(), match[3]
    if "#" in text or "?" in text:
        raise Undecided("it is not plainly an address")
    return Address(f"{user}@:{path.lstrip('/').lower()}", ())
