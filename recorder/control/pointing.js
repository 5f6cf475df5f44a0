// Where the instructor of a live room points, as the control page shows it: the picture, marked, and the element's name.
"use strict";

globalThis.demotapePointing = (function () {
  /** @param {string} kind @param {string} [className] */
  const create = (kind, className = "") => Object.assign(document.createElement(kind), { className });

  /** A picture (a data: address, null without one) with a region marked, in parts of its width and height. */
  function figure(picture, region, element) {
    const result = create("figure", "pointing");
    const name = element ? [element.role || element.tag, element.name && `“${element.name}”`].filter(Boolean).join(" ") : "";
    const caption = create("figcaption");
    caption.textContent = name ? `Points at: ${name}` : "Points at this part of the page";
    if (picture) result.append(marked(picture, region));
    result.append(caption);
    return result;
  }

  function marked(picture, { x, y, width, height }) {
    const screen = create("div", "screen"), ring = create("span", width || height ? "ring" : "ring point");
    const image = document.createElement("img");
    image.src = picture;
    image.alt = "The page, with the marked part";
    for (const [side, part] of Object.entries({ left: x, top: y, width, height })) ring.style[side] = `${part * 100}%`;
    screen.append(image, ring);
    return screen;
  }

  return { figure };
})();
