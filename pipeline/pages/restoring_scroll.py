"""What a rendered page needs at last to stand as it stood: its scroll offsets, and the target of its address.

HTML alone cannot tell either, so each rendered document ends with a script, ours and always the same. Whoever shows the
page allows this one by its digest (`CSP_SOURCE`) and no other.
"""

import base64
import hashlib
import html

SCRIPT = """{
  const { fragment } = document.currentScript.dataset;
  const place = (element, left, top) => {
    element.scrollTo({ left, top, behavior: "instant" });
    // A frame that was in quirks mode is none from now on: what its body scrolled, the document does.
    const moved = element.scrollLeft || element.scrollTop || !(left || top);
    if (element === document.body && !moved) document.scrollingElement.scrollTo(left, top);
  };
  const placeAll = (scope) => {
    for (const element of scope.querySelectorAll("*")) {
      const offsets = element.getAttribute("data-demotape-scroll");
      if (offsets) place(element, ...offsets.split(",").map(Number));
      if (element.shadowRoot) placeAll(element.shadowRoot);
    }
  };
  if (fragment) {
    location.replace("#" + fragment);
    for (let at = document.querySelector(":target"); at; at = at.parentElement) place(at, 0, 0);
  }
  placeAll(document);
  addEventListener("load", () => Promise.resolve(document.fonts.ready).then(() => placeAll(document)));
}"""
CSP_SOURCE = f"'sha256-{base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()}'"
# Source of a function that resolves when a loaded page and its frames stand as they stood.
PAGE_READY = """() => Promise.all((function all(scope) {
  return [scope.document.fonts.ready, ...Array.from(scope.frames, all).flat()];
})(window))"""


def tag(fragment: str) -> str:
    """The script's element for a document whose address ends with `#` and this fragment; going there takes no time."""
    return ("<style>html,body{scroll-behavior:auto!important}</style>"
            f'<script data-fragment="{html.escape(fragment)}">{SCRIPT}</script>')
