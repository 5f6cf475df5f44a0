"""Any host is served, with its own certificate and from nowhere but the archive; nothing that is served gets out."""

import asyncio
import socket
from contextlib import closing
from dataclasses import replace

import pytest
from playwright.async_api import async_playwright

from replay.archive.exchanges import Archive, Channel, Message, Recorded, Request
from replay.running.offline import open_browser
from replay.serving.server import ReplayServer
from schemas import InputError
from tests.support.services.canary import Canary

STARTED = 1_600_000_000.0  # 2020-09-13
SHOP = "https://shop.example"


def exchange(number, url, content=b"", kind="document", content_type="text/html; charset=utf-8", status=200, **more):
    headers = (("Content-Type", content_type), *more.pop("headers", ()))
    return Recorded(number, float(number), more.pop("method", "GET"), url, status, lambda: content, headers, kind=kind,
                    top=kind == "document", **more)


def archive(*exchanges, channels=()):
    return Archive(tuple(exchanges), tuple(channels), STARTED)


@pytest.fixture(scope="module")
def opened():
    """A function that opens a page of an archive; all pages are in one browser."""
    with asyncio.Runner() as runner:
        async def begin():
            server = await ReplayServer(archive()).__aenter__()
            playwright = await async_playwright().start()
            return server, playwright, await open_browser(playwright, server, headless=True)

        server, playwright, browser = runner.run(begin())

        def open_(served, url, asked):
            server.serve(served)

            async def look():
                context = await browser.new_context()
                page = await context.new_page()
                try:
                    await page.goto(url)
                    return await asked(page)
                finally:
                    await context.close()

            return runner.run(look())

        open_.server = server
        yield open_

        async def end():
            await browser.close()
            await playwright.stop()
            await server.__aexit__()

        runner.run(end())


def test_a_page_over_tls_runs_at_its_time_with_its_chance_and_under_its_policy(opened):
    page = b'<!DOCTYPE html><html><head><title>Shop</title></head><body><script src="/a.js"></script></body></html>'
    script = b"window.seen = [new Date().getFullYear(), Math.random(), Math.random(), crypto.randomUUID()]"
    policy = (("Content-Security-Policy", "default-src 'none'; script-src 'self'"),
              ("Set-Cookie", "kept=1; Expires=Mon, 14 Sep 2020 12:26:41 GMT"),
              ("Set-Cookie", "gone=1; Expires=Sat, 12 Sep 2020 12:26:41 GMT"))
    served = archive(exchange(1, SHOP + "/", page, headers=policy, seed=7),
                     exchange(2, SHOP + "/a.js", script, "script", "text/javascript"))

    async def asked(page):
        return await page.evaluate("[window.seen, document.cookie, document.documentElement.outerHTML]")

    seen, cookies, markup = opened(served, SHOP + "/", asked)
    assert seen[0] == 2020
    assert opened(served, SHOP + "/", asked)[0] == seen  # the same again
    assert cookies == "kept=1"
    assert markup == page.decode().removeprefix("<!DOCTYPE html>")  # nothing of ours is left in it
    assert opened.server.missing == {}


def test_what_was_not_recorded_is_answered_504_and_listed(opened):
    async def asked(page):
        return await page.evaluate("fetch('/more').then((answer) => answer.status)")

    assert opened(archive(exchange(1, SHOP + "/", b"<p>Hello")), SHOP + "/", asked) == 504
    assert opened.server.missing == {("GET", SHOP + "/more"): 1}


def test_sockets_and_streams_are_served_again(opened):
    channels = (
        Channel(1, 1.0, "websocket", "wss://shop.example/talk", (
            Message(1.1, "received", "hello"), Message(1.2, "sent", "how many?"), Message(1.3, "received", "two"),
            Message(1.3, "received", b"\x01\x02"))),
        Channel(2, 1.0, "eventsource", SHOP + "/news", (Message(1.1, "received", "one\ntwo", "extra", "7"),)))
    served = archive(exchange(1, SHOP + "/", b"<p>Hello"), channels=channels)

    async def asked(page):
        return await page.evaluate("""async () => {
          const heard = [], socket = new WebSocket("wss://shop.example/talk");
          socket.binaryType = "arraybuffer";
          await new Promise((done) => socket.onmessage = ({ data }) => { heard.push(data); done(); });
          socket.send("how many?");
          await new Promise((done) => socket.onmessage = ({ data }) =>
            heard.push(typeof data === "string" ? data : [...new Uint8Array(data)]) > 2 && done());
          const news = new EventSource("/news");
          await new Promise((done) => news.addEventListener("extra", ({ data, lastEventId }) =>
            done(heard.push(data, lastEventId))));
          return heard;
        }""")

    assert opened(served, SHOP + "/", asked) == ["hello", "two", [1, 2], "one\ntwo", "7"]


