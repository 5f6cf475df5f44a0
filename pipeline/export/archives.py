"""The archives that a recording may hold, HAR and MHTML, without what the redactor knows."""

import email
import email.charset
import email.policy
import json

from pipeline.redact import Redactor
from schemas import InputError

_POLICY = email.policy.compat32.clone(linesep="\r\n", max_line_length=None)
_UTF8 = email.charset.Charset("utf-8")
_UTF8.body_encoding = email.charset.QP


def har_without(content: bytes, known: Redactor, where: str) -> bytes:
    """A HAR with what is known replaced in every text; as it is when nothing is. Raises InputError naming `where`."""
    if not known.known:
        return content
    try:
        return json.dumps(known.everything(json.loads(content))).encode("ascii")
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not a HAR ({error}); record the task again") from None


def mhtml_without(content: bytes, known: Redactor) -> bytes:
    """An MHTML file (RFC 2557) with what is known replaced in its headers and texts; as it is when nothing is."""
    if not known.known:
        return content
    message = email.message_from_bytes(content, policy=_POLICY)
    for part in message.walk():
        for name, value in part.items():
            if (clean := known.text(value)) != value:
                part.replace_header(name, clean)
        if part.get_content_maintype() != "text":
            continue
        text = part.get_payload(decode=True).decode("utf-8", "replace")
        if (clean := known.text(text)) != text:
            del part["Content-Transfer-Encoding"]
            part.set_payload(clean, _UTF8)
    return message.as_bytes()
