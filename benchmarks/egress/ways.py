"""Ways in which a page could send something out of the browser that shows it.

Each is JavaScript of a page of a secure origin. `HOST` is replaced by an address of this machine, one of
the network, one of IPv6 and a name; `PORT` by a port that only this way uses, so that its packets are recognised.
"""

_PEER = """const peer = new RTCPeerConnection({ iceServers: SERVERS });
peer.createDataChannel("x"); await peer.setLocalDescription(await peer.createOffer());"""
_TWO_PEERS = """const [one, other] = [new RTCPeerConnection(), new RTCPeerConnection()];
one.onicecandidate = ({ candidate }) => candidate && other.addIceCandidate(candidate);
other.onicecandidate = ({ candidate }) => candidate && one.addIceCandidate(candidate);
one.createDataChannel("x"); await one.setLocalDescription(await one.createOffer());
await other.setRemoteDescription(one.localDescription);
await other.setLocalDescription(await other.createAnswer());
await one.setRemoteDescription(other.localDescription);"""
_REMOTE = """const peer = new RTCPeerConnection(); peer.createDataChannel("x");
await peer.setLocalDescription(await peer.createOffer());
const sdp = peer.localDescription.sdp.replace(/a=setup:actpass/, "a=setup:passive");
await peer.setRemoteDescription({ type: "answer", sdp });
await peer.addIceCandidate({ sdpMid: "0",
  candidate: "candidate:1 1 PROTOCOL 2113937151 HOST PORT typ hostTYPE" });"""


def _element(markup: str) -> str:
    return (f"const box = document.createElement('div'); box.innerHTML = `{markup}`; document.body.append(box);"
            " for (const media of box.querySelectorAll('audio, video')) media.load();")


def _peer(url: str) -> str:
    return _PEER.replace("SERVERS", f'[{{ urls: "{url}", username: "a", credential: "b" }}]')


def _form(attributes: str) -> str:
    return _element(f"<form {attributes} method=post target=_blank><input name=a value=b></form>") \
        + "box.firstChild.submit();"


