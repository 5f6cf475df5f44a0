// State of elements and documents that no attribute and no observer tells: custom states, elements that are not defined,
// manual slots, script animations, selections and highlights. It is compared at each snapshot, and written as attributes.
"use strict";

demotape.unseenState = demotape.ofGroup("unseenState", function () {
  const MAX_ANIMATIONS = 200; // whose values are read
  const MAX_VALUE = 2000; // characters of such a value
  const MAX_RANGES = 500; // of a document's highlights
  const PSEUDO_ELEMENTS = new Set(["::before", "::after", "::backdrop", "::marker"]);
  const NO_PROPERTIES = new Set(["offset", "computedOffset", "easing", "composite"]);
  const { shared, own } = demotape;
  shared.marks ??= new Map(); // element -> its attributes of this kind, as text
  shared.customNames ??= new Map(); // document -> names of custom elements -> one that is not defined, null once defined
  shared.stateNames ??= new Set(); // that style sheets name
  shared.pseudoClasses ??= new Set(["autofill"]); // of controls, the same; the browser has a style of its own for this one
  shared.marksStale ??= false; // something was noted since, by which there may be more
  shared.partial ??= false; // whether something that is seen could not be kept
  shared.painting ??= false; // whether a style sheet has a script paint

  /** Note what a style sheet's text names. */
  function noteNames(text) {
    for (const [, name] of text.matchAll(/:state\(\s*([\w-]+)\s*\)/g)) {
      shared.stateNames.add(name);
      shared.marksStale = true;
    }
    shared.painting ||= /[\s:,]paint\(/.test(text);
    for (const [, name] of text.matchAll(/:(user-valid|user-invalid)\b/g)) shared.pseudoClasses.add(name);
  }

  /** Note an element whose name may be a custom element's. */
  function noteCustom(element, name) {
    const { ownerDocument } = own(element);
    let names = shared.customNames.get(ownerDocument);
    if (!names) shared.customNames.set(ownerDocument, (names = new Map()));
    if (names.has(name)) return;
    names.set(name, new WeakRef(element));
    shared.marksStale = true;
  }

  /** Names of a document's custom elements that are not defined. */
  function undefinedNames(document) {
    const names = shared.customNames.get(document);
    if (!names) return "";
    const result = [];
    for (const [name, reference] of names) {
      const element = reference?.deref();
      if (reference && !element) names.delete(name); // another one may come
      else if (element && own(element).matches(":defined")) names.set(name, null);
      else if (element) result.push(name);
    }
    return result.sort().join(" ");
  }

  /** Elements with custom states that style sheets name. */
  function findStates(mark) {
    const result = new Map();
    for (const name of shared.stateNames) {
      for (const scope of shared.scopes.keys()) {
        for (const element of own(scope).querySelectorAll(`:state(${name})`)) result.set(element, `${result.get(element) ?? ""} ${name}`);
      }
    }
    for (const [element, names] of result) mark(element, "states", names.trim());
  }

  /** Controls in states that only the browser gives. */
  function findControls(mark) {
    const selector = Array.from(shared.pseudoClasses, (name) => `:${name}`).join();
    for (const control of shared.controls) {
      if (own(control).localName === "select" && isPickerOpen(control)) shared.partial = true;
      if (!own(control).matches(selector)) continue;
      mark(control, "pseudo", Array.from(shared.pseudoClasses).filter((name) => own(control).matches(`:${name}`)).join(" "));
    }
  }

  /** Whether a list in the page is open; one that the browser shows outside is in no picture. */
  const isPickerOpen = (control) => CSS.supports("selector(:open)") && own(control).matches(":open")
    && getComputedStyle(control).appearance === "base-select";

  /** Slots that scripts have given elements to. */
  function findSlots(mark) {
    for (const scope of shared.scopes.keys()) {
      if (scope.slotAssignment !== "manual") continue;
      for (const slot of scope.querySelectorAll("slot")) {
        const nodes = slot.assignedNodes();
        if (!nodes.length) continue;
        mark(slot, "slot", `${demotape.number(slot)}`);
        for (const node of nodes) {
          if (demotape.isElement(node)) mark(node, "assigned", `${demotape.number(slot)}`);
          else shared.partial = true;
        }
      }
    }
  }

  /** What animations of scripts, and paused ones, have made of elements: no rule says it. */
  function findAnimated(mark, animations) {
    const result = new Map();
    shared.partial ||= animations.length > MAX_ANIMATIONS;
    for (const animation of animations.slice(0, MAX_ANIMATIONS)) {
      const { target, pseudoElement } = animation.effect ?? {};
      if (pseudoElement?.startsWith("::view-transition")) shared.partial = true; // a picture of the page before
      if (!target || (animation.constructor.name !== "Animation" && animation.playState !== "paused")) continue;
      if (pseudoElement && !PSEUDO_ELEMENTS.has(pseudoElement)) continue;
      const name = `animated${(pseudoElement ?? "").replace("::", "-")}`;
      const values = result.get(target) ?? result.set(target, new Map()).get(target);
      values.set(name, (values.get(name) ?? "") + animatedValues(animation, target, pseudoElement));
    }
    for (const [element, values] of result) for (const [name, text] of values) mark(element, name, text);
  }

  function animatedValues({ effect }, target, pseudoElement) {
    const style = demotape.frameGroup.frameOf(target).getComputedStyle(target, pseudoElement);
    const names = new Set(effect.getKeyframes().flatMap((keyframe) => Object.keys(keyframe)));
    return Array.from(names).filter((name) => !NO_PROPERTIES.has(name)).map((name) => {
      const property = name.startsWith("--") ? name : name.replace(/^css/, "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      const value = style.getPropertyValue(property);
      return value && value.length <= MAX_VALUE ? `${property}:${value};` : "";
    }).join("");
  }

  // Selections and highlights. A position in a text: its element, and how many elements and then characters stand before it.

  function positionOf(node, offset) {
    const isText = node.nodeType === Node.TEXT_NODE;
    const parent = isText ? own(node).parentNode : node;
    if (!demotape.isElement(parent)) return null;
    let elements = 0, characters = 0, index = 0;
    for (let at = own(parent).firstChild; at && (isText ? at !== node : index < offset); at = own(at).nextSibling, index++) {
      if (demotape.isElement(at)) {
        elements++;
        characters = 0;
      } else if (at.nodeType === Node.TEXT_NODE) characters += at.length;
    }
    return [demotape.uid(parent), elements, characters + (isText ? offset : 0)];
  }

  function rangePosition({ startContainer, startOffset, endContainer, endOffset }) {
    const start = positionOf(startContainer, startOffset), end = positionOf(endContainer, endOffset);
    return start && end ? [...start, ...end] : null;
  }

  function findSelections(mark, document) {
    const { defaultView, documentElement } = own(document);
    const selection = defaultView?.getSelection();
    if (selection?.rangeCount && !selection.isCollapsed) {
      const position = rangePosition(selection.getRangeAt(0));
      if (position) mark(documentElement, "selection", JSON.stringify(position));
    }
    const { highlights } = defaultView?.CSS ?? {};
    if (!highlights?.size) return;
    let left = MAX_RANGES;
    const result = [];
    for (const [name, highlight] of highlights) {
      const ranges = Array.from(highlight).slice(0, left).map(rangePosition).filter(Boolean);
      left -= ranges.length;
      shared.partial ||= highlight.size > ranges.length;
      if (ranges.length) result.push([name, highlight.priority, ranges]);
    }
    if (result.length) mark(documentElement, "highlights", JSON.stringify(result));
  }

  /** The text that is selected in a field with the focus. */
  function findSelectedText(mark) {
    for (const element of shared.focused.keys()) {
      if (!["input", "textarea"].includes(own(element).localName)) continue;
      const { selectionStart, selectionEnd } = element;
      if (selectionStart !== selectionEnd) mark(element, "selected", `${selectionStart},${selectionEnd}`);
    }
  }

  /** All of it now: element -> attributes as text. `attribute` makes the text of one. */
  function find(attribute, animations) {
    const result = new Map();
    const mark = (element, name, value) => {
      if (value) result.set(element, (result.get(element) ?? "") + attribute(`data-demotape-${name}`, value));
    };
    shared.partial = shared.painting;
    shared.marksStale = false;
    findStates(mark);
    findControls(mark);
    findSlots(mark);
    findAnimated(mark, animations);
    findSelectedText(mark);
    for (const document of shared.scopes.keys()) {
      const { nodeType, documentElement } = own(document);
      if (nodeType !== Node.DOCUMENT_NODE || !documentElement) continue;
      mark(documentElement, "undefined", undefinedNames(document));
      mark(documentElement, "properties", shared.registered?.get(document) ?? "");
      mark(documentElement, "fonts", scriptFonts(document));
      findSelections(mark, document);
    }
    return result;
  }

  // Properties and fonts that scripts have registered.

  shared.registered ??= new Map(); // document -> rules that say the same
  shared.fontFamilies ??= new Set(); // that style sheets name
  const UNITS = { px: "<length>", percent: "<length-percentage>", number: "<number>", deg: "<angle>", s: "<time>" };

  /** Find the properties that are registered, in idle time: only their computed values tell. */
  function findRegistered() {
    for (const document of [...shared.scopes.keys()]) {
      const { nodeType, documentElement, head } = own(document);
      const values = nodeType === Node.DOCUMENT_NODE ? documentElement?.computedStyleMap?.() : null;
      if (typeof values?.[Symbol.iterator] !== "function") continue; // a frame that is going
      const other = head?.computedStyleMap?.();
      let rules = "";
      for (const [name, [value]] of values) {
        if (!name.startsWith("--") || !value || value.constructor.name === "CSSUnparsedValue") continue;
        const initial = other?.get(name) ?? value;
        const inherits = `${initial}` === `${value}`;
        const syntax = UNITS[value.unit] ?? (CSS.supports("color", `${value}`) ? "<color>" : "*");
        rules += `@property ${CSS.escape(name)}{syntax:"${syntax}";inherits:${inherits};initial-value:${initial}}`;
      }
      shared.registered.set(document, rules);
    }
  }

  /** Fonts that scripts have made, as JSON: family, style, weight, stretch and range of characters of each. */
  function scriptFonts(document) {
    const { fonts } = own(document);
    if (!fonts.size) return "";
    const result = [];
    for (const font of fonts) {
      const family = font.family.replace(/^["']|["']$/g, "");
      if (font.status !== "loaded" || shared.fontFamilies.has(family)) continue;
      result.push([family, font.style, font.weight, font.stretch, font.unicodeRange]);
    }
    shared.partial ||= result.length > 1; // which file is whose is a guess
    return result.length ? JSON.stringify(result) : "";
  }

  /** Note the family of a `@font-face` rule. */
  function noteFont({ style }) {
    shared.fontFamilies.add(style.getPropertyValue("font-family").replace(/^["']|["']$/g, ""));
  }

  const isPartial = () => shared.partial;

  return { find, isPartial, noteNames, noteCustom, noteFont, findRegistered };
});
