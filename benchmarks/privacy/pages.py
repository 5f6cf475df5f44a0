"""Pages like those of third parties that hold personal data and secrets in every kind of place, made from a seed."""

import io
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape

from PIL import Image, ImageDraw, ImageFont

from benchmarks.privacy.corpus import _MADE
from pipeline.privacy import finding

PIXELS = ("canvas", "png image", "svg image")  # places of which no page has the text
# Places that docs/export.md names as not covered.
NOT_COVERED = ("display: contents", "out of its box", "left of its box", "below its box",
               "above its parent", "fixed, from out of sight")
Files = dict[str, "str | tuple[str, bytes]"]


@dataclass(frozen=True)
class Canary:
    """A value that must not be readable in an export: its kind, where on which page it stands, a selector of that."""

    kind: str
    value: str
    place: str
    selector: str


@dataclass
class Scene:
    """A site of one session: its files by path (`/` is where it begins), what stands in it, how it is looked at."""

    name: str
    files: Files = field(default_factory=dict)
    canaries: list[Canary] = field(default_factory=list)
    density: float = 1.0
    password: str = ""  # is typed into the field `#p`
    popup: str = ""  # selector of what opens one


class _Maker:
    """Puts canaries into a scene."""

    def __init__(self, scene: Scene, rng: random.Random):
        self.scene, self._rng = scene, rng

    def value(self, place: str, kind: str = "", selector: str = "") -> str:
        """A new value, escaped for HTML; it is expected in the element `#c<number>`."""
        kind = kind or self._rng.choice(tuple(_MADE))
        while True:
            value = _MADE[kind](self._rng, self._rng.choice(("en", "de", "fr", "es")))
            if [(span.start, span.end) for span in finding.find(value)] == [(0, len(value))] and len(value) < 60:
                break
        self.scene.canaries.append(Canary(kind, value, place, selector or f"#c{len(self.scene.canaries)}"))
        return escape(value)

    def text(self, place: str, kind: str = "", style: str = "", selector: str = "") -> str:
        """A new value in an element of its own."""
        number = len(self.scene.canaries)
        return f'<b id=c{number} style="{style}">{self.value(place, kind, selector)}</b>'


FAR = ("<div style='height:1600px'>{}</div><button id=go style='width:140px;height:40px'>Go on</button>"
       "<div style='height:500px'></div>")


def page(body: str, style: str = "", script: str = "") -> str:
    """A page with a button 1,600 px down."""
    return (f"<!DOCTYPE html><html><head><title>Account</title><style>body {{ margin: 20px; font: 16px sans-serif }} "
            f"{style}</style></head><body><h1>Your account</h1>{body}{FAR.format('')}<script>{script}</script></body>")


def _far(make: _Maker) -> Files:
    return {"/": page(f"<p>Signed in as {make.text('text', 'email')}</p><p>Phone {make.text('text', 'phone')}</p>")}


def _smooth(make: _Maker) -> Files:
    return {"/": page(f"<p>{make.text('smooth scrolling', 'card')}</p><p>{make.text('smooth scrolling')}</p>",
                      "html { scroll-behavior: smooth }")}


def _zoomed(make: _Maker) -> Files:
    make.scene.density = 2.0
    return {"/": page(f"<p>{make.text('zoom')}</p><p>{make.text('zoom', 'iban')}</p>", "body { zoom: 1.5 }")}


def _sticky(make: _Maker) -> Files:
    return {"/": page(f"<header style='position:sticky;top:0;background:white'>{make.text('sticky')}</header>"
                      f"<footer style='position:fixed;bottom:0;background:#eee'>{make.text('fixed')}</footer>"
                      f"<div style='height:1200px'></div><p>{make.text('text')}</p>")}


def _frames(make: _Maker) -> Files:
    return {"/": page("<iframe src=/in width=600 height=120></iframe>"
                      f"<p>{make.text('text beside frames')}</p>"),
            "/in": f"<!DOCTYPE html><body>{make.text('frame', selector='iframe')}"}


