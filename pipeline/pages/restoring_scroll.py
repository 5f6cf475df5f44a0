"""What a rendered page needs at last to stand as it stood: its scroll offsets, the target of its address, the focus.

HTML alone cannot tell any of it, so each rendered document ends with a script, ours and always the same, which is
allowed by its digest; no other is. The focus is given only where the page is shown for
itself: inside a page of ours it would be taken from who works there.
"""

import base64
import hashlib
import html

# A page may name an element like a property of its document or of a form, which then hides that: so each is asked for
# where it is defined. A link leads nowhere: who looks at a page would leave it, and the site would learn of it.
SCRIPT = """{
  const own = (of, name) => Object.getOwnPropertyDescriptor(Document.prototype, name).get.call(of);
  const told = (element, name) => Element.prototype.getAttribute.call(element, name);
  const rootOf = (element) => Object.getOwnPropertyDescriptor(Element.prototype, "shadowRoot").get.call(element);
  const allIn = (scope) =>
    (scope === document ? Document : DocumentFragment).prototype.querySelectorAll.call(scope, "*");
  const script = own(document, "currentScript"); // none where it is run from outside
  const fragment = script && told(script, "data-fragment");
  const place = (element, left, top) => {
    Element.prototype.scrollTo.call(element, { left, top, behavior: "instant" });
    // A frame that was in quirks mode is none from now on: what its body scrolled, the document does.
    const moved = element.scrollLeft || element.scrollTop || !(left || top);
    if (element === own(document, "body") && !moved) own(document, "scrollingElement").scrollTo(left, top);
  };
  const alone = () => {
    let at = window;
    while (at.frameElement) at = at.parent;
    return at === top;
  };
  const focusIn = (scope) => {
    for (const element of allIn(scope)) {
      const shown = told(element, "data-demotape-focus");
      if (shown) HTMLElement.prototype.focus.call(element, { preventScroll: true, focusVisible: shown === "visible" });
      if (rootOf(element)) focusIn(rootOf(element));
    }
  };
  const placeAll = (scope) => {
    for (const element of allIn(scope)) {
      const offsets = told(element, "data-demotape-scroll");
      if (offsets) place(element, ...offsets.split(",").map(Number));
      if (rootOf(element)) placeAll(rootOf(element));
    }
  };
  addEventListener("click", (event) => {
    if (event.composedPath().some((each) => ["a", "area"].includes(each.localName))) event.preventDefault();
  }, true);
  if (fragment) {
    location.replace("#" + fragment);
    const target = Document.prototype.querySelector.call(document, ":target");
    for (let at = target; at; at = at.parentElement) place(at, 0, 0);
  }
  placeAll(document);
  if (alone()) focusIn(document);
  addEventListener("load", () => Promise.resolve(own(document, "fonts").ready).then(() => placeAll(document)));
}"""
CSP_SOURCE = f"'sha256-{base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()}'"
# What a rendered page may do (Content Security Policy): run that script and show what is in it. It carries this itself.
POLICY = (f"default-src 'none'; script-src {CSP_SOURCE}; style-src 'unsafe-inline'; img-src data:; font-src data:; "
          "form-action 'none'; base-uri 'none'")
POLICY_ATTRIBUTES = {"http-equiv": "Content-Security-Policy", "content": POLICY}
POLICY_ELEMENT = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
# Source of a function that resolves when a loaded page and its frames stand as they stood.
PAGE_READY = """() => Promise.all((function all(scope) {
  const { get } = Object.getOwnPropertyDescriptor(scope.Document.prototype, "fonts");
  return [get.call(scope.document).ready, ...Array.from(scope.frames, all).flat()];
})(window))"""


def tag(fragment: str) -> str:
    """The script's element for a document whose address ends with `#` and this fragment; going there takes no time."""
    return ("<style>html,body{scroll-behavior:auto!important}</style>"
            f'<script data-fragment="{html.escape(fragment)}">{SCRIPT}</script>')
