// htmx takes up the page some time after its scripts have run; what is pressed or typed before that would be lost, or
// load a part of a page as if it were one. So it does so at once.
"use strict";

htmx.process(document.body);
