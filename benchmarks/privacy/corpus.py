"""Texts and pages with personal data and secrets whose places are known, and with what only looks like them: made by
rules from a seed, in seven languages."""

import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stdnum import luhn
from stdnum.cn import ric
from stdnum.de import idnr
from stdnum.es import dni
from stdnum.iso7064 import mod_97_10
from stdnum.jp import in_ as my_number

LANGUAGES = ("en", "de", "fr", "es", "zh", "ko", "ja")


@dataclass(frozen=True)
class Sample:
    """A text and what in it is to be found: its kind as in pipeline.privacy.finding.KINDS, `spoken` for told ones."""

    language: str
    kind: str  # of what is in it; `none` for a hard negative
    text: str
    values: tuple[str, ...] = ()


_AROUND = {
    "en": ("Please use {} for the booking.", "{}", "Contact: {}", "I think it is {}, thanks!", "Send it to {} today"),
    "de": ("Bitte nimm {} für die Buchung.", "Kontakt: {}", "Das ist {}, danke!", "Daten: {}", "{}"),
    "fr": ("Utilisez {} pour la réservation.", "Contact : {}", "C'est {}, merci !", "Données : {}", "{}"),
    "es": ("Usa {} para la reserva.", "Contacto: {}", "Es {}, ¡gracias!", "Datos: {}", "{}"),
    "zh": ("请用{}预订。", "联系方式：{}", "是 {} ，谢谢", "资料：{}", "{}"),
    "ko": ("예약에 {} 을 사용하세요.", "연락처: {}", "{} 입니다", "정보: {}", "{}"),
    "ja": ("予約には{}を使ってください。", "連絡先：{}", "{} です。", "情報：{}", "{}"),
}
_NAMES = {"en": ("ann", "lee", "smith"), "de": ("jürgen", "weiss", "anna"), "fr": ("rené", "dupont", "marie"),
          "es": ("josé", "lopez", "ana"), "zh": ("wei", "zhang", "li"), "ko": ("minjun", "kim", "park"),
          "ja": ("taro", "sato", "yuki")}
_DOMAINS = ("shop.example", "mail.example.org", "firma.de", "exemple.fr", "163.com", "naver.com", "co.example.jp")


def _digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choice(string.digits) for _ in range(count))


def _email(rng: random.Random, language: str) -> str:
    names = _NAMES[language]
    local = rng.choice((".", "_", "-", "+", "")).join(rng.sample(names, 2)) + rng.choice(("", _digits(rng, 2)))
    return f"{local}@{rng.choice(_DOMAINS)}"


_PHONES = {
    "en": ("({a}) {b}-{n4}", "{a}-{b}-{n4}", "+1 {a} {b} {n4}", "+1-{a}-{b}-{n4}", "+44 20 7946 {n4}",
    "020 7946 {n4}"),
    "de": ("+49 30 {n7}", "030 {n7}", "0171 {n7}", "+49 (0)171 {n7}", "0049 89 {n7}", "0171/{n7}"),
    "fr": ("06 {p} {p2} {p3} {p4}", "+33 6 {p} {p2} {p3} {p4}", "01.4{d}.{p2}.{p3}.{p4}", "+336{n7}{d}"),
    "es": ("612 {n3} {m3}", "+34 612 {n3} {m3}", "91 {n3} {p2} {p3}|+34 91 {n3} {p2} {p3}", "+34 655{n3}{m3}"),
    "zh": ("138{n4}{m4}", "138 {n4} {m4}", "+86 139{n4}{m4}", "+86 139 {n4} {m4}", "186-{n4}-{m4}"),
    "ko": ("010-{k4}-{m4}", "+82 10-{k4}-{m4}", "02-{k4}-{m4}", "010 {k4} {m4}"),
    "ja": ("090-{k4}-{m4}", "03-{k4}-{m4}", "+81 90-{k4}-{m4}", "080-{k4}-{m4}"),
}


def _phone(rng: random.Random, language: str) -> str:
    written = rng.choice(_PHONES[language]).split("|")[-1]
    return written.format(
        a=rng.choice(("212", "415", "646", "312")), b=f"{rng.randint(2, 9)}{_digits(rng, 2)}", n3=_digits(rng, 3),
        m3=_digits(rng, 3), n4=_digits(rng, 4), m4=_digits(rng, 4), k4=f"{rng.randint(3, 8)}{_digits(rng, 3)}",
        n7=f"{rng.randint(2, 9)}{_digits(rng, 6)}", d=_digits(rng, 1), p=f"{rng.randint(1, 6)}{_digits(rng, 1)}",
        p2=_digits(rng, 2), p3=_digits(rng, 2), p4=_digits(rng, 2))


