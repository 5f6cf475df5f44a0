// The one script of a rendered page: see restoring.py.
//
// A page may name an element like a property of its document or of a form, which then hides that: so each is asked for
// where it is defined. A link leads nowhere: who looks at a page would leave it, and the site would learn of it.
{
  const own = (of, name) => Object.getOwnPropertyDescriptor(Document.prototype, name).get.call(of);
  const attributeOf = (element, name) => Element.prototype.getAttribute.call(element, name);
  const rootOf = (element) => Object.getOwnPropertyDescriptor(Element.prototype, "shadowRoot").get.call(element);
  const allIn = (scope) =>
    (scope === document ? Document : DocumentFragment).prototype.querySelectorAll.call(scope, "*");
  const script = own(document, "currentScript"); // none where it is run from outside
  const fragment = script && attributeOf(script, "data-fragment");
  const scrollElement = (element, left, top) => {
    Element.prototype.scrollTo.call(element, { left, top, behavior: "instant" });
    // A frame that was in quirks mode may be in another from now on: what its body scrolled, the document does.
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
      const shown = attributeOf(element, "data-demotape-focus");
      if (shown) HTMLElement.prototype.focus.call(element, { preventScroll: true, focusVisible: shown === "visible" });
      if (rootOf(element)) focusIn(rootOf(element));
    }
  };
  // What a parser would have moved stands in an element of ours (see nesting.py), to whose place it goes.
  const contentOf = (holder) => holder instanceof HTMLTemplateElement
    ? Object.getOwnPropertyDescriptor(HTMLTemplateElement.prototype, "content").get.call(holder) : holder;
  const completeTree = (scope) => {
    for (const element of [...allIn(scope)]) {
      if (rootOf(element)) completeTree(rootOf(element));
      const parent = attributeOf(element, "data-demotape-whole");
      if (parent === null) continue;
      const content = contentOf(element);
      if (content !== element) completeTree(content);
      const nodes = Object.getOwnPropertyDescriptor(Node.prototype, "childNodes").get.call(content);
      if (parent !== "html") Element.prototype.replaceWith.call(element, ...nodes);
      else {
        const behind = element.parentNode === own(document, "head") ? own(document, "body") : null;
        for (const node of [...nodes]) Node.prototype.insertBefore.call(own(document, "documentElement"), node, behind);
        Element.prototype.remove.call(element);
      }
    }
  };
  // What was in the top layer is again. Fullscreen is for persons to give: a popover that fills the page stands for it.
  const FILLS = {
    position: "fixed", inset: "0", margin: "0", boxSizing: "border-box", minWidth: "0", maxWidth: "none", minHeight: "0",
    maxHeight: "none", width: "100%", height: "100%", objectFit: "contain", transform: "none",
  };
  const CARRIED_STYLES = ["border-width", "border-style", "border-color", "padding", "overflow", "color", "background-color"];
  const showPopover = (element) => {
    Element.prototype.setAttribute.call(element, "popover", "manual"); // none closes another, or itself
    HTMLElement.prototype.showPopover.call(element);
  };
  const fill = (element) => {
    const before = getComputedStyle(element);
    const style = Object.getOwnPropertyDescriptor(HTMLElement.prototype, "style").get.call(element);
    for (const [name, value] of CARRIED_STYLES.map((node) => [node, before.getPropertyValue(node)])) style.setProperty(name, value);
    if (before.backgroundColor === "rgba(0, 0, 0, 0)") style.backgroundColor = "black"; // its backdrop
    for (const [name, value] of Object.entries(FILLS)) style[name] = value;
    showPopover(element);
  };
  const showModal = (element) => {
    Element.prototype.removeAttribute.call(element, "open");
    HTMLDialogElement.prototype.showModal.call(element);
  };
  const LIFTS = { modal: showModal, "popover-open": showPopover, fullscreen: fill };
  const liftIn = (scope) => {
    for (const element of allIn(scope)) {
      const lifts = LIFTS[attributeOf(element, "data-demotape-lifted")];
      if (lifts && element !== own(document, "documentElement")) {
        try {
          lifts(element);
          HTMLElement.prototype.blur.call(own(document, "activeElement") ?? element);
        } catch { /* another kind of element than it was */ }
      }
      if (rootOf(element)) liftIn(rootOf(element));
    }
  };
  // What was shown had come in long ago: animations that end are at their end, and do not begin anew with each look.
  const endAnimations = (scope) => {
    for (const animation of (scope === document ? Document : ShadowRoot).prototype.getAnimations.call(scope)) {
      const ends = animation.effect && Number.isFinite(animation.effect.getComputedTiming().endTime);
      if (ends && animation.playState === "running" && animation.timeline === own(document, "timeline")) animation.finish();
    }
    for (const element of allIn(scope)) if (rootOf(element)) endAnimations(rootOf(element));
  };
  let outlined = null;
  const scrollAll = (scope) => {
    for (const element of allIn(scope)) {
      if (attributeOf(element, "data-demotape-outlined") !== null) outlined = element;
      const offsets = attributeOf(element, "data-demotape-scroll");
      if (offsets) scrollElement(element, ...offsets.split(",").map(Number));
      if (rootOf(element)) scrollAll(rootOf(element));
    }
  };
  const FRAMES = { iframe: HTMLIFrameElement, frame: HTMLFrameElement, object: HTMLObjectElement };
  const documentIn = (element) => {
    const { prototype } = FRAMES[element.localName] ?? {};
    if (prototype) return Object.getOwnPropertyDescriptor(prototype, "contentDocument").get.call(element);
    for (let index = 0; index < length; index++) if (window[index].frameElement === element) return window[index].document;
    return null; // an embed in a shadow root, which no list names
  };
  const writeFrames = (scope) => {
    for (const element of allIn(scope)) {
      const text = attributeOf(element, "data-demotape-written");
      const inner = text === null ? null : documentIn(element);
      if (inner) {
        const { open, write, close } = Document.prototype;
        open.call(inner);
        write.call(inner, text);
        close.call(inner);
      }
      if (rootOf(element)) writeFrames(rootOf(element));
    }
  };
  // What is cut out of the screenshot shows also what stands above: so nothing above is drawn once more, but for the
  // element that is outlined, as long as all stays where it is.
  const covers = [];
  const cover = (element, { x, y, width, height }) => {
    const at = Document.prototype.createElement.call(document, "demotape-cover");
    const box = outlined ? Element.prototype.getBoundingClientRect.call(outlined) : new DOMRect();
    const [left, top, right, bottom] = [box.left - x - 5, box.top - y - 5, box.right - x + 5, box.bottom - y + 5];
    const { backgroundImage, backgroundPosition, backgroundSize } = getComputedStyle(element);
    const hole = `${left}px ${top}px, ${right}px ${top}px, ${right}px ${bottom}px, ${left}px ${bottom}px, ${left}px ${top}px`;
    const style = {
      all: "initial", position: "fixed", zIndex: 2147483647, pointerEvents: "none",
      left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px`,
      clipPath: outlined ? `polygon(evenodd, 0 0, 100% 0, 100% 100%, 0 100%, 0 0, ${hole})` : "none",
      backgroundImage, backgroundPosition, backgroundSize, backgroundRepeat: "no-repeat",
    };
    for (const [name, value] of Object.entries(style)) at.style[name] = value;
    at.ariaHidden = "true";
    Node.prototype.appendChild.call(own(document, "documentElement"), at);
    covers.push({ element, x, y, at });
  };
  const coverAll = (scope) => {
    for (const element of allIn(scope)) {
      if (attributeOf(element, "data-demotape-painted") !== null) cover(element, element.getBoundingClientRect());
      if (rootOf(element)) coverAll(rootOf(element));
    }
  };
  const uncover = () => {
    for (const { element, x, y, at } of covers) {
      const now = element.getBoundingClientRect();
      if (now.x !== x || now.y !== y) at.remove();
    }
  };
  addEventListener("scroll", uncover, true);
  addEventListener("resize", uncover);
  addEventListener("click", (event) => {
    if (event.composedPath().some((node) => ["a", "area"].includes(node.localName))) event.preventDefault();
  }, true);
  const restore = () => {
    completeTree(document);
    writeFrames(document);
    if (fragment) {
      location.replace("#" + fragment);
      const target = Document.prototype.querySelector.call(document, ":target");
      for (let at = target; at; at = at.parentElement) scrollElement(at, 0, 0);
    }
    liftIn(document);
    scrollAll(document);
    if (alone()) focusIn(document);
    endAnimations(document);
  };
  // Before a frameset there is no body yet, and behind one there is no script.
  if (own(document, "body")) restore();
  else addEventListener("DOMContentLoaded", restore);
  addEventListener("load", () => Promise.resolve(own(document, "fonts").ready).then(() => {
    scrollAll(document);
    coverAll(document);
  }));
}
