"""Folding noise away: quotes of what is replied to, reactions, removed reactions."""

import re

# Zoom's phrases in the languages that its "From … to …" is read in
_REPLY = (
    "Replying to", "Antwort auf", "Antworten auf", "En réponse à", "Répondre à", "Respondiendo a", "Responder a",
    "Respondendo a", "Risposta a", "Antwoord op", "Odpowiedź na", "Ответ на", "Відповідь на",
)
_REACTION = (
    re.compile(r'Reacted to ".*" with .{1,40}', re.DOTALL),
    re.compile(r'Removed an? .{1,40} reaction from ".*"', re.DOTALL),
    re.compile(r'Reagierte auf ".*" mit .{1,40}', re.DOTALL), re.compile(r'A réagi à ".*" avec .{1,40}', re.DOTALL),
    re.compile(r'(?:Ha )?[Rr]eaccion(?:ó|ado) a ".*" con .{1,40}', re.DOTALL),
)
_QUOTE = re.compile(rf'(?:{"|".join(map(re.escape, _REPLY))})\s*(?:[:：]\s*)?["“«](.*?)["”»][ \t]*(?:\n|$)', re.DOTALL)
_CURLY = str.maketrans("“”„«»", '"""""')


def strip_noise(text: str) -> str:
    """The utterance without noise; empty when it was nothing but noise."""
    plain = text.translate(_CURLY).strip()
    if any(pattern.fullmatch(plain) for pattern in _REACTION):
        return ""
    quote = _QUOTE.match(text)
    return (text[quote.end():] if quote else text).strip()
