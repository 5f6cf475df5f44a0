"""Format of the recorded network: network.jsonl and messages.jsonl of a replayable recording."""

from marshmallow import fields, validate

from .parts import Strict, digest, flag, integer, listing, nested, number, recording_time, string

RESOURCE_KINDS = (  # Network.ResourceType of the Chrome DevTools Protocol, in lower case
    "document", "stylesheet", "image", "media", "font", "script", "texttrack", "xhr", "fetch", "prefetch",
    "eventsource", "websocket", "manifest", "signedexchange", "ping", "cspviolationreport", "preflight", "fedcm",
    "other",
)
CHANNELS = ("websocket", "eventsource")
DIRECTIONS = ("open", "accepted", "sent", "received", "close")


class HeaderSchema(Strict):
    """A header of a request or an answer, in the order in which they came; a name may come again."""

    name = string("name, as the browser tells it")
    value = string("value; secrets are stand-ins")


class ExchangeSchema(Strict):
    """One line of network.jsonl: a request and what came back, written when it ended."""

    piece = "exchange"

    seq = integer("number of the line, from 1 without gaps", validate=validate.Range(min=1))
    time = recording_time("seconds since the recording started, when the request was sent")
    duration = number("seconds until all of the answer was there", minimum=0, maximum=10**8)
    tab = integer("number of the tab")
    kind = string("what asked for it, as Chrome calls it, in lower case: document, script, xhr, fetch …",
                  validate=validate.OneOf(RESOURCE_KINDS))
    top = flag("true when it is the document of the tab itself, not of a frame in it")
    method = string("method")
    url = string("address, without the part after #; secrets are stand-ins")
    headers = listing(fields.Nested(HeaderSchema), "headers of the request; secrets are stand-ins")
    body = digest("blob: what was sent; null when nothing was, or the browser did not keep it", allow_none=True)
    status = integer("status of the answer; 0 when there was none", validate=validate.Range(min=0, max=999))
    status_text = string("the text beside the status")
    answer_headers = listing(fields.Nested(HeaderSchema), "headers of the answer; secrets are stand-ins")
    answer_body = digest("blob: content of the answer, unpacked; null when there was none, or the browser did not keep "
                         "it", allow_none=True)
    failure = string("why there is no answer (status 0), or why it ended early, as the browser says; `open`: it had "
                     "not ended with the recording; empty when all of it came")
    charset = string("the blob has the bytes that came, which the browser read in this charset (empty: it did not "
                     "say); absent: text is in UTF-8 whatever the headers say", required=False,
                     validate=validate.Length(max=100))
    seed = integer("seed of what was random in the document", required=False,
                   validate=validate.Range(min=0, max=2**32 - 1))


class ChannelMessageSchema(Strict):
    """One line of messages.jsonl: what went over a WebSocket or came from an EventSource."""

    piece = "message"

    time = recording_time("seconds since the recording started")
    tab = integer("number of the tab")
    channel = integer("number of the connection, from 1 in order of opening", validate=validate.Range(min=1))
    kind = string("`websocket` or `eventsource`", validate=validate.OneOf(CHANNELS))
    direction = string("`open`, `accepted` (a WebSocket), `sent` (by the page), `received` or `close`",
                       validate=validate.OneOf(DIRECTIONS))
    url = string("open: address", required=False)
    text = string("sent, received: the message, where it is text; secrets are stand-ins", required=False)
    blob = digest("sent, received: blob with the message, where it is binary", required=False)
    event = string("received from an EventSource: name of the event", required=False)
    id = string("received from an EventSource: id of the event", required=False)
    protocol = string("accepted: the subprotocol that the server chose; empty for none", required=False)
    code = integer("close of a WebSocket: its code as the page had it (RFC 6455, 7.4); absent where it is not known",
                   required=False, validate=validate.Range(min=1000, max=4999))
    reason = string("close of a WebSocket: the reason", required=False)
    by_page = flag("close of a WebSocket: the page closed it", required=False)


class StorageItemSchema(Strict):
    """A value in localStorage or sessionStorage."""

    name = string("key")
    value = string("value; secrets are stand-ins")


class StoredCookieSchema(Strict):
    """A cookie that the browser held when the recording started."""

    name = string("name")
    value = string("value, as a stand-in")
    domain = string("domain, with a dot in front where it is of all below")
    path = string("path")
    expires = number("seconds since 1970; -1 for a cookie of the session", minimum=-1, maximum=10**12)
    http_only = flag("HttpOnly")
    secure = flag("Secure")
    same_site = string("`Strict`, `Lax` or `None`", validate=validate.OneOf(("Strict", "Lax", "None")))


class StoredOriginSchema(Strict):
    """What an origin had stored in the browser when the recording started."""

    origin = string("origin, as `https://host`")
    local_storage = listing(fields.Nested(StorageItemSchema), "localStorage")
    session_storage = listing(fields.Nested(StorageItemSchema), "sessionStorage")
    databases = listing(fields.String(), "names of its IndexedDB databases; what they held is not kept")


class BrowserAtStartSchema(Strict):
    """What the browser was when the recording started, as far as pages can tell."""

    time_zone = string("IANA name of the time zone")
    languages = listing(fields.String(), "navigator.languages")
    cookies = listing(fields.Nested(StoredCookieSchema), "cookies")
    origins = listing(fields.Nested(StoredOriginSchema), "what was stored by origin, of pages that were open")


def browser_at_start() -> fields.Field[object]:
    """The field of that name, of recordings."""
    return nested(BrowserAtStartSchema, "with --replayable: the browser when the recording started; absent otherwise",
                  required=False)
