"""A page as one self-contained MHTML file (RFC 2557) from the browser: without secrets; also its style sheets, images
and fonts."""

import email
import email.charset
import email.policy
import re
from collections.abc import Iterator
from email.message import Message

from .secret_values import Secrets

_POLICY = email.policy.compat32.clone(linesep="\r\n", max_line_length=None)
_LOADED = re.compile(r"text/css|(image|font)/.*|application/(x-)?font.*|application/vnd\.ms-fontobject")
_UTF8 = email.charset.Charset("utf-8")
_UTF8.body_encoding = email.charset.QP


def without_secrets(mhtml: bytes, secrets: Secrets) -> bytes:
    """The same archive with every secret in its texts replaced; byte by byte the same where there is none."""
    message = email.message_from_bytes(mhtml, policy=_POLICY)
    changed = [_clean(part, message["Snapshot-Content-Location"], secrets) for part in message.walk()]
    return message.as_bytes() if any(changed) else mhtml


def loaded_parts(mhtml: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Address, media type and content of its style sheets, images and fonts. Documents are left out: they may hold what
    was typed."""
    for part in email.message_from_bytes(mhtml, policy=_POLICY).walk():
        url, content = part["Content-Location"] or "", part.get_payload(decode=True)
        if (url.startswith(("http:", "https:")) and isinstance(content, bytes)
                and _LOADED.fullmatch(part.get_content_type())):
            yield url, part.get_content_type(), content


def _clean(part: Message, page: str | None, secrets: Secrets) -> bool:
    """Replace the secrets in one part; returns whether there were any."""
    changed = False
    for name, value in part.items():
        # The page's own address is cleaned as everywhere; others are what its HTML refers to by the same letters.
        if (clean := secrets.in_address(value) if value == page else secrets.in_text(value)) != value:
            part.replace_header(name, clean)
            changed = True
    if part.get_content_maintype() != "text":
        return changed
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return changed
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return changed
    if (clean := secrets.in_markup(text)) == text:
        return changed
    del part["Content-Transfer-Encoding"]
    part.set_payload(clean, _UTF8)
    return True
