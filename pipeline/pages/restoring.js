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
  const query = (selector) => Document.prototype.querySelector.call(document, selector);
  const remove = (element) => Element.prototype.remove.call(element);
  const scrollElement = (element, left, top) => {
    Element.prototype.scrollTo.call(element, { left, top, behavior: "instant" });
    // A frame that was in quirks mode may be in another from now on: what its body scrolled, the document does.
    const moved = element.scrollLeft || element.scrollTop || !(left || top);
    if (element === own(document, "body") && !moved) own(document, "scrollingElement").scrollTo(left, top);
  };
  // Adopted sheets stand in style elements that apply to nothing; several roots may share one.
  const adoptAll = () => {
    const sheets = new Map();
    for (const style of Document.prototype.querySelectorAll.call(document, "style[data-demotape-adopted]")) {
      const number = attributeOf(style, "data-demotape-adopted");
      if (!number) continue; // of an older recording, where it stands as a style element
      const media = attributeOf(style, "data-demotape-media") ?? "";
      const sheet = new CSSStyleSheet({ media, disabled: attributeOf(style, "data-demotape-sheet") === "off" });
      sheet.replaceSync(Object.getOwnPropertyDescriptor(Node.prototype, "textContent").get.call(style));
      sheets.set(number, sheet);
      remove(style);
    }
    if (sheets.size) adoptIn(document, own(document, "documentElement"), sheets);
  };
  const adoptIn = (scope, holder, sheets) => {
    const numbers = attributeOf(holder, "data-demotape-adopts");
    if (numbers) {
      const { prototype } = scope === document ? Document : ShadowRoot;
      const { set } = Object.getOwnPropertyDescriptor(prototype, "adoptedStyleSheets");
      set.call(scope, numbers.split(",").map((number) => sheets.get(number)).filter(Boolean));
    }
    for (const element of allIn(scope)) if (rootOf(element)) adoptIn(rootOf(element), element, sheets);
  };
  // States that only scripts can give.
  const animate = (element, pseudo, text) => {
    const values = Document.prototype.createElement.call(document, "i").style;
    values.cssText = text;
    const keyframes = {};
    for (const name of values) keyframes[nameIn(name)] = [values.getPropertyValue(name), values.getPropertyValue(name)];
    Element.prototype.animate.call(element, keyframes, { duration: 1, fill: "both", pseudoElement: pseudo });
  };
  const nameIn = (property) => property.startsWith("--") ? property : property === "float" ? "cssFloat"
    : property.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
  const PSEUDO_ELEMENTS = [null, "::before", "::after", "::backdrop", "::marker"];
  const setState = (element) => {
    if (attributeOf(element, "data-demotape-indeterminate") !== null) element.indeterminate = true;
    for (const pseudo of PSEUDO_ELEMENTS) {
      const text = attributeOf(element, `data-demotape-animated${pseudo?.replace("::", "-") ?? ""}`);
      if (text) animate(element, pseudo, text);
    }
  };
  const assignIn = (root, host) => {
    const children = Element.prototype.querySelectorAll.call(host, "[data-demotape-assigned]");
    for (const slot of allIn(root)) {
      const number = attributeOf(slot, "data-demotape-slot");
      if (!number || !(slot instanceof HTMLSlotElement)) continue;
      const assigned = [...children].filter((child) => attributeOf(child, "data-demotape-assigned") === number);
      HTMLSlotElement.prototype.assign.call(slot, ...assigned);
    }
  };
  const setStates = (scope) => {
    for (const element of allIn(scope)) {
      setState(element);
      const root = rootOf(element);
      if (root?.slotAssignment === "manual") assignIn(root, element);
      if (root) setStates(root);
    }
  };
  // A position in a text: an element, and how many elements and then characters stand before it.
  const positionOf = (elements, [uid, count, characters]) => {
    let [parent, at] = [elements.get(uid), null];
    if (!parent) return null;
    at = Object.getOwnPropertyDescriptor(Node.prototype, "firstChild").get.call(parent);
    for (let left = count; at && left > 0; at = at.nextSibling) if (at.nodeType === Node.ELEMENT_NODE) left--;
    for (let left = characters; at && at.nodeType === Node.TEXT_NODE; at = at.nextSibling) {
      if (left <= at.length) return [at, left];
      left -= at.length;
    }
    return [parent, at ? [...Object.getOwnPropertyDescriptor(Node.prototype, "childNodes").get.call(parent)].indexOf(at)
      : Object.getOwnPropertyDescriptor(Node.prototype, "childNodes").get.call(parent).length];
  };
  const rangeOf = (elements, position) => {
    const [start, end] = [positionOf(elements, position.slice(0, 3)), positionOf(elements, position.slice(3))];
    if (!start || !end) return null;
    const range = Document.prototype.createRange.call(document);
    range.setStart(...start);
    range.setEnd(...end);
    return range;
  };
  const listByUid = (scope, elements) => {
    for (const element of allIn(scope)) {
      elements.set(attributeOf(element, "data-demotape-uid"), element);
      if (rootOf(element)) listByUid(rootOf(element), elements);
    }
    return elements;
  };
  const select = () => {
    const root = own(document, "documentElement");
    const [selection, highlights] = ["selection", "highlights"].map((name) => attributeOf(root, `data-demotape-${name}`));
    if (!selection && !highlights) return;
    const elements = listByUid(document, new Map());
    for (const [name, priority, ranges] of highlights ? JSON.parse(highlights) : []) {
      const highlight = new Highlight(...ranges.map((range) => rangeOf(elements, range)).filter(Boolean));
      highlight.priority = priority;
      CSS.highlights.set(name, highlight);
    }
    const range = selection && rangeOf(elements, JSON.parse(selection));
    if (!range) return;
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  };
  const selectIn = (scope) => {
    for (const element of allIn(scope)) {
      const position = attributeOf(element, "data-demotape-selected");
      if (position && "setSelectionRange" in element) element.setSelectionRange(...position.split(",").map(Number));
      if (rootOf(element)) selectIn(rootOf(element));
    }
  };
  const attempt = (work) => {
    try {
      work();
    } catch { /* not what it was: the rest is shown all the same */ }
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
    // It scrolls to its first field. Offsets that are not 0 are set later.
    for (const at of [own(document, "scrollingElement"), element, ...Element.prototype.querySelectorAll.call(element, "*")]) {
      if (at.scrollTop || at.scrollLeft) scrollElement(at, 0, 0);
    }
  };
  const LIFTS = { modal: showModal, "popover-open": showPopover, fullscreen: fill };
  const liftedIn = (scope, lifted) => {
    for (const element of allIn(scope)) {
      if (attributeOf(element, "data-demotape-lifted")) lifted.push(element);
      if (rootOf(element)) liftedIn(rootOf(element), lifted);
    }
    return lifted;
  };
  const liftAll = () => {
    const order = (element) => Number(attributeOf(element, "data-demotape-lifted-at") ?? 0);
    for (const element of liftedIn(document, []).sort((one, other) => order(one) - order(other))) {
      const lifts = LIFTS[attributeOf(element, "data-demotape-lifted")];
      if (!lifts || element === own(document, "documentElement")) continue;
      attempt(() => { // it may be another kind of element than it was
        lifts(element);
        HTMLElement.prototype.blur.call(own(document, "activeElement") ?? element);
      });
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
    const ours = script ?? query("script[data-fragment]");
    if (ours) remove(ours); // rules may count the elements beside it
    completeTree(document);
    attempt(adoptAll);
    attempt(() => setStates(document));
    writeFrames(document);
    if (fragment) {
      location.replace("#" + fragment);
      const target = Document.prototype.querySelector.call(document, ":target");
      for (let at = target; at; at = at.parentElement) scrollElement(at, 0, 0);
    }
    liftAll();
    scrollAll(document);
    if (alone()) focusIn(document);
    attempt(() => selectIn(document));
    attempt(select);
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
