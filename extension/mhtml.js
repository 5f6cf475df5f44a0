// Parser of Chrome's MHTML (RFC 2557): the style sheets, images and fonts that a page has loaded. Pure.

const STORED_TYPES = /^(text\/css|image\/|font\/|application\/(x-)?font|application\/vnd\.ms-fontobject)/i;

/**
 * The resources of a page: address, media type, content in base64. What is no style sheet, image or font, such as the
 * documents themselves, is left out: it may hold what was typed.
 */
export function readMhtml(text) {
  const boundary = /boundary="([^"]+)"/.exec(text)?.[1];
  if (!boundary) return [];
  return text.split(`--${boundary}`).slice(1).map(readPart).filter(Boolean);
}

function readPart(part) {
  const end = part.search(/\r?\n\r?\n/);
  if (end < 0) return null;
  const headers = part.slice(0, end).replace(/\r?\n[ \t]+/g, " ");
  const header = (name) => new RegExp(`^${name}: *(.*?) *$`, "im").exec(headers)?.[1] ?? "";
  const url = header("Content-Location"), type = header("Content-Type").split(";")[0];
  if (!/^https?:/.test(url) || !STORED_TYPES.test(type)) return null;
  const body = part.slice(end).replace(/^\r?\n\r?\n/, "").replace(/\r?\n$/, "");
  const encoding = header("Content-Transfer-Encoding").toLowerCase();
  if (encoding === "base64") return { url, type, content: body.replace(/\s+/g, "") };
  return { url, type, content: btoa(encoding === "quoted-printable" ? fromQuotedPrintable(body) : body) };
}

function fromQuotedPrintable(text) {
  return text.replace(/=\r?\n/g, "").replace(/=([0-9A-Fa-f]{2})/g, (_, code) => String.fromCharCode(parseInt(code, 16)));
}
