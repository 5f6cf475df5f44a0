"""The application that drivers use: one page of two origins with all kinds of controls, a second page, a popup."""

from tests.support.services.site import Site

_STYLE = "<style>body { font: 15px sans-serif } label { display: block; margin: 4px } .box { display: inline-block; " \
         "width: 90px; height: 40px; border: 1px solid }</style>"
_FORM = """<!DOCTYPE html><title>Order</title>{style}<h1>Order</h1><form onsubmit="event.preventDefault()">
<label>Name <input id=name></label><label>Email <input id=email type=email></label>
<label>Note <textarea id=note></textarea></label>
<label>Colour <select id=colour><option value=r>Red<option value=g>Green<option value=b>Blue</select></label>
<label>Day <input id=day type=date></label>
<label>Brightness <input id=bright type=range min=0 max=10 value=5></label>
<label><input id=gift type=checkbox> Gift</label>
<label><input id=fast type=radio name=speed> Fast</label><label><input id=slow type=radio name=speed> Slow</label>
<label>Picture <input id=picture type=file></label><button id=send type=submit>Send</button></form>
<button id=count onclick="this.dataset.n = 1 + +(this.dataset.n ?? 0)">Count</button>
<button id=ask onclick="setTimeout(() => confirm('Sure?'))">Ask</button>
<div id=host></div><div id=source class=box draggable=true>Drag me</div><div id=target class=box>Target</div>
<a id=next href=/next>Next page</a>
<iframe src="{other}/frame" width=400 height=120></iframe>
<div style="height:900px"></div><button id=foot>Bottom</button>
<script>host.attachShadow({{ mode: 'open' }}).innerHTML = '<button id=inner>Shadow</button>';
source.ondragstart = event => event.dataTransfer.setData('text', 'x');
target.ondragover = event => event.preventDefault();
target.ondrop = event => {{ event.preventDefault(); target.textContent = 'Dropped' }}</script>"""
_FRAME = f"<!DOCTYPE html>{_STYLE}<label>City <input id=city></label><button id=pay>Pay</button>"
_NEXT = f"<!DOCTYPE html><title>Next</title>{_STYLE}<h1>Next</h1><button id=ok>OK</button>"


def application() -> Site:
    """Serve the application on loopback; `close` ends it."""
    site = Site({"/frame": _FRAME, "/next": _NEXT})
    site.pages["/"] = _FORM.format(style=_STYLE, other=site.other_origin)
    return site