def _card(rng: random.Random, language: str) -> str:
    prefix, length, layout = rng.choice((("4", 16, (4, 4, 4, 4)), ("53", 16, (4, 4, 4, 4)), ("37", 15, (4, 6, 5)),
                                         ("6011", 16, (4, 4, 4, 4)), ("3530", 16, (4, 4, 4, 4)), ("62",
                                                16, (4, 4, 4, 4))))
    digits = prefix + _digits(rng, length - 1 - len(prefix))
    digits += luhn.calc_check_digit(digits)
    gap, parts, at = rng.choice(("", " ", "-")), [], 0
    for size in layout:
        parts.append(digits[at:at + size])
        at += size
    return gap.join(parts)


_BBANS: dict[str, int | tuple[str, int]] = {
    "DE": 18, "FR": 23, "ES": 20, "GB": ("NWBK", 14), "NL": ("INGB", 10), "AT": 16}


def _iban(rng: random.Random, language: str) -> str:
    country = {"de": "DE", "fr": "FR", "es": "ES", "en": "GB"}.get(language) or rng.choice(("DE", "NL", "AT"))
    shape = _BBANS[country]
    bban = _digits(rng, shape) if isinstance(shape, int) else shape[0] + _digits(rng, shape[1])
    if country in ("FR", "ES"):  # their own check digits stand inside
        bban = rng.choice({"FR": ("20041010050500013M02606", "30006000011234567890189"),
                           "ES": ("21000418450200051332", "00491500051234567892")}[country])
    number = country + mod_97_10.calc_check_digits(bban + country).zfill(2)[-2:] + bban
    check = 98 - int("".join(str(int(each, 36)) for each in bban + country + "00")) % 97
    number = f"{country}{check:02d}{bban}"
    return " ".join(number[at:at + 4] for at in range(0, len(number), 4)) if rng.random() < 0.6 else number


def _ssn(rng: random.Random) -> str:
    return f"{rng.randint(100, 665):03d}-{rng.randint(10, 99)}-{rng.randint(1000, 9999)}"


def _nino(rng: random.Random) -> str:
    digits = _digits(rng, 6)
    gap = rng.choice(("", " "))
    return gap.join((rng.choice(("AB", "CE", "JX", "PW")), digits[:2], digits[2:4], digits[4:], rng.choice("ABCD")))


def _steuer_id(rng: random.Random) -> str:
    while True:
        digits = list("123456789")
        rng.shuffle(digits)
        body = "".join(digits[:8]) + "0" + digits[0]
        body = body[0] + "".join(rng.sample(body[1:], 9))
        number = next((body + last for last in string.digits if idnr.is_valid(body + last)), "")
        if number:
            return number if rng.random() < 0.5 else f"{number[:2]} {number[2:5]} {number[5:8]} {number[8:]}"


def _nir(rng: random.Random) -> str:
    body = (f"{rng.choice('12')}{rng.randint(40, 99)}{rng.randint(1, 12):02d}{rng.randint(1, 95):02d}"
            f"{_digits(rng, 3)}{_digits(rng, 3)}").replace("20", "21")
    number = f"{body}{97 - int(body) % 97:02d}"
    places = (1, 3, 5, 7, 10, 13, 15)
    return number if rng.random() < 0.5 else " ".join(
        number[start:end] for start, end in zip((0, *places), places, strict=False))


def _dni(rng: random.Random) -> str:
    number, foreign = _digits(rng, 8), _digits(rng, 7)
    if rng.random() < 0.5:
        return number + rng.choice(("", "-")) + dni.calc_check_digit(number)
    first = rng.choice("XYZ")
    return f"{first}{foreign}{dni.calc_check_digit(str('XYZ'.index(first)) + foreign)}"


def _ric(rng: random.Random) -> str:
    body = (f"{rng.choice(('110101', '310104', '440106'))}{rng.randint(1950, 2005)}{rng.randint(1, 12):02d}"
            f"{rng.randint(1, 28):02d}{_digits(rng, 3)}")
    return body + ric.calc_check_digit(body + "0")


