"""Small pages made by rules from a seed, whose appearance is held by other means than tags, attributes and text.

Each piece is one row of the table in docs/format.md ("Appearance"), with random sizes, colours and order, in the
document, a shadow root, a frame of the same origin or of another.
"""

import random
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

Files = dict[str, tuple[str, bytes]]
WHERE = ("document", "shadow root", "frame", "frame of another origin")
_COLORS = ("crimson", "teal", "gold", "navy", "orchid", "olive", "sienna", "darkorange", "slateblue", "seagreen")


@dataclass
class Piece:
    """A part of a page. `css`: of its sheet; `script`: makes its state, in a function with `root` (document or shadow
    root), `$` (finds in it), `sheet` (its style element's); `wait` may be called for what takes time."""

    html: str
    css: str = ""
    script: str = ""
    files: Files = field(default_factory=dict)


class _Random(random.Random):
    def color(self) -> str:
        return self.choice(_COLORS)

    def size(self) -> int:
        """Pixels of a side."""
        return self.randrange(40, 240)


def _box(rng: _Random, name: str) -> str:
    return f"<p class={name}>{' '.join(rng.choices(('alpha', 'beta', 'gamma', 'delta'), k=4))}</p>"


def _rule_changed(rng: _Random, name: str) -> Piece:
    return Piece(_box(rng, name), f".{name} {{ background: {rng.color()}; height: 40px }}",
                 f"sheet.cssRules[0].style.background = '{rng.color()}'; sheet.cssRules[0].style.height = "
                 f"'{rng.size()}px'")


def _rule_among_many(rng: _Random, name: str) -> Piece:
    count = rng.randrange(50, 900)
    rules = "".join(f".{name}-{number} {{ margin: {number}px }}\n" for number in range(count))
    at = rng.randrange(count)
    return Piece(_box(rng, name), rules, f"sheet.deleteRule({at}); sheet.insertRule("
                 f"'.{name} {{ background: {rng.color()}; padding: 20px }}', {at})")


def _variable(rng: _Random, name: str) -> Piece:
    return Piece(_box(rng, name), f":root, :host {{ --{name}: 30px }} .{name} {{ height: var(--{name}); "
                 f"background: {rng.color()} }}",
                 f"sheet.cssRules[0].style.setProperty('--{name}', '{rng.size()}px')")


def _sheet_off(rng: _Random, name: str) -> Piece:
    return Piece(_box(rng, name), f".{name} {{ background: {rng.color()}; height: {rng.size()}px }}",
                 rng.choice(("sheet.disabled = true", "sheet.media.mediaText = 'print'")))


def _link_changed(rng: _Random, name: str) -> Piece:
    css = f".{name} {{ background: {rng.color()}; height: {rng.size()}px }}\n.{name} {{ color: white }}"
    script = rng.choice((f"sheet.insertRule('.{name} {{ border: 20px solid {rng.color()} }}', 2)",
                         "sheet.deleteRule(0)", "sheet.disabled = true",
                         f"sheet.cssRules[0].style.height = '{rng.size()}px'"))
    return Piece(f"<link rel=stylesheet href=/{name}.css>{_box(rng, name)}", "",
                 f"await loaded('link'); const sheet = $('link').sheet; {script}",
                 {f"/{name}.css": ("text/css", css.encode())})


def _adopted(rng: _Random, name: str) -> Piece:
    flag = rng.choice(("", ", { media: 'print' }", ", { disabled: true }", ""))
    return Piece(_box(rng, name), f".{name} {{ background: {rng.color()}; height: 50px }}",
                 f"const own = new CSSStyleSheet({flag[2:] or '{}'}); own.replaceSync('.{name} {{ background: "
                 f"{rng.color()}; height: {rng.size()}px }}'); root.adoptedStyleSheets = "
                 "[...root.adoptedStyleSheets, own]")


def _siblings(rng: _Random, name: str) -> Piece:
    parts = [rng.choice(("<p>text</p>", "<script></script>", "<noscript>n</noscript>", "<p>other</p>",
                         "<link itemprop=a href=/none>")) for _ in range(rng.randrange(4, 9))]
    rule = rng.choice(("p:last-child", "p:nth-child(odd)", "p + p", "script + p", "p:nth-last-child(2)"))
    return Piece(f"<section class={name}>{''.join(parts)}</section>",
                 f".{name} {rule} {{ background: {rng.color()}; height: {rng.size()}px }}")


def _states(rng: _Random, name: str) -> Piece:
    element = f"x-{name}"
    return Piece(f"<{element}>state</{element}><y-{name}>undefined</y-{name}>",
                 f"{element}, y-{name} {{ display: block; height: 20px }} {element}:state(busy) {{ background: "
                 f"{rng.color()}; height: {rng.size()}px }} y-{name}:not(:defined) {{ background: {rng.color()} }} "
                 f"{element}:defined {{ color: white }}",
                 f"customElements.define('{element}', class extends HTMLElement {{ constructor() {{ super(); "
                 "this.inner = this.attachInternals() } }); customElements.upgrade($('" + element + "'));"
                 f"$('{element}').inner.states.add('busy')")


