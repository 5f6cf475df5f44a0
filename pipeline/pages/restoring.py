"""Restores the state of a rendered page: mode of frames, scroll offsets, the target of its address, the focus, and
content painted by scripts in the top layer.

HTML alone cannot tell any of it (a document in `srcdoc` is in no quirks mode, whatever its doctype), so each rendered
document ends with a script (`restoring.js`), ours and always the same, which is allowed by its digest; no other is. The
focus is given only where the page is shown for itself: inside a page of ours it would be taken from who works there.
"""

import base64
import hashlib
import html
from pathlib import Path

SCRIPT = (Path(__file__).parent / "restoring.js").read_text(encoding="utf-8").strip()
CSP_SOURCE = f"'sha256-{base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()}'"
# What a rendered page may do (Content Security Policy): run that script and show what is in it. It carries this itself.
POLICY = (f"default-src 'none'; script-src {CSP_SOURCE}; style-src 'unsafe-inline'; img-src data:; font-src data:; "
          "form-action 'none'; base-uri 'none'")
POLICY_ATTRIBUTES = {"http-equiv": "Content-Security-Policy", "content": POLICY}
POLICY_ELEMENT = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
HIDDEN = "display:none!important"
# Source of a function that resolves when a loaded page and its frames stand as they stood.
PAGE_READY = """() => Promise.all((function all(scope) {
  const { get } = Object.getOwnPropertyDescriptor(scope.Document.prototype, "fonts");
  return [get.call(scope.document).ready, ...Array.from(scope.frames, all).flat()];
})(window))"""


def rules(svg: bool = False) -> str:
    """Style elements of ours, for the beginning of a document; `svg`: for an SVG document, which has no margins."""
    drawn = "html,body{margin:0!important;height:100%}body>svg{display:block}" if svg else ""
    return f"<style>html,body{{scroll-behavior:auto!important}}{drawn}</style>"


def tag(fragment: str) -> str:
    """The script's element for a document whose address ends with `#` and this fragment; going there takes no time."""
    return f'<script data-fragment="{html.escape(fragment)}">{SCRIPT}</script>'
