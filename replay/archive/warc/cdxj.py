"""Lines of a CDXJ index, by which programs find a record in a WARC: as warcio.js of Webrecorder writes them. Pure."""

import base64
import json
import re
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlencode, urlsplit

from replay.archive.exchanges import Headers, header
from replay.archive.multipart import parts

_LONGEST = 1 << 16  # bytes of a body that is put into the index
_PLAIN = "!$%&()*+,-./:;=?@[\\]^_`{|}~"  # what stays as it is in a key
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_RESERVED = re.compile(r"%(?:3B|2F|3F|3A|40|26|3D|2B|24|2C|23)", re.I)  # ;/?:@&=+$,# stay encoded


def line(url: str, stamp: str, fields: dict[str, str], query: str = "") -> str:
    """One line. `stamp`: 14 digits; `fields`: those of the record; `query`: a body, as `request_query` has it."""
    method = fields.get("method", "")
    full_url = f"{url}{'&' if '?' in url else '?'}__wb_method={method}&{query}" if method else url
    named = {"url": url} | fields | ({"requestBody": query} if method else {})
    return f"{key(full_url)} {stamp} {json.dumps(named, ensure_ascii=True)}\n"


def key(url: str) -> str:
    """An address so that those of a site sort together: `com,example)/path?a=b`."""
    try:
        parted = urlsplit(re.sub(r"^(https?://)www\d*\.", r"\1", url.lower()))
        host = ",".join(reversed((parted.hostname or "").split(".")))
        port = f":{parted.port}" if parted.port and (parted.scheme, parted.port) not in _USUAL else ""
    except ValueError:
        return _quoted(url)
    query = "?" + "&".join(sorted(_quoted(parted.query).split("&"))) if parted.query else ""
    return f"{_quoted(host)}{port}){_quoted(parted.path) or '/'}{query}"


_USUAL = (("http", 80), ("https", 443))


def _quoted(text: str) -> str:
    return quote(text, safe=_PLAIN, errors="replace")


def request_query(headers: Headers, body: bytes) -> str:
    """A body as the query of an address, in which replaying programs look a POST up."""
    if len(body) > _LONGEST:
        return ""
    kind = header(headers, "content-type").partition(";")[0].strip().lower()
    text = body.decode("utf-8", "replace")
    if kind == "application/x-www-form-urlencoded":
        return _decoded(text)
    if kind == "multipart/form-data":
        named = {part.name: part.content.decode("utf-8", "replace").partition("\n")[0].rstrip("\r")
                 for part in parts(body) if part.name and not part.filename}
        return _decoded(urlencode(named, errors="replace"))
    if kind in ("application/json", "text/plain"):
        try:
            return _decoded(urlencode(_flatten_json(json.loads(text)), errors="replace"))
        except (ValueError, RecursionError):
            if kind == "application/json":
                return ""
    return f"__wb_post_data={base64.b64encode(body).decode()}"


def _flatten_json(value: Any) -> dict[str, str]:
    """What stands in a JSON by the name that is nearest; names that come again are numbered."""
    named: dict[str, str] = {}
    repeats: dict[str, int] = {}

    def collect(value: Any, name: str) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                collect(inner, key)
        elif isinstance(value, list):
            for inner in value:
                collect(inner, name)
        elif value != "":
            if name in named:
                repeats[name] = repeats.get(name, 1) + 1
                name = f"{name}.{repeats[name]}_"
            named[name] = value if isinstance(value, str) else json.dumps(value)

    collect(value, "")
    return named


def _decoded(query: str) -> str:
    """As decodeURI of JavaScript: what separates the parts of an address stays encoded."""
    def decode(encoded: re.Match[str]) -> str:
        return "".join(piece if _RESERVED.fullmatch(piece) else unquote_to_bytes(piece).decode("utf-8")
                       for piece in re.split(r"(%(?:3B|2F|3F|3A|40|26|3D|2B|24|2C|23))", encoded[0], flags=re.I)
                       if piece)
    try:
        return _ENCODED.sub(decode, query)
    except UnicodeDecodeError:
        return ""
