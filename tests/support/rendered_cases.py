"""Pages whose appearance is held by other means than tags, attributes and text: the table of docs/format.md as pages.

Each has a script that makes the state, and an expression that has the same value in the page and in its rendered state.
"""

from typing import NamedTuple

HEAD = "<!DOCTYPE html><meta charset=utf-8><title>t</title>"
SHEET = "#w{color:rgb(1,2,3);font:30px/60px sans-serif} p{background:gold;margin:0}"
COLOR = "getComputedStyle(w).color + getComputedStyle(w).backgroundColor + getComputedStyle(w).display"
RED = "#w{color:red;background:blue;padding:30px}"


class Case(NamedTuple):
    """A page's body and what to compare; `window.pending` is true until its state is reached.

    `files`: other addresses of the site, (content type, content).
    """

    body: str
    value: str = COLOR
    files: dict[str, tuple[str, bytes]] = {}


def _style(script: str, sheet: str = SHEET) -> Case:
    return Case(f"<style id=s>{sheet}</style><p id=w>Some text</p><script>{script}</script>")


def _link(script: str, before: str = "") -> Case:
    return Case(f"{before}<link id=s rel=stylesheet href=/s.css><p id=w>Some text</p><script>{script}</script>",
                files={"/s.css": ("text/css", SHEET.encode()), "/t.css": ("text/css", RED.encode())})


def _adopted(script: str, style: str = "", scope: str = "document") -> Case:
    return Case(f"<p id=w>Some text</p>{style}<script>const sheet = new CSSStyleSheet(); sheet.replaceSync('{RED}');"
                f"{scope}.adoptedStyleSheets = [sheet]; {script}</script>")


_SHADOW = """<x-h id=h></x-h><script>const root = h.attachShadow({ mode: 'open' });
const sheet = new CSSStyleSheet(); sheet.replaceSync('#w{color:red;background:blue;padding:30px}');
root.innerHTML = `%s`; root.adoptedStyleSheets = [sheet]; %s</script>"""
_IN_SHADOW = COLOR.replace("(w)", "(h.shadowRoot.getElementById('w'))")