def test_a_stream_that_was_opened_again_is_opened_again(opened):
    channels = (
        Channel(1, 1.1, "eventsource", SHOP + "/news", (Message(1.2, "received", "one"), Message(1.3, "close"))),
        Channel(2, 4.0, "eventsource", SHOP + "/news", (Message(4.1, "received", "two"), Message(9.0, "close"))),
        Channel(3, 1.1, "websocket", "wss://shop.example/talk", (Message(1.2, "received", "a"), Message(1.3, "close"))),
        Channel(4, 1.4, "websocket", "wss://shop.example/talk", (Message(1.5, "received", "b"),)))
    served = archive(exchange(1, SHOP + "/", b"<p>Hello"), channels=channels)

    async def asked(page):
        return await page.evaluate("""async () => {
          const heard = [], news = new EventSource("/news");
          news.onerror = () => heard.push("again");
          await new Promise((done) => news.onmessage = ({ data }) => heard.push(data) > 2 && done());
          const talk = () => new Promise((done) => {
            const socket = new WebSocket("wss://shop.example/talk");
            socket.onmessage = ({ data }) => { heard.push(data); if (data === "b") done(); };
            socket.onclose = () => { heard.push("closed"); talk().then(done); };
          });
          await talk();
          return heard;
        }""")

    assert opened(served, SHOP + "/", asked) == ["one", "again", "two", "a", "closed", "b"]


def test_ranges_heads_and_other_origins_are_answered(opened):
    served = archive(exchange(1, SHOP + "/", b"<p>Hello"),
                     exchange(2, SHOP + "/film", bytes(range(100)), "media", "video/mp4"),
                     exchange(3, "https://api.example/add", b'{"added": 1}', "fetch", "application/json", method="POST",
                              body=b'{"x": 1}', headers=(("Access-Control-Allow-Origin", SHOP),)))

    async def asked(page):
        return await page.evaluate("""async () => {
          const part = await fetch("/film", { headers: { Range: "bytes=10-12" } });
          const head = await fetch("/film", { method: "HEAD" });
          const added = await fetch("https://api.example/add", { method: "POST", body: '{"x":1}',
            headers: { "Content-Type": "application/json", "X-Mine": "1" } });
          return [part.status, [...new Uint8Array(await part.arrayBuffer())], head.status,
                  head.headers.get("content-length"), await added.json()];
        }""")

    assert opened(served, SHOP + "/", asked) == [206, [10, 11, 12], 200, "100", {"added": 1}]


def test_nothing_that_is_served_reaches_this_machine_or_the_network(opened):
    with Canary() as canary, closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as datagrams:
        datagrams.bind(("127.0.0.1", 0))
        datagrams.setblocking(False)
        page = f"""<!DOCTYPE html><title>x</title><img src="{canary.origin}/img"><iframe src="{canary.origin}/frame">
        </iframe><iframe src="file:///etc/passwd"></iframe><link rel=dns-prefetch href="{canary.origin}">
        <link rel=preconnect href="{canary.origin}"><script>
        fetch("{canary.origin}/fetch", {{ mode: "no-cors" }}).catch(() => 0);
        navigator.sendBeacon("{canary.origin}/beacon", "x");
        </script><script>new WebSocket("ws://127.0.0.1:{canary.port}/socket");</script><script>
        fetch("http://127.0.0.1:{opened.server.port}/", {{ mode: "no-cors" }}).catch(() => 0);
        </script><script>
        var peers = [];
        for (const urls of ["turn:127.0.0.1:{canary.port}?transport=tcp", "turn:127.0.0.1:{datagrams.getsockname()[1]}",
                            "stun:127.0.0.1:{datagrams.getsockname()[1]}"]) {{
          const peer = new RTCPeerConnection({{ iceServers: [{{ urls, username: "a", credential: "b" }}] }});
          peer.createDataChannel("x"); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
          peers.push(peer);
        }}
        </script><script>
        navigator.serviceWorker?.register("{canary.origin}/worker.js").catch(() => 0);
        </script>"""

        async def asked(page):
            # By then a server that is silent was asked.
            await page.wait_for_function("peers.every((peer) => peer.iceGatheringState === 'complete')")
            return [frame.url for frame in page.frames]

        urls = opened(archive(exchange(1, SHOP + "/", page.encode())), SHOP + "/", asked)
        assert not canary.asked and not any(url.startswith("file:") for url in urls)
        assert ("GET", canary.origin + "/img") in opened.server.missing  # it was asked for, and went nowhere
        with pytest.raises(BlockingIOError):
            datagrams.recv(1)