_WITH_WORKER = 'const r = await navigator.serviceWorker.register("/w.js"); await navigator.serviceWorker.ready;'
MARKUP = {
    "image": '<img src="http://HOST:PORT/">',
    "image set": '<img srcset="http://HOST:PORT/ 2x">',
    "style sheet": '<link rel=stylesheet href="http://HOST:PORT/">',
    "import of a style sheet": '<style>@import "http://HOST:PORT/";</style>',
    "background and font": "<style>@font-face { font-family: f; src: url(http://HOST:PORT/f) }</style>"
                           '<p style="font-family: f; background: url(http://HOST:PORT/)">x</p>',
    "frame": '<iframe src="http://HOST:PORT/"></iframe>',
    "object and embed": '<object data="http://HOST:PORT/"></object><embed src="http://HOST:PORT/">',
    "video, audio and track": '<video src="http://HOST:PORT/" preload=auto></video><audio src="http://HOST:PORT/" '
                              'preload=auto></audio><video poster="http://HOST:PORT/"><track default '
                              'src="http://HOST:PORT/"></video>',
    "prefetch of names": '<link rel=dns-prefetch href="//HOST:PORT">',
    "preconnect": '<link rel=preconnect href="http://HOST:PORT">',
    "prefetch, preload and module": '<link rel=prefetch href="http://HOST:PORT/"><link rel=preload as=script '
                                    'href="http://HOST:PORT/"><link rel=modulepreload href="http://HOST:PORT/m.js">',
    "manifest and icon": '<link rel=manifest href="http://HOST:PORT/"><link rel=icon href="http://HOST:PORT/i">',
    "refresh": '<meta http-equiv=refresh content="0;url=http://HOST:PORT/">',
    "picture in SVG": '<svg><image href="http://HOST:PORT/" /><use href="http://HOST:PORT/#a" /></svg>',
    "attribution": '<img attributionsrc="http://HOST:PORT/" src="http://HOST:PORT/">',
}
SCRIPTS = {
    "fetch": 'await fetch("http://HOST:PORT/", { mode: "no-cors" })',
    "fetch over TLS": 'await fetch("https://HOST:PORT/", { mode: "no-cors" })',
    "keepalive": 'fetch("http://HOST:PORT/", { mode: "no-cors", keepalive: true }).catch(() => 0)',
    "request of old": 'const r = new XMLHttpRequest(); r.open("POST", "http://HOST:PORT/"); r.send("x")',
    "beacon": 'navigator.sendBeacon("http://HOST:PORT/", "x")',
    "deferred request": 'fetchLater("https://HOST:PORT/", { activateAfter: 0 })',
    "WebSocket": 'new WebSocket("ws://HOST:PORT/")',
    "WebSocket over TLS": 'new WebSocket("wss://HOST:PORT/")',
    "stream of a WebSocket": 'await new WebSocketStream("ws://HOST:PORT/").opened',
    "event source": 'new EventSource("http://HOST:PORT/")',
    "WebTransport": 'await new WebTransport("https://HOST:PORT/").ready',
    "script and module": 'const s = document.createElement("script"); s.src = "http://HOST:PORT/";'
                         'document.head.append(s); await import("http://HOST:PORT/m.js")',
    "worker": 'new Worker(URL.createObjectURL(new Blob([`importScripts("http://HOST:PORT/");`])));'
              'new Worker(URL.createObjectURL(new Blob([`fetch("http://HOST:PORT/", { mode: "no-cors" })`])))',
    "shared worker": 'new SharedWorker(URL.createObjectURL(new Blob([`fetch("http://HOST:PORT/")`])))',
    "service worker": 'await navigator.serviceWorker.register("https://HOST:PORT/w.js")',
    "form": _form('action="http://HOST:PORT/"'),
    "ping of a link": _element('<a href="#x" ping="http://HOST:PORT/">x</a>') + "box.firstChild.click();",
    "window": 'open("http://HOST:PORT/")',
    "other schemes": 'open("ftp://HOST:PORT/"); open("file://HOST/x")',
    "prerendering": 'const s = document.createElement("script"); s.type = "speculationrules"; s.textContent = '
                    'JSON.stringify({ prefetch: [{ source: "list", urls: ["https://HOST:PORT/"], eagerness: '
                    '"immediate" }], prerender: [{ source: "list", urls: ["/?PORT"], eagerness: "immediate" }] });'
                    "document.head.append(s)",
    "STUN": _peer("stun:HOST:PORT"),
    "TURN": _peer("turn:HOST:PORT"),
    "TURN over TCP": _peer("turn:HOST:PORT?transport=tcp"),
    "TURN over TLS": _peer("turns:HOST:PORT?transport=tcp"),
    "two peers": _TWO_PEERS,
    "a peer elsewhere": _REMOTE.replace("PROTOCOL", "udp").replace("TYPE", ""),
    "a peer elsewhere over TCP": _REMOTE.replace("PROTOCOL", "tcp").replace("TYPE", " tcptype passive"),
    "direct sockets": 'await new UDPSocket({ remoteAddress: "HOST", remotePort: PORT }).opened',
    "reports": 'new ReportingObserver(() => 0).observe(); await fetch("/reporting")',
    "background fetch": _WITH_WORKER + 'await r.backgroundFetch.fetch("x", ["https://HOST:PORT/"])',
    "push": _WITH_WORKER + "await r.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: "
            '"BFl0gk2dP8Gz7m8k8mQXzV0gT5b7Gm4p3K5wq7aQnC8ywXhKjz2o5h0eXbYb3mJcQn3eU2r8c7yUq0o2c5G1A9E" })',
    "federated sign-in": 'await navigator.credentials.get({ identity: { providers: [{ configURL: '
                         '"https://HOST:PORT/c.json", clientId: "a", nonce: "b" }] } })',
    "payment": 'await new PaymentRequest([{ supportedMethods: "https://HOST:PORT/pay" }], { total: { label: "x", '
               'amount: { currency: "EUR", value: "1" } } }).canMakePayment()',
    "shared storage": 'await sharedStorage.worklet.addModule("https://HOST:PORT/w.js")',
    "casting": 'const r = new PresentationRequest(["https://HOST:PORT/", "cast:1234"]); await r.getAvailability();'
               'document.createElement("video").remote?.watchAvailability(() => 0)',
    "location": "navigator.geolocation.getCurrentPosition(() => 0, () => 0)",
    "speech": "const s = new webkitSpeechRecognition(); s.start(); speechSynthesis.getVoices()",
    "models of the browser": 'for (const [name, options] of [["LanguageModel", {}], ["Summarizer", {}], ["Translator", '
                             '{ sourceLanguage: "en", targetLanguage: "de" }], ["LanguageDetector", {}]]) '
                             "self[name]?.create(options).catch(() => 0)",
    "spelling": _element("<textarea spellcheck lang=de>Helo wurld</textarea>") + "box.firstChild.focus()",
    "protected media": 'await navigator.requestMediaKeySystemAccess("com.widevine.alpha", [{ initDataTypes: ["cenc"], '
                       "videoCapabilities: [{ contentType: 'video/mp4; codecs=\"avc1.42E01E\"' }] }])",
    "a page of POST that is left": 'addEventListener("pagehide", () => navigator.sendBeacon("http://HOST:PORT/", "y"));'
                                   'setTimeout(() => location.reload(), 500)',
}
WAYS = {**{name: _element(markup) for name, markup in MARKUP.items()}, **SCRIPTS}