SHEETS = {
    "rule-changed-in-place": _style("s.sheet.cssRules[0].style.color = 'red';"
                                    "s.sheet.cssRules[1].style.background = 'lime'"),
    "theme-variable": _style("s.sheet.cssRules[0].style.setProperty('--c', 'red')",
                             ":root{--c:blue} p{background:var(--c)}"),
    "rule-of-many-changed": _style("s.sheet.cssRules[1500].style.background = 'red'",
                                   "".join(f".c{number}{{color:red}}" for number in range(1500)) + SHEET),
    "rule-in-media-changed": _style("s.sheet.cssRules[0].cssRules[0].style.background = 'red'",
                                    "@media screen{p{background:gold}}"),
    "rule-deleted": _style("s.sheet.deleteRule(1)"),
    "rule-replaced": _style("s.sheet.deleteRule(1); s.sheet.insertRule('p{background:lime}', 1)"),
    "rule-inserted": _style(f"s.sheet.insertRule('{RED}', 2)"),
    "selector-changed": _style("s.sheet.cssRules[1].selectorText = 'q'"),
    "sheet-disabled": _style("s.sheet.disabled = true"),
    "style-disabled": _style("s.disabled = true"),
    "media-changed": _style("s.sheet.media.mediaText = 'print'"),
    "media-given-up": Case(f"<style id=s media=print>{SHEET}</style><p id=w>Text</p><script>"
                           "s.sheet.media.mediaText = 'screen'</script>"),
    "all-rules-by-script": _style(f"s.sheet.insertRule('{RED}')", ""),
    "link-rule-inserted": _link(f"s.sheet.insertRule('{RED}', 2)"),
    "link-rule-changed": _link("s.sheet.cssRules[1].style.background = 'lime'"),
    "link-rule-deleted": _link("s.sheet.deleteRule(1)"),
    "link-sheet-disabled": _link("s.sheet.disabled = true"),
    "link-disabled": _link("s.disabled = true"),
    "link-enabled": _link("document.querySelector('#t').disabled = false",
                          "<link id=t rel='alternate stylesheet' disabled title=b href=/t.css>"),
    "link-alternate": _link("", "<link rel='alternate stylesheet' title=b href=/t.css>"),
    "link-alternate-chosen": Case("<link id=s rel=stylesheet title=a href=/s.css><link id=t rel='alternate stylesheet' "
                                  "title=b href=/t.css><p id=w>Text</p><script>onload = () => { s.disabled = true; "
                                  "t.disabled = true; t.disabled = false }</script>",
                                  files={"/s.css": ("text/css", SHEET.encode()), "/t.css": ("text/css", RED.encode())}),
    "style-of-another-title": Case(f"<style title=a>{SHEET}</style><style title=b>{RED}</style><p id=w>Text</p>"),
    "adopted": _adopted(""),
    "adopted-above-a-later-style": _adopted("", f"<style>{SHEET}</style>"),
    "adopted-in-order": _adopted(f"const t = new CSSStyleSheet(); t.replaceSync('{SHEET}');"
                                 "document.adoptedStyleSheets = [sheet, t]"),
    "adopted-disabled": _adopted("sheet.disabled = true"),
    "adopted-for-print": _adopted("const t = new CSSStyleSheet({ media: 'print' }); t.replaceSync('p{background:red}');"
                                  "document.adoptedStyleSheets = [sheet, t]"),
    "adopted-rule-replaced": _adopted("pending = true; setTimeout(() => { pending = false; sheet.replaceSync("
                                      "'#w{color:lime;background:green}') }, 300)"),
    "adopted-rule-replaced-behind-a-long-one": _adopted(
        "pending = true; setTimeout(() => { pending = false; sheet.replaceSync("
        "'#w{color:lime;background:green}') }, 300)",
        "<style>q{" + "".join(f"--v{number}:{number};" for number in range(20000)) + "}</style>"),
    "adopted-in-a-root": Case(_SHADOW % ("<p id=w>Some text</p>", ""), _IN_SHADOW),
    "adopted-above-a-style-in-a-root": Case(_SHADOW % (f"<style>{SHEET}</style><p id=w>Some text</p>", ""), _IN_SHADOW),
    "adopted-in-document-and-root": Case(_SHADOW % ("<p id=w>Some text</p>",
                                                    "document.adoptedStyleSheets = [sheet]"), _IN_SHADOW),
    "style-in-a-root-changed": Case(
        _SHADOW % (f"<style>{SHEET}</style><p id=w>Some text</p>", "root.adoptedStyleSheets = [];"
                   "root.querySelector('style').sheet.cssRules[1].style.background = 'lime'"), _IN_SHADOW),
    "style-in-svg-changed": Case("<svg width=200 height=99><style id=s>rect{fill:gold}</style><rect id=w width=99 "
                                 "height=99></rect></svg><script>s.sheet.cssRules[0].style.fill = 'red'</script>",
                                 "getComputedStyle(w).fill"),
}

SIBLINGS = {
    "last-child-before-a-script": Case(
        "<style>div>p:last-child{color:red;font-size:40px} p+p{margin-top:50px} "
        "i:nth-child(odd){background:lime}</style>"
        "<div><p id=w>x</p><script>0</script></div><div><p>1</p><script>0</script><p "
        "id=z>2</p></div><b><i>a</i><script>"
        "</script><i id=y>b</i><noscript>x</noscript><i>c</i></b>",
        f"{COLOR} + getComputedStyle(z).marginTop + getComputedStyle(y).backgroundColor"),
    "last-child-of-the-body": Case(
        "<style>body>p:last-child{color:red;font-size:60px}</style><div>x</div><script>document.addEventListener("
        "'DOMContentLoaded', () => { const p = document.createElement('p'); p.id = 'w'; p.append('last'); "
        "document.body.append(p) })</script>"),
    "links-between": Case("<style>p+p{margin-top:90px} main :nth-child(3){background:lime}</style><main><p>1</p>"
                          "<link itemprop=a href=/x><p id=w>2</p></main>", f"{COLOR} + getComputedStyle(w).marginTop"),
    "flex-with-a-script": Case("<div style='display:flex;gap:90px'><p>a</p><noscript>x</noscript><script>0</script>"
                               "<p id=w>b</p></div>", "w.getBoundingClientRect().x"),
    "first-of-type-of-script": Case("<style>script:first-of-type ~ p{background:lime} script:last-of-type + "
        "p{color:red}"
                                    "</style><section><script>0</script><script>0</script><p id=w>x</p></section>"),
}

