// Copies an island of frames as HTML text, and tells every element with a box in the viewport. Reads only: the page
// is the same, byte for byte, before and after.
"use strict";

demotape.snapshot = (function () {
  const VOID = new Set([
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
  ]);
  const RAW_TEXT = new Set(["style", "xmp", "noembed", "noframes", "plaintext"]);
  const EMPTIED = new Set(["script", "noscript"]); // never run again; may hold tokens
  const WITHOUT_BOX = new Set(["head", "meta", "link", "script", "style", "title", "base", "template", "noscript"]);
  const NAME_LIMIT = 100;

  const escapeText = (text) => text.replace(/[&<>\u00a0]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", "\u00a0": "&nbsp;" })[c]);
  const escapeAttribute = (text) => text.replace(/[&"\u00a0]/g, (c) => ({ "&": "&amp;", '"': "&quot;", "\u00a0": "&nbsp;" })[c]);
  const attribute = (name, value) => ` ${name}="${escapeAttribute(value)}"`;

  /** Everything one walk needs that does not change from element to element. */
  function newContext() {
    return { rows: [], frames: [], secrets: [] };
  }

  /** Where a document stands in the island: transform to the root's coordinates, visible part, frame path. */
  function placeOf(frame, parentPlace, frameElement) {
    if (!parentPlace) {
      return { x: 0, y: 0, scaleX: 1, scaleY: 1, path: [], clip: { left: 0, top: 0, right: frame.innerWidth, bottom: frame.innerHeight } };
    }
    const content = demotape.island.contentBox(frameElement);
    const x = parentPlace.x + content.x * parentPlace.scaleX;
    const y = parentPlace.y + content.y * parentPlace.scaleY;
    return {
      x, y,
      scaleX: parentPlace.scaleX * content.scaleX,
      scaleY: parentPlace.scaleY * content.scaleY,
      path: [...parentPlace.path, demotape.uid(frameElement)],
      clip: {
        left: Math.max(parentPlace.clip.left, x),
        top: Math.max(parentPlace.clip.top, y),
        right: Math.min(parentPlace.clip.right, x + content.width * parentPlace.scaleX),
        bottom: Math.min(parentPlace.clip.bottom, y + content.height * parentPlace.scaleY),
      },
    };
  }

  function copyDocument(document, context, place) {
    const { doctype } = document;
    const head = doctype ? `<!DOCTYPE ${doctype.name}${doctypeIds(doctype)}>` : "";
    return head + (document.documentElement ? copyElement(document.documentElement, context, place) : "");
  }

  function doctypeIds({ publicId, systemId }) {
    if (publicId) return ` PUBLIC "${publicId}"${systemId ? ` "${systemId}"` : ""}`;
    return systemId ? ` SYSTEM "${systemId}"` : "";
  }

  function copyElement(element, context, place) {
    const tag = element.prefix ? `${element.prefix}:${element.localName}` : element.localName;
    if (!WITHOUT_BOX.has(tag)) addRow(element, tag, context, place);
    const start = `<${tag}${copyAttributes(element, tag)}`;
    if (tag === "iframe" || tag === "frame") return copyFrame(element, tag, start, context, place);
    if (VOID.has(tag)) return start + ">";
    return `${start}>${copyContent(element, tag, context, place)}</${tag}>`;
  }

  function copyAttributes(element, tag) {
    let copy = attribute("data-demotape-uid", demotape.uid(element));
    const control = tag === "input" || tag === "option";
    const secret = tag === "input" && demotape.secrets.isSecret(element);
    for (const { name, value } of element.attributes) {
      if (name.startsWith("data-demotape-") && name !== "data-demotape-mask") continue;
      if (control && (name === "checked" || name === "selected" || (name === "value" && tag === "input"))) continue;
      if (name === "srcdoc" || (name === "src" && (tag === "iframe" || tag === "frame"))) continue;
      copy += attribute(name, value);
    }
    if (tag === "input") copy += inputState(element, secret);
    if (tag === "option" && element.selected) copy += ' selected=""';
    if (tag === "html") copy += attribute("data-demotape-base", element.ownerDocument.baseURI);
    return copy + scrollState(element);
  }

  function inputState(element, secret) {
    if (element.type === "file") return "";
    const value = secret ? demotape.secrets.valueOf(element) : element.value;
    const shown = value || element.hasAttribute("value") ? attribute("value", value) : "";
    return element.checked ? shown + ' checked=""' : shown;
  }

  function scrollState(element) {
    if (!demotape.shared.scrolled.has(element)) return "";
    const { scrollLeft, scrollTop } = element;
    return scrollLeft || scrollTop ? attribute("data-demotape-scroll", `${scrollLeft},${scrollTop}`) : "";
  }

  function copyContent(element, tag, context, place) {
    if (EMPTIED.has(tag)) return "";
    if (tag === "style") return styleText(element);
    if (tag === "textarea") return "\n" + escapeText(demotape.secrets.valueOf(element));
    if (tag === "template") return element.innerHTML;
    const shadow = demotape.shadowRootOf(element);
    let copy = shadow ? copyShadow(shadow, context, place) : "";
    if (tag === "pre" || tag === "listing") copy += "\n";
    copy += copyChildren(element, RAW_TEXT.has(tag), context, place);
    return tag === "head" ? copy + adoptedStyles(element.ownerDocument) : copy;
  }

  function copyChildren(parent, raw, context, place) {
    let copy = "";
    for (let child = parent.firstChild; child; child = child.nextSibling) {
      if (child.nodeType === Node.ELEMENT_NODE) copy += copyElement(child, context, place);
      else if (child.nodeType === Node.TEXT_NODE || child.nodeType === Node.CDATA_SECTION_NODE) {
        copy += raw ? child.data : escapeText(maskedText(child, parent));
      }
    }
    return copy;
  }

  function maskedText(node, parent) {
    const masked = node.data.trim() && parent.closest?.("[data-demotape-mask]");
    return masked ? demotape.secrets.REDACTED : node.data;
  }

  function copyShadow(shadow, context, place) {
    const focus = shadow.delegatesFocus ? ' shadowrootdelegatesfocus=""' : "";
    const content = adoptedStyles(shadow) + copyChildren(shadow, false, context, place);
    return `<template shadowrootmode="${shadow.mode}"${focus}>${content}</template>`;
  }

  /** A style element's rules: its text, or what scripts put there through the CSSOM. */
  function styleText(element) {
    const rules = element.sheet ? sheetText(element.sheet) : "";
    const text = element.textContent;
    return text.trim() || !rules ? text : rules;
  }

  function sheetText(sheet) {
    try {
      return Array.from(sheet.cssRules, (rule) => rule.cssText).join("\n");
    } catch {
      return ""; // another origin's sheet cannot be read
    }
  }

  function adoptedStyles(scope) {
    return Array.from(scope.adoptedStyleSheets ?? [], (sheet) => `<style data-demotape-adopted="">${sheetText(sheet)}</style>`).join("");
  }

  function copyFrame(element, tag, start, context, place) {
    const source = element.getAttribute("src");
    let copy = start + (source === null ? "" : attribute("data-demotape-src", source));
    const inner = frameDocument(element);
    if (inner) {
      copy += attribute("srcdoc", copyDocument(inner, context, placeOf(inner.defaultView, place, element)));
    } else if (element.contentWindow) {
      const index = demotape.island.indexInParent(element.contentWindow);
      const { x, y, width, height, scaleX, scaleY } = placeBox(demotape.island.contentBox(element), place);
      context.frames.push({ uid: demotape.uid(element), index, path: place.path, x, y, width, height, scaleX, scaleY });
    }
    return tag === "frame" ? copy + ">" : `${copy}></iframe>`;
  }

  function frameDocument(element) {
    try {
      return element.contentWindow?.document?.defaultView ? element.contentWindow.document : null;
    } catch {
      return null;
    }
  }

  function placeBox(box, place) {
    return {
      x: box.x * place.scaleX + place.x,
      y: box.y * place.scaleY + place.y,
      width: box.width * place.scaleX,
      height: box.height * place.scaleY,
      scaleX: (box.scaleX ?? 1) * place.scaleX,
      scaleY: (box.scaleY ?? 1) * place.scaleY,
    };
  }

  function addRow(element, tag, context, place) {
    const rect = element.getBoundingClientRect();
    if (!rect.width || !rect.height) return;
    const { x, y, width, height } = placeBox(rect, place);
    const { clip } = place;
    if (x >= clip.right || y >= clip.bottom || x + width <= clip.left || y + height <= clip.top) return;
    const role = demotape.elements.role(element);
    const style = getComputedStyle(element);
    context.rows.push({
      uid: demotape.uid(element),
      tag,
      role,
      name: demotape.elements.name(element, role, NAME_LIMIT),
      frame: place.path,
      bbox: { x, y, width, height },
      visible: element.checkVisibility({ opacityProperty: true, visibilityProperty: true }),
      clickable: demotape.elements.clickable(element, role, style),
    });
    if (demotape.secrets.isSecret(element)) context.secrets.push({ x, y, width, height });
  }

  /**
   * The island now: `html` (frames as srcdoc), `rows` (the element table), `frames` (frames of other islands, to be
   * filled in by whoever has them), `secrets` (boxes of secret fields), and what the state says of the tab.
   */
  function take() {
    const frame = demotape.shared.rootFrame;
    const context = newContext();
    const html = copyDocument(frame.document, context, placeOf(frame, null, null));
    const scroller = frame.document.scrollingElement;
    return {
      html,
      ...context,
      path: demotape.island.path(frame),
      url: frame.location.href,
      title: frame.document.title,
      viewport: { width: frame.innerWidth, height: frame.innerHeight },
      device_pixel_ratio: frame.devicePixelRatio,
      scroll: { x: scroller?.scrollLeft ?? 0, y: scroller?.scrollTop ?? 0 },
    };
  }

  return { take };
})();