def _rrn(rng: random.Random) -> str:
    return f"{rng.randint(50, 99)}{rng.randint(1, 12):02d}{rng.randint(1, 28):02d}-{rng.choice('12')}{_digits(rng, 6)}"


def _my_number(rng: random.Random) -> str:
    body = f"{rng.randint(1, 9)}{_digits(rng, 10)}"
    number = body + my_number.calc_check_digit(body)
    return f"マイナンバー {number}" if rng.random() < 0.5 else f"{number[:4]} {number[4:8]} {number[8:]}"


_IDS: dict[str, tuple[Callable[[random.Random], str], ...]] = {
    "en": (_ssn, _nino), "de": (_steuer_id,), "fr": (_nir,), "es": (_dni,), "zh": (_ric,), "ko": (_rrn,),
    "ja": (_my_number,)}


def _id(rng: random.Random, language: str) -> str:
    return rng.choice(_IDS[language])(rng)


def _token(rng: random.Random, language: str) -> str:
    letters = string.ascii_letters + string.digits
    of = lambda count: "".join(rng.choice(letters) for _ in range(count))  # noqa: E731
    return rng.choice((f"ghp_{of(36)}", f"sk-proj-{of(40)}", f"AKIA{of(16).upper()}", f"glpat-{of(20)}",
           f"hf_{of(34)}",
                       f"eyJ{of(20)}.eyJ{of(60)}.{of(43)}", f"xoxb-{_digits(rng, 12)}-{of(24)}"))


_TOLD = {
    "en": ("my password is {}", "My password: {}", "pw {}", "the PIN is {pin}", "password = {}",
    "use my passcode {pin}",
           "your verification code is {pin}", "The password for the portal is {}.", "pwd: {}",
           "the door code is {pin}"),
    "de": ("Mein Passwort ist {}", "Passwort: {}", "Das Kennwort lautet {}", "PIN: {pin}", "Sicherheitscode: {pin}",
           "Das Passwort für das Portal ist {}", "pw {}"),
    "fr": ("Mon mot de passe est {}", "mot de passe : {}", "mdp {}", "code secret : {pin}", "le code PIN est {pin}",
           "Le mot de passe du portail est {}"),
    "es": ("Mi contraseña es {}", "contraseña: {}", "la clave es {}", "el PIN es {pin}", "código de seguridad: {pin}",
           "La contraseña para el portal es {}"),
    "zh": ("我的密码是{}", "密码：{}", "密码是 {}，谢谢", "验证码为{pin}", "密码 {}", "验证码：{pin}"),
    "ko": ("비밀번호는 {}입니다", "제 비밀번호는 {}", "비번 {}", "인증번호: {pin}", "비밀번호: {}",
          "인증번호는 {pin}입니다"),
    "ja": ("パスワードは{}です", "パスワード：{}", "私のパスワードは {} です", "暗証番号は{pin}です",
          "認証コード：{pin}", "パスワード {}"),
}
_WORDS = ("hunter", "summer", "dragon", "soleil", "gato", "blume", "tiger", "sakura", "seoul", "panda", "kaffee")


def _spoken(rng: random.Random, language: str) -> Sample:
    word = rng.choice(_WORDS)
    secret = rng.choice((f"{word}{rng.randint(1, 99)}", f"{word}{rng.randint(1, 9)}!",
           f"{word.title()}#{_digits(rng, 3)}",
                         f"{word}_{rng.choice(_WORDS)}{rng.randint(10, 99)}",
                                "".join(rng.choices(string.ascii_letters, k=9)) + "7$",
                         f"{word[0].upper()}{word[1:]}-{rng.choice(_WORDS).title()}", word))
    pin = _digits(rng, rng.choice((4, 6)))
    told = rng.choice(_TOLD[language])
    value = pin if "{pin}" in told else secret
    return Sample(language, "spoken", told.format(secret, pin=pin), (value,))