_STATES = """<style>x-s{display:inline-block;padding:30px;background:gold} x-s:state(on){background:red}
x-s:not(:defined){display:none} x-u:not(:defined){background:lime;display:block;height:60px}</style><x-s id=w>x</x-s>
<x-u>u</x-u><x-v>v</x-v><script>customElements.define('x-s', class extends HTMLElement {
  constructor() { super(); this.i = this.attachInternals(); }
  connectedCallback() { this.i.states.add('on'); }
});</script>"""
_SLOTS = """<x-m id=h><b>one</b><b id=w>two</b><b>three</b></x-m><script>const root = h.attachShadow({ mode: 'open',
slotAssignment: 'manual' }); root.innerHTML = '<p style="font-size:40px"><slot></slot></p><i><slot></slot></i>';
root.querySelector('slot').assign(w, h.children[0])</script>"""
_TEXT = "<p id=w style='font-size:40px'>One <b>two</b> three</p>"

STATES = {
    "indeterminate": Case("<style>#w:indeterminate{outline:20px solid red;margin:40px}</style><input "
        "type=checkbox id=w "
                          "checked><script>w.indeterminate = true</script>", "[w.indeterminate, w.checked] + ''"),
    "custom-state-and-defined": Case(_STATES, COLOR),
    "custom-state-in-adopted-sheet": Case(
        "<x-t id=w>Some text</x-t><script>const sheet = new CSSStyleSheet(); sheet.replaceSync("
        "'x-t{display:block;height:90px} x-t:state(busy){background:red}'); document.adoptedStyleSheets = [sheet];"
        "customElements.define('x-t', class extends HTMLElement { constructor() { super(); "
        "this.attachInternals().states.add('busy') } })</script>"),
    "user-invalid": Case("<style>#w:user-invalid{background:red;outline:20px solid red}</style><form>"
                         "<input id=w required></form><script>w.form.requestSubmit()</script>"),
    "manual-slots": Case(_SLOTS, "[...document.querySelectorAll('b')].map((b) => !!b.getClientRects().length) + ''"),
    "animation-ended": Case(
        "<div id=w style='width:10px;height:90px;background:gold'></div><script>pending = true; w.animate([{ "
        "width: '10px' }"
        ", { width: '400px', background: 'red' }], { duration: 50, fill: 'forwards' }).finished.then("
        "() => { pending = false })</script>", f"{COLOR} + w.offsetWidth"),
    "animation-paused": Case(
        "<div id=w style='width:10px;height:90px;background:gold'></div><script>const a = w.animate([{ width: '0px' }, "
        "{ width: '400px' }], 1000); a.pause(); a.currentTime = 500</script>", "w.offsetWidth"),
    "css-animation-paused-by-script": Case(
        "<style>@keyframes k{from{width:0} to{width:400px}} #w{height:90px;background:gold;animation:k 9s "
        "linear}</style>"
        "<div id=w></div><script>const [a] = w.getAnimations(); a.pause(); a.currentTime = 4500</script>",
        "w.offsetWidth"),
    "animation-of-a-pseudo-element": Case(
        "<style>#w::before{content:'x';display:inline-block;height:90px;background:gold}</style><p "
        "id=w></p><script>w.animate("
        "{ width: ['10px', '400px'] }, { duration: 1, fill: 'forwards', pseudoElement: '::before' }).finish()</script>",
        "getComputedStyle(w, '::before').width"),
    "registered-property": Case(
        "<style>#w{width:var(--wide);height:90px;background:gold}</style><p id=w></p><script>CSS.registerProperty({ "
        "name: '--wide', syntax: '<length>', inherits: false, initialValue: '300px' })</script>", "w.offsetWidth"),
    "selection": Case(f"{_TEXT}<script>onload = () => getSelection().setBaseAndExtent(w.firstChild, 1, w.lastChild, 3)"
                      "</script>", "getSelection() + ''"),
    "highlights": Case(
        f"<style>::highlight(find){{background:red;color:white}}</style>{_TEXT}<script>const range = new Range();"
        "range.setStart(w.firstChild, 1); range.setEnd(w.lastChild, 4); CSS.highlights.set('find', new "
        "Highlight(range))"
        "</script>", "[...CSS.highlights].map(([n, h]) => n + [...h]).join()"),
    "typed-values": Case("<style>#w{width:attr(data-w type(<length>), 10px);height:90px;background:gold}</style>"
                         "<div id=w data-w=300px></div>", "w.offsetWidth"),
}

