"""Sessions in few words, for tests of matching."""

from replay.archive.exchanges import Archive, Headers, Recorded, Request
from replay.serving.matching import Match, Session

SITE = "https://shop.example"
JSON = (("Content-Type", "application/json"),)
FORM = (("Content-Type", "application/x-www-form-urlencoded"),)


def recorded(method: str, url: str, says: str | bytes | None = "", status: int = 200, *,
             body: str | bytes | None = None, headers: Headers = (),
             answer_headers: Headers = (("Content-Type", "text/html"),), **told) -> Recorded:
    """An exchange whose answer is `says`; it gets its number in `archive`."""
    content = says.encode() if isinstance(says, str) else says
    return Recorded(0, told.pop("time", 0.0), method, SITE + url if url.startswith("/") else url, status,
                    lambda: content, answer_headers, headers, body.encode() if isinstance(body, str) else body, **told)


def document(url: str, says: str = "", status: int = 200, method: str = "GET", **told) -> Recorded:
    """A document of a tab."""
    return recorded(method, url, says, status, kind="document", top=True, **told)


def archive(*exchanges: Recorded, started: float = 0.0) -> Archive:
    """Exchanges in order."""
    return Archive(tuple(Recorded(**{**vars(one), "number": number}) for number, one in enumerate(exchanges, 1)),
                   started=started)


def asked(method: str, url: str, body: str | bytes | None = None, headers: Headers = ()) -> Request:
    """A request."""
    return Request(method, SITE + url if url.startswith("/") else url, headers,
                   body.encode() if isinstance(body, str) else body)


def match(session: Session, line: str, body: str | bytes | None = None, headers: Headers = ()) -> Match | None:
    """What `METHOD address` gets."""
    return session.match(asked(*line.split(" ", 1), body, headers))


def given(session: Session, line: str, body: str | bytes | None = None, headers: Headers = ()) -> str | None:
    """What the answer to `METHOD address` says; None when there is none."""
    found = match(session, line, body, headers)
    return None if found is None else (found.exchange.answer() or b"").decode()
