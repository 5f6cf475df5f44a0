// Description of an element: role, name, text, position.
"use strict";

demotape.elements = (function () {
  const INPUT_ROLES = {
    button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
    range: "slider", number: "spinbutton", search: "searchbox", email: "textbox", tel: "textbox", text: "textbox",
    url: "textbox",
  };
  const TAG_ROLES = {
    article: "article", aside: "complementary", button: "button", datalist: "listbox", dialog: "dialog", fieldset: "group",
    figure: "figure", form: "form", h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading",
    h6: "heading", hr: "separator", img: "img", li: "listitem", main: "main", menu: "list", meter: "meter",
    nav: "navigation", ol: "list", option: "option", output: "status", progress: "progressbar", summary: "button",
    table: "table", tbody: "rowgroup", td: "cell", textarea: "textbox", tfoot: "rowgroup", th: "columnheader",
    thead: "rowgroup", tr: "row", ul: "list",
    // Buttons that the browser makes; their names are in its language, and no script can read them.
    camera: "button", geolocation: "button", microphone: "button", usermedia: "button",
  };
  // Roles whose accessible name may come from content (ARIA 1.2, section 5.2.8.6).
  const NAMED_BY_CONTENT = new Set([
    "button", "cell", "checkbox", "columnheader", "gridcell", "heading", "link", "menuitem", "menuitemcheckbox",
    "menuitemradio", "option", "radio", "row", "rowheader", "switch", "tab", "tooltip", "treeitem",
  ]);
  const CLICKABLE_ROLES = new Set([
    "button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
    "combobox", "listbox", "slider", "spinbutton", "textbox", "searchbox", "treeitem",
  ]);
  const NOT_READ = new Set(["script", "style", "noscript", "textarea", "option"]);
  const TEXT_LIMIT = 200;
  const ATTRIBUTE_LIMIT = 2000;

  const squeeze = (text, limit) => text.replace(/\s+/g, " ").trim().slice(0, limit);

  const { own } = demotape;

  /** ARIA role: the explicit one, else the one that HTML implies, else "". */
  function role(element) {
    const explicit = own(element).getAttribute("role")?.trim().split(/\s+/)[0];
    if (explicit) return explicit;
    switch (own(element).localName) {
      case "a": case "area": return element.hasAttribute("href") ? "link" : "";
      case "input": return element.hasAttribute("list") ? "combobox" : INPUT_ROLES[element.type] ?? "";
      case "select": return element.multiple || element.size > 1 ? "listbox" : "combobox";
      default: return TAG_ROLES[own(element).localName] ?? "";
    }
  }

  /** A walk over the texts below an element. */
  const textsIn = (element) => own(own(element).ownerDocument).createTreeWalker(element, NodeFilter.SHOW_TEXT);

  /** Text of an element as a person reads it, without the values of secret parts. */
  function text(element, limit = TEXT_LIMIT) {
    const masks = demotape.shared.masks;
    if (masks && own(element).closest("[data-demotape-mask]")) return "";
    const pieces = [];
    let length = 0;
    const walker = textsIn(element);
    for (let node = walker.nextNode(); node && length < limit * 2; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (!parent || (NOT_READ.has(own(parent).localName) && parent !== element) || !node.data.trim()) continue;
      if (masks && own(parent).closest("[data-demotape-mask]")) continue;
      pieces.push(node.data.slice(0, limit * 2));
      length += node.data.length;
    }
    return squeeze(pieces.join(" "), limit);
  }

  /** The elements that `aria-labelledby` names, or that a script has set: the attribute is empty then. */
  function labelsOf(node) {
    if (node.ariaLabelledByElements) return node.ariaLabelledByElements;
    const scope = own(node.getRootNode());
    return node.getAttribute("aria-labelledby").split(/\s+/).map((id) => scope.getElementById?.(id)).filter(Boolean);
  }

  /** Accessible name, by the steps of the ARIA name computation that pages use in practice. */
  function name(element, elementRole = role(element), limit = TEXT_LIMIT) {
    const node = own(element);
    if (node.hasAttribute("aria-labelledby")) {
      const joined = labelsOf(node).map((label) => text(label, limit)).join(" ");
      if (joined) return squeeze(joined, limit);
    }
    const label = node.getAttribute("aria-label");
    if (label?.trim()) return squeeze(label, limit);
    if (node.labels?.length) {
      const joined = squeeze(Array.from(node.labels, (label) => text(label, limit)).join(" "), limit);
      if (joined) return joined;
    }
    if (node.localName === "input" && ["submit", "button", "reset"].includes(node.type)) {
      return squeeze(node.value || node.type, limit);
    }
    const alternative = node.getAttribute("alt");
    if (alternative?.trim()) return squeeze(alternative, limit);
    if (NAMED_BY_CONTENT.has(elementRole)) {
      const content = text(element, limit) || imageNames(element, limit);
      if (content) return content;
    }
    return squeeze(node.getAttribute("title") || node.getAttribute("placeholder") || "", limit);
  }

  function imageNames(element, limit) {
    return squeeze(Array.from(own(element).querySelectorAll("img[alt]"), (image) => image.alt).join(" "), limit);
  }

  /** Whether a person would expect the element to react to a click. */
  function clickable(element, elementRole) {
    const node = own(element);
    return (
      CLICKABLE_ROLES.has(elementRole) || node.localName === "label" || node.hasAttribute("onclick") ||
      node.isContentEditable || getComputedStyle(element).cursor === "pointer"
    );
  }

  /** Attributes of an element as they go to disk: long ones cut, secret values masked. */
  function attributes(element) {
    const found = {};
    const secret = demotape.secrets.isSecret(element);
    for (const { name: key, value } of own(element).attributes) {
      found[key] = secret && key === "value" ? demotape.secrets.REDACTED : value.slice(0, ATTRIBUTE_LIMIT);
    }
    return found;
  }

  function step(element) {
    const { namespaceURI, nodeName, localName, previousElementSibling, nextElementSibling } = own(element);
    let index = 1, more = false;
    for (let at = own(previousElementSibling); at; at = own(at.previousElementSibling)) {
      if (at.nodeName === nodeName) index++;
    }
    for (let at = own(nextElementSibling); at && !more; at = own(at.nextElementSibling)) {
      more = at.nodeName === nodeName;
    }
    const test = namespaceURI === "http://www.w3.org/1999/xhtml" ? localName : `*[name()="${nodeName}"]`;
    return index > 1 || more ? `${test}[${index}]` : test;
  }

  /** XPath of an element in its own document or shadow root. */
  function xpath(element) {
    const steps = [];
    for (let at = element; at; at = own(at).parentElement) steps.unshift(step(at));
    return "/" + steps.join("/");
  }

  /** A short CSS selector that names one element in its own document or shadow root. */
  function css(element) {
    const scope = own(own(element).getRootNode());
    const steps = [];
    for (let at = element; at; at = own(at).parentElement) {
      const { id, localName } = own(at);
      if (id && scope.querySelectorAll?.("#" + CSS.escape(id)).length === 1) {
        steps.unshift("#" + CSS.escape(id));
        break;
      }
      let index = 1;
      for (let label = own(own(at).previousElementSibling); label; label = own(label.previousElementSibling)) {
        if (label.localName === localName) index++;
      }
      steps.unshift(`${CSS.escape(localName)}:nth-of-type(${index})`);
    }
    return steps.join(" > ");
  }

  const described = new WeakMap(); // element -> what was said of it, and at which version of the DOM

  /** What is said of an element but for its box: the same until something in the DOM changes. */
  function words(element) {
    const { version } = demotape.shared;
    const known = described.get(element);
    if (known?.version === version) return known.words;
    const elementRole = role(element);
    const said = {
      uid: demotape.uid(element),
      tag: own(element).localName,
      role: elementRole,
      name: name(element, elementRole),
      text: text(element),
      attributes: attributes(element),
      xpath: xpath(element),
      css: css(element),
      frame: demotape.frameGroup.framePath(demotape.frameGroup.frameOf(element)),
    };
    described.set(element, { version, words: said });
    return said;
  }

  const POINTING = new Set(["pointerdown", "pointermove"]); // events whose target was hit by their point
  const EDGE = 1; // CSS pixels around a box that count as inside
  const PSEUDO_ELEMENTS = [
    "::before", "::after", "::marker", "::scroll-button(up)", "::scroll-button(down)", "::scroll-button(left)",
    "::scroll-button(right)", "::scroll-marker",
  ];

  /** Why the point of an event is outside the box of its target; "" if it is not. */
  function pointOutside(element, box, event) {
    if (!event || !POINTING.has(event.type)) return "";
    const { clientX: x, clientY: y } = event;
    const across = x >= box.left - EDGE && x <= box.right + EDGE;
    if (across && y >= box.top - EDGE && y <= box.bottom + EDGE) return "";
    const node = own(element);
    if (element === own(node.ownerDocument).documentElement) return "page";
    if (own(node.getRootNode()).elementFromPoint(x, y) !== element) return "moved";
    if (isBackdropPressed(element)) return "backdrop";
    return hasPseudoElement(element) ? "pseudo-element" : "other";
  }

  function isBackdropPressed(element) {
    if (!own(element).matches(":modal, :popover-open, :fullscreen")) return false;
    const { display, pointerEvents } = getComputedStyle(element, "::backdrop");
    return display !== "none" && pointerEvents !== "none";
  }

  function hasPseudoElement(element) {
    if (getComputedStyle(element).display.includes("list-item")) return true; // its marker
    return PSEUDO_ELEMENTS.some((name) => !["", "none", "normal"].includes(getComputedStyle(element, name).content));
  }

  /**
   * Everything that is kept of the element an event is about. Boxes are in the coordinates of the frame group's root.
   * `event`: one of this frame that is to be compared with the box.
   */
  function describe(element, event = null) {
    const node = own(element);
    const box = node.getBoundingClientRect();
    const { x, y, scaleX, scaleY } = demotape.frameGroup.transform(demotape.frameGroup.frameOf(element));
    const bbox = node.getClientRects().length
      ? demotape.finiteBox({
          x: box.x * scaleX + x, y: box.y * scaleY + y, width: box.width * scaleX, height: box.height * scaleY,
        })
      : null;
    const outside = bbox && pointOutside(element, box, event);
    return { ...words(element), bbox, ...(outside ? { point_outside: outside } : {}) };
  }

  return { role, name, text, textsIn, clickable, describe };
})();
