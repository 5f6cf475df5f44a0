// htmx takes up the page some time after its scripts have run; what is pressed or typed before that would be lost, or
// load a part of a page as if it were one. So it does so at once.
"use strict";

/** A text as it is searched: small letters without accents. */
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

htmx.process(document.body);