_NEGATIVES: dict[str, tuple[str, ...]] = {
    "en": ("Order 112-{n7}-{m7}", "Total: ${n3}.{p} for {d} items", "The password is required",
    "Forgot your password?",
           "Password must be 8-20 characters", "Your password is too short", "My password is not working",
           "Version {d}.{p}.{n3}",
           "Meeting on 2024-0{q}-1{q} at 1{q}:30", "Flight LH{n4} at gate B{p}", "Tracking number 1Z{n4}AA{n7}",
           "ISBN 978-3-16-148410-0",
           "https://shop.example/item/{n10}?ref={n4}", "Lat 52.{n5}, Lon 13.{n5}",
           "Enter the PIN sent to your phone", "Reset password",
           "promo code SAVE{p}", "error code: {n3}", "pin {d} items to the board", "postal code {n5}",
           "Invoice {n8}", "room {n3}",
           "password: required", "PIN: 4-digit number", "{n3},{m3},{n3} views", "id={n10}"),
    "de": ("Bestellnummer {n10}", "Preis: {n3},{p} EUR", "Das Passwort ist erforderlich", "Passwort vergessen?",
    "Passwort ändern",
           "Passwort: mindestens 8 Zeichen", "am 1{q}.0{q}.2024 um 1{q}:30 Uhr", "PLZ {n5} Berlin",
           "Rechnung Nr. {n8}", "Artikel {n4}-{p}",
           "PIN: 4-stellig", "Das Passwort ist falsch"),
    "fr": ("Commande n° {n10}", "Prix : {n3},{p} €", "Le mot de passe est obligatoire", "Mot de passe oublié ?",
    "le 1{q}/0{q}/2024 à 1{q}h30",
           "Mot de passe : 8 caractères minimum", "Code postal {n5}", "Facture {n8}", "version {d}.{p}.{n3}"),
    "es": ("Pedido {n10}", "Precio: {n3},{p} €", "La contraseña es obligatoria", "¿Olvidaste tu contraseña?",
    "el 1{q}/0{q}/2024 a las 1{q}:30",
           "Contraseña: mínimo 8 caracteres", "Código postal {n5}", "Factura {n8}", "versión {d}.{p}.{n3}",
           "Mi contraseña es incorrecta"),
    "zh": ("订单号 {n10}", "价格：{n3}.{p}元", "密码是必填项", "忘记密码？", "2024年0{q}月1{q}日",
          "密码：8-20位字符", "版本 {d}.{p}.{n3}",
    "邮编 {n6}",
           "密码错误", "重置密码"),
    "ko": ("주문번호 {n10}", "가격: {n3},{m3}원", "비밀번호는 필수입니다", "비밀번호를 잊으셨나요?",
          "2024년 {q}월 1{q}일", "비밀번호는 8자 이상",
    "버전 {d}.{p}.{n3}",
           "우편번호 {n5}", "비밀번호 재설정"),
    "ja": ("注文番号 {n10}", "価格：{n3},{m3}円", "パスワードは必須です", "パスワードをお忘れですか？",
          "2024年{q}月1{q}日", "パスワードは8文字以上",
    "バージョン {d}.{p}.{n3}",
           "郵便番号 {n3}-{n4}", "パスワードの再設定"),
}


def _negative(rng: random.Random, language: str) -> Sample:
    text = rng.choice(_NEGATIVES[language]).format(
        d=rng.randint(1, 9), q=rng.randint(1, 9), p=_digits(rng, 2), n3=f"{rng.randint(1, 9)}{_digits(rng, 2)}",
               m3=_digits(rng, 3),
        **{f"n{count}": f"{rng.randint(1, 9)}{_digits(rng, count - 1)}" for count in (4, 5, 6, 7, 8, 10)},
              m7=_digits(rng, 7))
    return Sample(language, "none", text)


_MADE = {"email": _email, "phone": _phone, "card": _card, "iban": _iban, "id": _id, "token": _token}
PATTERNED = tuple(_MADE)


def samples(seed: int, count: int) -> Iterator[Sample]:
    """`count` samples of each kind in each language, five times as many hard negatives."""
    rng = random.Random(seed)
    for language in LANGUAGES:
        for kind, make in _MADE.items():
            for _ in range(count):
                value = make(rng, language)
                bare = value.removeprefix("マイナンバー ")
                yield Sample(language, kind, rng.choice(_AROUND[language]).format(value), (bare,))
        for _ in range(count):
            yield _spoken(rng, language)
        for _ in range(count * 5):
            yield _negative(rng, language)


def page(rng: random.Random, texts: list[str]) -> str:
    """An HTML page of a list of texts, in elements and attributes."""
    from html import escape

    body = "".join(rng.choice(("<p>{}</p>", "<td>{}</td>",
           '<input value="{}">', "<li><b>{}</b></li>")).format(escape(text))
                   for text in texts)
    return f"<!DOCTYPE html><html><head><title>Page</title></head><body>{body}</body></html>"