def _other_site(make: _Maker) -> Files:
    return {"/": page("<iframe src=OTHER/in width=600 height=120></iframe>"),
            "/in": f"<!DOCTYPE html><body>{make.text('frame of another site', selector='iframe')}"}


def _shadow(make: _Maker) -> Files:
    one, two = make.text("shadow root", selector="#open"), make.text("closed shadow root", selector="#closed")
    return {"/": page("<p id=open></p><p id=closed></p>", script=f"""
        document.querySelector('#open').attachShadow({{mode: 'open'}}).innerHTML = `{one}`;
        document.querySelector('#closed').attachShadow({{mode: 'closed'}}).innerHTML = `{two}`""")}


def _pixels(make: _Maker) -> Files:
    """The script that paints has the text in two parts, as one that decodes or gets it would."""
    first = len(make.scene.canaries)
    value = make.value("canvas", "email")
    half = len(value) // 2
    painted = (f"const x = c{first}.getContext('2d'); x.font = '18px sans-serif'; "
               f"x.fillText('{value[:half]}' + '{value[half:]}', 8, 30)")
    return {"/": page(f"<canvas id=c{first} width=500 height=44></canvas><p><img id=c{first + 1} src=/a.png></p>"
                      f"<p><img id=c{first + 2} src=/a.svg width=500></p>", script=painted),
            "/a.png": ("image/png", _drawn(make.value("png image", "phone"))),
            "/a.svg": ("image/svg+xml", (
                "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 500 40'><text x='4' y='28' font-size='20' "
                f"font-family='sans-serif'>{make.value('svg image', 'card')}</text></svg>").encode())}


def _drawn(text: str) -> bytes:
    picture = Image.new("RGB", (500, 44), "white")
    ImageDraw.Draw(picture).text((8, 8), text, "black", ImageFont.load_default(22))
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _attributes(make: _Maker) -> Files:
    named = lambda place, kind="": (len(make.scene.canaries), make.value(place, kind))  # noqa: E731
    body = ""
    for place, markup in (
            ("placeholder", "<input id=c{0} size=60 placeholder='{1}'>"),
            ("value", "<input id=c{0} size=60 value='{1}'>"),
            ("title", "<i id=c{0} title='{1}'>owner</i>"), ("alt text", "<img id=c{0} src=/none.png alt='{1}'>"),
            ("option", "<select id=c{0} size=2><option>none</option><option>{1}</option></select>"),
            ("closed select", "<select id=c{0}><option selected>{1}</option></select>"),
            ("label of an option",
             "<select id=c{0} size=2><option>none</option><option label='{1}'></option></select>"),
            ("label of a group",
             "<select id=c{0} size=3><optgroup label='{1}'><option>x</option></optgroup></select>"),
            ("button", "<input type=button id=c{0} value='{1}'>"),
            ("text area", "<textarea id=c{0} cols=60>{1}</textarea>"),
            ("drawing", "<svg width=500 height=30><text id=c{0} y=20>{1}</text></svg>"),
            ("editable", "<div contenteditable><span id=c{0}>{1}</span></div>")):
        body += f"<div>{markup.format(*named(place))}</div>"
    return {"/": page(body)}


def _popup(make: _Maker) -> Files:
    make.scene.popup = "#open"
    return {"/": page(f"<p>{make.text('text')}</p><button id=open onclick=\"open('/pop', '', 'width=500,height=400')\">"
                      "Details</button>"),
            "/pop": page(f"<p>{make.text('popup', 'iban', selector='popup')}</p>")}


def _pushed(make: _Maker) -> Files:
    return {"/": page(f"<p id=push></p><p>{make.text('pushed while pressed')}</p>"
                      f"<p>{make.text('pushed while pressed')}</p>",
                      script="for (const kind of ['mousedown', 'mousemove']) addEventListener(kind, () => {"
                             "push.style.height = (parseInt(push.style.height || 0) + 70) % 350 + 'px' }, true)")}


