"""Folding noise away: quotes of what is replied to, reactions, removed reactions."""

import re

# Zoom's phrases in the languages that its "From … to …" is read in
_REPLY = (
    "Replying to", "Antwort auf", "Antworten auf", "En réponse à", "Répondre à", "Respondiendo a", "Responder a",
    "Respondendo a", "Risposta a", "Antwoord op", "Odpowiedź na", "Ответ на", "Відповідь на",
    "回复", "回覆", "返信先", "답장", "Yanıtlanıyor", "Membalas",
)
_REACTION = (
    re.compile(r'Reacted to ".*" with .{1,40}', re.DOTALL),
    re.compile(r'Removed an? .{1,40} reaction from ".*"', re.DOTALL),
    re.compile(r'Reagierte auf ".*" mit .{1,40}', re.DOTALL), re.compile(r'A réagi à ".*" avec .{1,40}', re.DOTALL),
    re.compile(r'(?:Ha )?[Rr]eaccion(?:ó|ado) a ".*" con .{1,40}', re.DOTALL),
)
_QUOTE = re.compile(rf'(?:{"|".join(map(re.escape, _REPLY))})\s*(?:[:：]\s*)?["“«](.*?)["”»]'
                    r'[ \t]{0,9}[:：]?[ \t]{0,9}(?:\n|$)', re.DOTALL)
# What Zoom saves under a message: who reacted, and the pictures. Names and times have letters or digits; pictures none.
_REACTED = re.compile(r"[ \t]*[^\n:：]{1,100}[:：][ \t]*([^\w\s:：,.;!?()\[\]{}<>/\\'\"-]{1,40})[ \t]*")
_CURLY = str.maketrans("“”„«»", '"""""')


def strip_noise(text: str) -> str:
    """The utterance without noise; empty when it was nothing but noise."""
    plain = text.translate(_CURLY).strip()
    if any(pattern.fullmatch(plain) for pattern in _REACTION):
        return ""
    quote = _QUOTE.match(text)
    text = text[quote.end():] if quote else text
    return "\n".join(line for line in text.split("\n") if not _is_reaction(line)).strip()


def _is_reaction(line: str) -> bool:
    """`Ann Lee:👍` in a line of its own: somebody's reaction to the message above."""
    match = _REACTED.fullmatch(line)
    return match is not None and any(ord(each) >= 0x2190 for each in match[1])