def _indeterminate(rng: _Random, name: str) -> Piece:
    return Piece(f"<input type=checkbox class={name} {rng.choice(('', 'checked'))}>",
                 f".{name}:indeterminate {{ outline: {rng.randrange(5, 20)}px solid {rng.color()}; margin: 30px }}",
                 f"$('.{name}').indeterminate = true")


def _slots(rng: _Random, name: str) -> Piece:
    order = rng.sample(range(3), 2)
    return Piece(f"<div class={name}><b>one</b><b>two</b><b>three</b></div>", f".{name} {{ font-size: 30px }}",
                 f"const h = $('.{name}'), r = h.attachShadow({{ mode: 'open', slotAssignment: 'manual' }});"
                 f"r.innerHTML = '<p style=\"background: {rng.color()}\"><slot></slot></p>';"
                 "r.querySelector('slot').assign("
                 f"h.children[{order[0]}], h.children[{order[1]}])")


def _animation(rng: _Random, name: str) -> Piece:
    end = rng.choice(("a.finish()", f"a.pause(); a.currentTime = {rng.randrange(100, 900)}"))
    return Piece(_box(rng, name), f".{name} {{ background: {rng.color()}; width: 50px; overflow: hidden }}",
                 f"const a = $('.{name}').animate([{{ width: '50px', height: '20px' }}, {{ width: "
                 f"'{rng.size() * 2}px', height: '{rng.size()}px', background: '{rng.color()}' }}], "
                 f"{{ duration: 1000, fill: 'forwards' }}); {end}")


def _property(rng: _Random, name: str) -> Piece:
    return Piece(_box(rng, name), f".{name} {{ background: {rng.color()}; height: var(--registered-{name}) }}",
                 f"CSS.registerProperty({{ name: '--registered-{name}', syntax: '<length>', inherits: "
                 f"{rng.choice(('true', 'false'))}, initialValue: '{rng.size()}px' }})")


def _selection(rng: _Random, name: str) -> Piece:
    if rng.random() < 0.5:
        return Piece(_box(rng, name), f".{name} {{ font-size: 30px }} ::highlight({name}) {{ "
                     f"background: {rng.color()}; color: white }}", f"const r = new Range();"
                     f"r.setStart($('.{name}').firstChild, 1); r.setEnd("
                     f"$('.{name}').firstChild, 12); CSS.highlights.set('{name}', new Highlight(r))")
    return Piece(_box(rng, name), f".{name} {{ font-size: 30px }}",
                 f"if (root === document) getSelection().setBaseAndExtent($('.{name}').firstChild, 2, $('.{name}')"
                 ".firstChild, 14)")


def _blob_picture(rng: _Random, name: str) -> Piece:
    kind = rng.choice(("img", "background"))
    show = ("$('img').src = url; await $('img').decode()" if kind == "img" else
            f"const i = new Image(); i.src = url; await i.decode(); $('.{name}').style.background = `url(${{url}})`")
    return Piece(f"<p class={name}>text <img></p>", f".{name} {{ min-height: {rng.size()}px }}",
                 f"const c = document.createElement('canvas'); c.width = c.height = {rng.size()}; const x = "
                 f"c.getContext('2d'); x.fillStyle = '{rng.color()}'; x.fillRect(0, 0, 60, 90); const url = "
                 f"URL.createObjectURL(await new Promise((d) => c.toBlob(d))); {show}")


def _sprite(rng: _Random, name: str) -> Piece:
    file = (f'<svg xmlns="http://www.w3.org/2000/svg"><symbol id="a" viewBox="0 0 10 10"><circle cx="5" cy="5" r="5" '
            f'fill="{rng.color()}"/></symbol><symbol id="b" viewBox="0 0 10 10"><path d="M0 0h10v5z"/></symbol></svg>')
    size = rng.size()
    return Piece("".join(f"<svg width={size} height={size} fill={rng.color()}><use "
                         f"href='/{name}.svg#{part}'></use></svg>"
                         for part in rng.choices("ab", k=3)), files={f"/{name}.svg": ("image/svg+xml", file.encode())})


def _typed_attribute(rng: _Random, name: str) -> Piece:
    return Piece(f"<p class={name} data-w={rng.size()}px>text</p>",
                 f".{name} {{ background: {rng.color()}; height: attr(data-w type(<length>), 5px) }}")


def _popover(rng: _Random, name: str) -> Piece:
    return Piece(f"<div popover=manual class={name}>Popover</div>",
                 f".{name} {{ inset: auto; left: {rng.randrange(400)}px; top: {rng.randrange(100, 400)}px; width: "
                 f"{rng.size()}px; height: {rng.size()}px; background: {rng.color()} }}", f"$('.{name}').showPopover()")


def _scrolled(rng: _Random, name: str) -> Piece:
    lines = "".join(f"<p>line {number}</p>" for number in range(40))
    return Piece(f"<div class={name}>{lines}</div>", f".{name} {{ height: {rng.size()}px; overflow: auto }}",
                 f"$('.{name}').scrollTop = {rng.randrange(900)}")