def test_a_failed_request_fails_again_and_a_redirect_leads_on(opened):
    served = archive(exchange(1, SHOP + "/", b"<p>Hello"),
                     exchange(2, SHOP + "/broken", kind="fetch", status=0, failure="net::ERR_CONNECTION_RESET"),
                     exchange(3, SHOP + "/old", kind="fetch", status=302, headers=(("Location", "/new"),)),
                     exchange(4, SHOP + "/new", b"new", "fetch", "text/plain"))

    async def asked(page):
        return await page.evaluate("""async () => [await fetch("/broken").catch((error) => error.name),
          await (await fetch("/old")).text()]""")

    assert opened(served, SHOP + "/", asked) == ["TypeError", "new"]


def test_sessions_share_nothing():
    served = archive(exchange(1, SHOP + "/", b"one"), exchange(2, SHOP + "/", b"added", method="POST", body=b"x"),
                     exchange(3, SHOP + "/", b"two"))
    one, other = ReplayServer(served), ReplayServer(served)
    get = Request("GET", SHOP + "/")
    assert one.answer(get).content.endswith(b"one") and one.answer(replace(get, method="POST", body=b"x")).content
    assert one.answer(get).content.endswith(b"two") and other.answer(get).content.endswith(b"one")
    one.reset()
    assert one.answer(get).content.endswith(b"one")


def test_an_answer_that_is_damaged_is_missing():
    def damaged():
        raise InputError("the blob is damaged")

    server = ReplayServer(archive(replace(exchange(1, SHOP + "/a"), answer=damaged),
                                  exchange(2, SHOP + "/b", b"b", "fetch", "text/plain")))
    asked = (("Sec-Fetch-Mode", "cors"),)
    assert server.answer(Request("GET", SHOP + "/a", asked)).status == 504
    assert server.answer(Request("GET", SHOP + "/b", asked)).content == b"b"
    assert server.missing == {("GET", SHOP + "/a"): 1}


def test_content_that_an_archive_left_out_is_missing():
    left_out = [replace(exchange(number, f"{SHOP}/{name}"), answer=lambda: None, is_content_required=required)
                for number, (name, required) in enumerate((("har", True), ("recording", False)), 1)]
    server = ReplayServer(archive(*left_out))
    asked = (("Sec-Fetch-Mode", "cors"),)
    assert server.answer(Request("GET", SHOP + "/har", asked)).status == 504
    assert server.answer(Request("GET", SHOP + "/recording", asked)).status == 200  # the answer was empty
    assert server.missing == {("GET", SHOP + "/har"): 1}


@pytest.mark.parametrize("mode, given", [("no-cors", 204), ("cors", 504)])
def test_what_a_page_tells_when_it_is_left_is_taken_though_no_browser_tells_of_it(mode, given):
    server = ReplayServer(archive())
    headers = (("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", "empty"), ("Referer", SHOP + "/"))
    assert server.answer(Request("POST", SHOP + "/release", headers, b"{}")).status == given
    assert len(server.missing) == (given == 504)


def test_an_odd_archive_costs_no_more_than_an_answer():
    headers = ("X\n", "1"), ("Set-Cookie", "a=b; Expires=never"), ("", "")
    odd = exchange(1, SHOP + "/", b"\xff\xfe<p>", headers=headers,
                   content_type="text/html; charset=\x00")
    server = ReplayServer(archive(odd, exchange(2, "http://[", b""), exchange(3, "x" * 9000, b"")))
    assert server.answer(Request("GET", SHOP + "/")).status == 200
    assert server.answer(Request("GET", "http://[")).status in (200, 504)
