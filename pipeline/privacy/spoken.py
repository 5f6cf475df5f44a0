"""Secrets in utterances: "my password is hunter2!", "Passwort: …", "密码是…", PINs and codes, in seven languages."""

import re
from collections.abc import Iterator

from .patterns import LETTER, is_isolated, pattern

_SPACE = r"[ \t\x{A0}\x{3000}]"
_CODES = (r"(?:security|verification|access|door|gate|alarm|login|log-in|sign-in|",
          r"confirmation|authentication|auth|backup|recovery|unlock|one[- ]time|sms|2fa|mfa)[ -](?:code|pin)|",
          r"(?:sicherheits|bestätigungs|zugangs|tür|verifizierungs|",
          r"freischalt|einmal|entsperr)-?code|code (?:pin|secret|d['’]accès|de sécurité|confidentiel|",
          r"de vérification|de confirmation)|código (?:pin|secreto|de (?:acceso|seguridad|verificación|confirmación))")
_LATIN = (r"pass ?words?|pass ?codes?|pass ?phrases?|passwd|pwd?|pass|pin(?:[ -]?(?:code|number|nummer))?|otp|",
          r"cv[vc]2?|", *_CODES, r"|passwort|kennwort|geheimzahl|mot de passe|mdp|contraseña|",
          r"clave(?: de acceso| secreta)?")
_EASTERN = (r"密码|密碼|口令|验证码|驗證碼|暗号|비밀 ?번호|비번|암호|인증 ?(?:번호|코드)|핀 ?번호|보안 ?코드|",
            r"パスワード|暗証番号|認証コード|確認コード|ピン番号|合言葉|PIN码")
_OF = _SPACE + r"+(?:for|to|of|für|zum|zur|pour|du|de|del|para)(?:" + _SPACE + rf"+[{LETTER}]+)" + r"{0,3}?"
_LINK = (r"(?:", _OF, r")?", _SPACE, r"*(?:[:=：＝]|->|→|", _SPACE,
         r"(?:is|was|will be|ist|war|lautet|heißt|est|c['’]est|était|es|era|será)(?:", _SPACE, r"*:)?", _SPACE, r")",
         _SPACE, r"*")
_EASTERN_LINK = (_SPACE, r"*(?:是|为|為|就是|설정은|는|은|가|이|は|が)?", _SPACE, r"*[:=：＝]?", _SPACE, r"*")
_VALUE = (r"(?:[\"“”'‘«„「『`]", _SPACE, r"*([^\"“”'’»«「」『』`\n]{3,64}?)",
       _SPACE, rf"*[\"“”'’»「」『』`]|([!-~{LETTER[6:]}]",
          r"{3,64}))")

_STATED = pattern(r"(", *_LATIN, r")", *_LINK, *_VALUE, ignore_case=True)
_RIGHT_AFTER = pattern(r"(", *_LATIN, r")", _SPACE, r"+", *_VALUE, ignore_case=True)
_EASTERN_STATED = pattern(r"(", *_EASTERN, r")", *_EASTERN_LINK, *_VALUE)

_OWN = (
    "my", "our", "your", "mein", "unser", "dein", "ihr", "mon", "notre", "ton", "votre", "mi", "tu", "nuestra",
    "su",
)
# What is said of passwords: none is one itself.
_PLAIN = frozenset((
    "required", "wrong", "incorrect", "invalid", "not", "too", "the", "hidden", "shown", "protected", "expired",
    "secure", "weak", "strong", "correct", "needed", "missing", "empty", "case", "only", "still", "already", "now",
    "going", "being", "stored", "encrypted", "visible", "optional", "mandatory", "always", "never", "safe",
    "reset", "changed", "lost", "forgotten", "compromised", "secret", "here", "there", "different", "long",
    "short", "new", "old", "same", "written", "managed", "also", "just", "falsch", "richtig", "erforderlich",
    "nicht", "ungültig", "abgelaufen", "sicher", "unsicher", "schwach", "stark", "leer", "pflicht", "geändert",
    "vergessen", "zu", "requis", "obligatoire", "invalide", "expiré", "faible", "fort", "trop", "oublié", "perdu",
    "sécurisé", "incorrecte", "pas", "vide", "incorrecta", "obligatoria", "inválida", "caducada", "débil",
    "segura", "fuerte", "olvidada", "demasiado", "necesaria", "requerida", "no", "muy",
))
# What follows a number that tells how long a password is, or how often it may be tried.
_COUNTED = (
    "char", "letter", "digit", "zeichen", "stell", "ziffer", "buchstab", "caract", "chiffre", "lettre", "dígito",
    "cifra", "letra", "symbol", "个字", "位", "字符", "자", "글자", "文字", "桁", "minut", "times", "tries", "day",
    "hour", "attempt", "versuch", "tage", "jours", "días", "天", "分", "일", "日",
)
# Where a value ends in JSON (a quote), in HTML (a tag) and in an address (the next parameter).
_FOLLOWING = re.compile(r"[\"'](?=[,}\]:>/]|$)|</?[A-Za-z!]|&(?=[\w.%-]{1,40}=)")
_ENDS = ".,;:)]}>?…"


def secrets(text: str) -> Iterator[tuple[int, int]]:
    """Where passwords, PINs and codes stand that are told as such."""
    for compiled, plain_may_be in ((_STATED, True), (_EASTERN_STATED, True), (_RIGHT_AFTER, False)):
        for match in compiled.finditer(text):
            start, end = match.span(1)
            if text[start].isascii() and not is_isolated(text, start, end):
                continue
            quoted = match.span(2)[0] >= 0
            start, end = match.span(2) if quoted else _trim(text, *match.span(3))
            own = plain_may_be and (quoted or _is_own(text, match.start()))
            if end - start >= 3 and _is_secret(text, start, end, own, plain_may_be):
                yield start, end


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Without what follows in JSON, HTML or an address, and without the signs that end a sentence, unless they are all
    there is."""
    if following := _FOLLOWING.search(text, start + 1, end):
        end = following.start()
    while end > start and text[end - 1] in _ENDS:
        end -= 1
    return start, end


def _is_own(text: str, cue: int) -> bool:
    before = text[max(0, cue - 24):cue].lower().replace("-", " ").split()
    return any(word in _OWN for word in before[-2:]) or text[max(0, cue - 4):cue].strip().endswith(
        ("我的", "的", "내", "제", "私の", "の"))


def _is_secret(text: str, start: int, end: int, own: bool, linked: bool) -> bool:
    """Whether a value is made up and not said of a password."""
    value, after = text[start:end], text[end:end + 14].lower().lstrip(" -+")
    if "REDACTED" in value or not value.strip("*•·.xX-_#…") or value.lower().startswith(("http:", "https:", "<",
           "{{", "${")):
        return False
    digits = any(character.isdigit() for character in value)
    if digits and (after.startswith(_COUNTED) or any(word in value.lower() for word in ("digit", "stellig", "char"))):
        return False
    if digits and value.strip("0123456789-–~") == "" and not value.isdigit():
        return False  # a range, a date
    letters = any(character.isalpha() for character in value)
    signs = any(not character.isalnum() and character not in "-'’/.," for character in value[:-1])
    if not linked:
        return digits and (letters or signs or (value.isdigit() and len(value) >= 4))
    mixed = value[1:] != value[1:].lower() and value != value.upper()
    return digits or signs or mixed or (own and value.strip("!").lower() not in _PLAIN)
