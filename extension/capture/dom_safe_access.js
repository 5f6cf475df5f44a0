// Access to DOM properties despite DOM clobbering: in a form and in a document, a field or picture shadows the property
// with its name (`<input name="attributes">`; HTML standard, [LegacyOverrideBuiltIns]). What is read of any element or
// document is therefore read of `demotape.own(node)`.
"use strict";

demotape.own = (function () {
  const kindOf = Object.getOwnPropertyDescriptor(Node.prototype, "nodeType").get;
  const readers = new WeakMap();
  const READING = {
    get(node, key) {
      const value = Reflect.get(Object.getPrototypeOf(node), key, node);
      return typeof value === "function" ? value.bind(node) : value;
    },
  };

  function readerOf(node) {
    if (!node || ![Node.ELEMENT_NODE, Node.DOCUMENT_NODE].includes(kindOf.call(node))) return node;
    let reader = readers.get(node);
    if (!reader) readers.set(node, (reader = new Proxy(node, READING)));
    return reader;
  }

  /**
   * A node to read from, whose properties are the DOM's own. It is not the node itself: give that on to others.
   * @template T
   * @param {T} node
   * @returns {T}
   */
  return function own(node) {
    const tag = /** @type {any} */ (node)?.localName;
    return typeof tag === "string" && tag !== "form" ? node : readerOf(node);
  };
})();

/** Whether a node is an element. */
demotape.isElement = (node) => demotape.own(node)?.nodeType === Node.ELEMENT_NODE;

/** What an element is in: its parent, its shadow host, or the frame element of its document; null for none. */
demotape.containerOf = function (element) {
  const parent = demotape.own(element).parentNode;
  if (demotape.isElement(parent)) return parent;
  return demotape.own(parent)?.host ?? demotape.own(parent)?.defaultView?.frameElement ?? null;
};