def _canvas(rng: _Random, name: str) -> Piece:
    return Piece(f"<canvas class={name} width=200 height={rng.size()}></canvas>", "",
                 f"const x = $('.{name}').getContext('2d'); x.fillStyle = '{rng.color()}'; x.fillRect(0, 0, 90, 90)")


def _picture(rng: _Random, name: str) -> Piece:
    rgb = bytes(rng.randrange(256) for _ in range(3))
    return Piece(f"<img src=/{name}.png width={rng.size()} height=60>", files={f"/{name}.png": ("image/png", png(rgb))})


def _invalid(rng: _Random, name: str) -> Piece:
    return Piece(f"<form class={name}><input required></form>",
                 f".{name} input:user-invalid {{ background: {rng.color()}; outline: 15px solid {rng.color()} }} "
                 f".{name} {{ padding: 20px }}", f"$('.{name}').requestSubmit(); document.activeElement.blur()")


KINDS: dict[str, Callable[[_Random, str], Piece]] = {
    function.__name__.strip("_").replace("_", " "): function for function in (
        _rule_changed, _rule_among_many, _variable, _sheet_off, _link_changed, _adopted, _siblings, _states,
        _indeterminate, _slots, _animation, _property, _selection, _blob_picture, _sprite, _typed_attribute, _popover,
        _scrolled, _canvas, _picture, _invalid)}
PAINT = """registerPaint("stripes", class { paint(context, { width, height }) {
  for (let y = 0; y < height; y += 8) context.fillRect(0, y, width, 4);
} });"""
# What is not kept: a rendered page looks different, and the product has to say so.
FAULTS = {
    "paint worklet": "<style>html { background: paint(stripes) }</style><script>CSS.paintWorklet.addModule('/paint.js')"
                     "</script>",
    "animation": "<style>@keyframes grow { to { background-position: 900px } } html { animation: grow 9s linear "
                 "infinite; background: repeating-linear-gradient(45deg, red 0 4px, white 4px 8px) }</style>",
}


def png(rgb: bytes, size: int = 8) -> bytes:
    """A square picture of one colour."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + rgb * size for _ in range(size))
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def make_page(seed: int, fault: str = "") -> tuple[dict[str, str], Files, list[str]]:
    """A page by file name (`page`, and `inner` where it has a frame), its files, and the names of what it contains.

    `ORIGIN` in it is to be replaced by another origin of the same files. `fault`: one of FAULTS.
    """
    rng = _Random(seed)
    where = rng.choice(WHERE)
    kinds = rng.sample(list(KINDS), rng.randrange(1, 4))
    pieces = [KINDS[kind](rng, f"k{seed}-{number}") for number, kind in enumerate(kinds)]
    files = {path: content for piece in pieces for path, content in piece.files.items()}
    body = "".join(f"<div>{f'<style>{piece.css}</style>' if piece.css else ''}{piece.html}</div>" for piece in pieces)
    scripts = "".join(_script(number, piece) for number, piece in enumerate(pieces))
    in_root = where == "shadow root"
    page = _PAGE.replace("BODY", _IN_ROOT if in_root else "<main>MAIN</main>").replace("MAIN", body).replace(
        "ROOT", _SHADOW_ROOT if in_root else "const root = document;").replace("SCRIPTS", scripts).replace(
        "FAULT", FAULTS.get(fault, ""))
    if not where.startswith("frame"):
        return {"page": page.replace("BUTTON", _BUTTON)}, files, [where, *kinds]
    origin = "ORIGIN" if where == WHERE[-1] else ""
    outer = _OUTER.replace("BUTTON", _BUTTON).replace("SOURCE", f"{origin}/inner-{seed}.html")
    return {"page": outer, "inner": page.replace("BUTTON", "")}, files, [where, *kinds]


def _script(number: int, piece: Piece) -> str:
    sheet = "" if "const sheet" in piece.script or not piece.css else "const sheet = $('style').sheet;"
    return (f"await (async () => {{ const $ = (q) => root.querySelectorAll('main > div')[{number}].querySelector(q); "
            f"{sheet} {piece.script} }})();")


_BUTTON = "<div><button id=go>Go</button></div>"
_PAGE = """<!DOCTYPE html><meta charset=utf-8><title>t</title>
<style>body { font: 16px sans-serif; margin: 8px } p { margin: 4px }</style>FAULT BUTTON BODY <script>
window.pending = true;
const loaded = async () => {
  while (document.readyState !== 'complete') await new Promise((done) => setTimeout(done, 20));
};
(async () => { ROOT SCRIPTS })().catch((error) => { window.failed = String(error) }).finally(() => {
  window.pending = false;
});
</script>"""
_IN_ROOT = "<x-host></x-host><template><main>MAIN</main></template>"
_SHADOW_ROOT = """const root = document.querySelector('x-host').attachShadow({ mode: 'open' });
root.append(document.querySelector('template').content);"""
_OUTER = """<!DOCTYPE html><meta charset=utf-8><title>t</title>BUTTON
<iframe src=SOURCE width=760 height=480></iframe>"""
