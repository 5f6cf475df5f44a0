"""Fields whose values never reach the disk, by whatever tells that they are secret; and fields that are none."""

import pytest

WAYS = ("recorder", "extension")
LATE = "of another kind once something was typed"
LETTER = "<div><input maxlength=1 oninput='this.parentNode.nextElementSibling?.firstChild.focus()'></div>"
SECRET = {
    "password": "<input type=password>",
    "name": "<input name=passwd>",
    "name in camel case": "<input name=userPassword>",
    "id": "<input id=card-number>",
    "autocomplete": "<input autocomplete='section-a one-time-code'>",
    "new password": "<input autocomplete='new-password'>", "password of a list": "<input role=combobox type=password>",
    "code of a list": "<input role=combobox autocomplete='one-time-code'>",
    "dots": "<input style='-webkit-text-security:disc'>",
    "dots by a class": "<style>.dots {-webkit-text-security:circle}</style><input class=dots>",
    "label": "<label for=x{n}>Card number *</label><input id=x{n}>",
    "label around": "<label>Enter your PIN code <input></label>",
    "label by id": "<span id=l{n}>Security code</span><input aria-labelledby=l{n}>",
    "aria-label": "<input aria-label='Verification code'>",
    "placeholder": "<label>Field <input placeholder='CVV'></label>",
    "German": "<label>Kreditkartennummer <input></label>", "German name": "<input name=kennwort>",
    "French": "<label>Code de sécurité <input></label>", "Spanish": "<input name=contrasena>",
    "Portuguese": "<label>Senha <input></label>", "Italian": "<label>Numero di carta <input></label>",
    "Polish": "<label>Hasło <input></label>", "Turkish": "<label>Şifre <input></label>",
    "Russian": "<label>Пароль <input></label>", "Chinese": "<label>验证码 <input></label>",
    "Japanese": "<label>パスワード <input></label>", "Korean": "<label>비밀번호 <input></label>",
    "text area": "<label>Passphrase <textarea></textarea></label>",
    "six fields of one letter": f"<p>Code</p><div>{LETTER * 6}</div>",
    "label that comes late":
        "<span id=w{n}></span><input id=x{n} onfocus=\"w{n}.innerHTML='<label for=x{n}>Password</label>'\">",
    LATE: "<input oninput='if (this.value.length == 1) this.type = \"password\"'>",
}
PLAIN = {
    "text": "<input>", "name": "<input name=passenger>", "shipping": "<label>Shipping address <input></label>",
    "number": "<label>Phone number <input></label>", "postcode": "<label>Postcode <input></label>",
    "pinned": "<label>Pinned note <input></label>", "author": "<input name=author>",
    "list": "<input role=combobox autocomplete='new-password'>",
    "list of suggestions": "<input aria-autocomplete=list autocomplete='new-password'>",
    "Selectize": "<input type=text autocomplete=new-password autofill=no>",
    "search": "<input type=search autocomplete='current-password'>",
    "letters of a crossword": "<div>" + "<input maxlength=1>" * 20 + "</div><input id=field>",
}
SENDING = """<script>addEventListener('change', () => fetch('/sent', {method: 'POST',
  headers: {'Content-Type': 'application/json'}, body: JSON.stringify([...document.querySelectorAll('section')].map(
  section => [...section.querySelectorAll('input,textarea')].map(e => e.value).join('')))}))</script>"""


def page_of(fields: dict[str, str]) -> str:
    sections = [f"<section id=s{n}>{field.replace('{n}', str(n))}</section>" for n, field in enumerate(fields.values())]
    return "<!DOCTYPE html><meta charset=utf-8>" + "".join(sections) + SENDING


def typed_in(number: int) -> str:
    return str(743198 + 1741 * number)


def fill(count: int):
    async def user_actions(page):
        for number in range(count):
            section = page.locator(f"#s{number}")
            await section.locator("input:not([maxlength]), textarea, div:first-child > input").last.focus()
            await page.keyboard.type(typed_in(number))
        await page.mouse.click(5, 5)
        await page.wait_for_load_state("networkidle")
        await page.mouse.click(5, 5)

    return user_actions


def kept(session) -> str:
    """All that a recording holds."""
    layout = session.recording.layout
    texts = [path.read_text() for path in layout.root.iterdir() if path.suffix in (".json", ".jsonl", ".har")]
    return "".join(texts + [session.recording.blob(path.name).decode("latin-1") for path in layout.blobs.glob("??/*")])


def fields_of(way: str, everything: bool) -> dict[str, str]:
    """The fields that a way is tried with: `make test` tries each in one of the two ways, in rotation."""
    return {name: field for number, (name, field) in enumerate(SECRET.items())
            if everything or name == LATE or number % 2 == WAYS.index(way)}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_in_a_secret_field_is_not_stored(request, site, pytestconfig, way):
    fields = fields_of(way, pytestconfig.option.all)
    site.pages |= {"/": page_of(fields), "/sent": "ok"}
    user_actions = fill(len(fields))
    if way == "recorder":
        record, keep = request.getfixturevalue("recording_browser").record, {"keep": {"har": True}}
    else:
        record, keep = request.getfixturevalue("chrome").record, {}
    session = record(user_actions, url=site.origin + "/", **keep)
    found = kept(session)
    assert [field for number, field in enumerate(fields) if typed_in(number) in found] == []
    turns = [turn for turn in session.turns if turn["intent"] == "textInput"]
    assert len(turns) >= len(fields)
    clear = [data["key"] for event in session.recording.events if event["type"] == "keydown"
             for data in [event["data"]] if not data.get("secret")]
    assert clear == list(typed_in(list(fields).index(LATE)))[:1], "but the letter before it was secret"


def test_what_stands_in_other_fields_is_kept(recording_browser, site):
    site.pages |= {"/": page_of(PLAIN)}
    session = recording_browser.record(fill(len(PLAIN)), url=site.origin + "/")
    texts = [turn["arguments"]["text"] for turn in session.turns if turn["intent"] == "textInput"]
    assert texts == [typed_in(number) for number in range(len(PLAIN))]