_SPRITE = b"""<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>x</script><defs>
<linearGradient id="g"><stop stop-color="red"/><stop offset="1" stop-color="blue"/></linearGradient></defs>
<symbol id="a" viewBox="0 0 10 10"><rect width="10" height="10" fill="url(#g)"/></symbol>
<symbol id="b" viewBox="0 0 10 10"><circle cx="5" cy="5" r="5"/></symbol></svg>"""
_DRAW = """const c = document.createElement('canvas'); c.width = c.height = 90; const x = c.getContext('2d');
x.fillStyle = 'teal'; x.fillRect(0, 0, 60, 90);"""
_USES = """<svg id=w width=90 height=90><use href='/i.svg#a'></use></svg><svg width=90 height=90>
<use xlink:href='/i.svg#b' fill=green></use></svg><svg width=90 height=90><use href='/i.svg#a'></use></svg>"""

RESOURCES = {
    "sprites": Case(_USES, "w.getBoundingClientRect().width", {"/i.svg": ("image/svg+xml", _SPRITE)}),
    "blob-picture": Case(
        f"<img id=w><script>pending = true; {_DRAW} c.toBlob((b) => {{ w.onload = () => {{ pending = false }};"
        "w.src = URL.createObjectURL(b) })</script>", "w.getBoundingClientRect().width"),
    "blob-background": Case(
        f"<p id=w style='height:90px'></p><script>pending = true; {_DRAW} c.toBlob((b) => {{ const url = "
        "URL.createObjectURL(b); const i = new Image(); i.onload = () => { pending = false }; i.src = url; "
        "w.style.background = `url(${url})` })</script>", "w.offsetHeight"),
    "blob-sheet": Case(
        "<p id=w>Text</p><script>pending = true; const l = document.createElement('link'); l.rel = 'stylesheet'; "
        "l.onload = () => { pending = false }; l.href = URL.createObjectURL(new Blob(["
        "'#w{background:red;height:90px}'], { type: 'text/css' })); document.head.append(l)</script>"),
    "picture-in-memory-only": Case(
        f"<img id=w><p>text beside</p><script>pending = true; {_DRAW} w.onload = () => {{ pending = false; }};"
        "c.toBlob((b) => { const url = URL.createObjectURL(b); w.src = url; w.decode().then(() => "
        "URL.revokeObjectURL(url)) })</script>", "w.getBoundingClientRect().width"),
}


def fonts(font: bytes) -> dict[str, Case]:
    """Cases of fonts that scripts make: of bytes, and of an address; `font`: a file of a font."""
    head = "<p><span id=w style='font:40px Made,serif'>iiiiiiii</span></p><script>pending = true;"
    added = ".load().then((f) => { document.fonts.add(f); pending = false })</script>"
    files = {"/f.ttf": ("font/ttf", font)}
    return {
        "font-of-bytes": Case(f"{head}fetch('/f.ttf').then((r) => r.arrayBuffer()).then((b) => "
                              f"new FontFace('Made', b){added.removesuffix('</script>')})</script>",
                              "w.offsetWidth", files),
        "font-of-an-address": Case(f"{head}new FontFace('Made', 'url(/f.ttf)'){added}", "w.offsetWidth", files),
    }