_BOXES = {
    "out of its box": "display:block;width:30px;white-space:nowrap",
    "left of its box": "display:block;margin-left:420px;text-indent:-380px;width:400px",
    "below its box": "display:block;height:0;width:300px;margin-bottom:40px",
    "transform": "display:inline-block;transform:translate(180px,20px) rotate(3deg)",
}
_OUT_OF_SIGHT = "position:absolute;height:10px;width:10px;left:0;top:2400px"
_FROM_OUT_OF_SIGHT = {"above its parent": "position:absolute;top:-1960px;left:60px;white-space:nowrap",
                      "fixed, from out of sight": "position:fixed;top:500px;left:60px;white-space:nowrap"}


def _boxes(make: _Maker) -> Files:
    """Text that its element's box does not tell of, or that stands where nothing around it is."""
    body = f"<p>{make.text('display: contents', style='display:contents', selector='p')}</p>"
    body += "".join(f"<p>{make.text(place, style=style)}</p>" for place, style in _BOXES.items())
    body += "".join(f"<div style='{_OUT_OF_SIGHT}'><div>{make.text(place, style=style)}</div></div>"
                    for place, style in _FROM_OUT_OF_SIGHT.items())
    return {"/": page(body)}


def _pseudo(make: _Maker) -> Files:
    number = len(make.scene.canaries)
    return {"/": page(f"<p id=c{number} data-mail='{make.value('pseudo-element', 'email')}'>Mail </p>"
                      f"<p>{make.text('text beside a pseudo-element')}</p>",
                      "[data-mail]::after { content: attr(data-mail) }")}


def _split(make: _Maker) -> Files:
    def parts(place: str, kind: str, between: str) -> str:
        number = len(make.scene.canaries)
        value = make.value(place, kind)
        return f"<p id=c{number}>{between.join((value[:6], value[6:10], value[10:]))}</p>"

    return {"/": page(parts("split by elements", "email", "<i></i>") + parts("split by elements", "card", "<wbr>")
                      + parts("split by elements", "iban", "<span></span>"))}


def _sign_in(make: _Maker) -> Files:
    scene = make.scene
    scene.password = f"Kite-{make._rng.randrange(10**6):06d}-x"
    scene.canaries.append(Canary("password", scene.password, "password that the page repeats", "#echo"))
    return {"/": "<!DOCTYPE html><form action=/two><label>Password <input type=password id=p name=p></label>"
                 "<button id=go>Go</button><p id=echo></p></form><script>p.oninput = () => "
                 "{ echo.textContent = 'Your password: ' + p.value }</script>",
            "/two": page(f"<p>Welcome</p><p>{make.text('text', selector='popup')}</p>")}


def _notes(make: _Maker) -> Files:
    """What was typed as a secret in the session `sign in`."""
    number = len(make.scene.canaries)
    make.scene.canaries.append(Canary("password", SECRET_OF_SIGN_IN, "secret of another session", f"#c{number}"))
    return {"/": page(f"<p>The account is ada, <b id=c{number}>{SECRET_OF_SIGN_IN}</b>, as ever.</p>")}


SECRET_OF_SIGN_IN = "@secret@"  # stands for the password of the scene `sign in`, as that is not made yet
_SCENES: dict[str, Callable[[_Maker], Files]] = {
    "far": _far, "smooth": _smooth, "zoomed": _zoomed, "sticky": _sticky, "frames": _frames,
    "other site": _other_site, "shadow": _shadow, "pixels": _pixels, "attributes": _attributes, "popup": _popup,
    "pushed": _pushed, "boxes": _boxes, "pseudo": _pseudo, "split": _split, "sign in": _sign_in, "notes": _notes}


def scenes(seed: int) -> list[Scene]:
    """All scenes."""
    made = []
    for name, write in _SCENES.items():
        scene = Scene(name)
        scene.files = write(_Maker(scene, random.Random(f"{seed} {name}")))
        made.append(scene)
    secret = next(scene.password for scene in made if scene.password)
    for scene in made:
        scene.files = {path: content.replace(SECRET_OF_SIGN_IN, secret) if isinstance(content, str) else content
                       for path, content in scene.files.items()}
        scene.canaries = [Canary(each.kind, each.value.replace(SECRET_OF_SIGN_IN, secret), each.place, each.selector)
                          for each in scene.canaries]
    return made

