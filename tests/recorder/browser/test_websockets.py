"""How a WebSocket ended, which subprotocol was chosen, and ids that pages make are as recorded when served again."""

import asyncio
import json

import pytest
from websockets.asyncio.server import serve
from websockets.datastructures import Headers
from websockets.http11 import Response

from recorder import Recording
from recorder.browser.traffic.channels import _Ends, _read_report
from recorder.privacy.channel_event import ChannelEvent
from replay.archive.reading import read_recording
from replay.serving.carried_ids import CarriedValues
from tests.support.served_again import output_when_served_again

# A path -> what the page does with it: `ask` sends requests with ids that are other ones in each run.
PAGE = """<!DOCTYPE html><title>t</title><button id=go>Go</button><p id=out></p><script>
const run = (Made, address, path) => new Promise((done) => {
  const said = [], socket = new Made(address + path, ["one", "two"]);
  let id = 0;
  const ask = () => { id = Math.floor(performance.now() * 1000);
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: "add", params: [1, 2] })); };
  socket.onopen = () => { said.push("chose " + socket.protocol); if (path !== "/broken") ask(); };
  socket.onmessage = ({ data }) => {
    const { id: answered, result } = JSON.parse(data);
    said.push(`${answered === id} ${result}`);
    if (path === "/page") socket.close(4002, "bye"); else if (path === "/open") done(said);
  };
  socket.onclose = ({ code, reason, wasClean }) => { said.push([code, reason, wasClean]); done(said); };
});
const inWorker = (address, path) => new Promise((done) => {
  const worker = new Worker(URL.createObjectURL(new Blob([
    `const run = ${run}; run(WebSocket, "${address}", "${path}").then(postMessage)`])));
  worker.onmessage = ({ data }) => done(data);
});
class Own extends WebSocket {}
go.onclick = async () => {
  const address = "ADDRESS", said = {};
  for (const path of ["/server", "/page", "/open", "/broken", "/refused"])
    said[path] = await run(WebSocket, address, path);
  said.worker = await inWorker(address, "/server?worker");
  said.own = await run(Own, address, "/server?own");
  said.names = [WebSocket.name, new Own(address + "/server?names") instanceof WebSocket,
    WebSocket.prototype.constructor === WebSocket, WebSocket.OPEN];
  out.textContent = JSON.stringify(said);
  document.title = "done";
};
</script>"""


async def talk(connection):
    """Answer one request, and end as the path says."""
    path = connection.request.path.partition("?")[0]
    if path == "/broken":
        connection.transport.abort()
        return
    async for message in connection:
        await connection.send(json.dumps({"jsonrpc": "2.0", "id": json.loads(message)["id"], "result": 3}))
        if path == "/server":
            await connection.close(4001, "session over: größer")


async def respond(connection, request):
    """The page, a refusal, or None for a handshake."""
    if request.path == "/refused":
        return connection.respond(403, "no")
    if request.headers.get("Upgrade"):
        return None
    address = f"ws://{request.headers['Host']}"
    content = PAGE.replace("ADDRESS", address).encode()
    return Response(200, "OK", Headers({"Content-Type": "text/html; charset=utf-8"}), content)


@pytest.fixture(scope="module")
def session(recording_browser):
    """A recording, its address, and what the page said."""
    async def start():
        return await serve(talk, "127.0.0.1", 0, process_request=respond, subprotocols=["two"])

    started = recording_browser.run(start())
    url, said = f"http://127.0.0.1:{started.sockets[0].getsockname()[1]}/", []

    async def act(page):
        await page.locator("#go").click()
        await page.wait_for_function("document.title === 'done'")
        said.append(await page.locator("#out").inner_text())

    recording = recording_browser.record(act, url=url, keep={"replayable": True}).recording
    started.close()
    return recording, url, json.loads(said[0])


def ends(recording: Recording) -> dict[str, tuple]:
    lines = recording.channel_messages()
    paths = {line["channel"]: "/" + line["url"].rpartition("/")[2] for line in lines if line["direction"] == "open"}
    return {paths[line["channel"]]: (line.get("code"), line.get("reason"), line.get("by_page"))
            for line in lines if line["direction"] == "close"}


def test_the_end_of_each_socket_is_recorded(session):
    recorded = ends(session[0])
    assert recorded["/server"] == recorded["/server?worker"] == recorded["/server?own"] == (
        4001, "session over: größer", False)
    assert recorded["/page"] == (4002, "bye", True)
    assert recorded["/broken"] == recorded["/refused"] == (1006, "", False)


def test_the_page_sees_the_class_that_it_knows(session):
    assert session[2]["names"] == ["WebSocket", True, True, 1]


def test_the_chosen_subprotocol_is_recorded(session):
    channels = {channel.url.rpartition("/")[2]: channel for channel in read_recording(session[0]).channels}
    assert channels["server"].protocol == "two" and channels["refused"].is_refused
    assert not channels["broken"].is_refused


def test_a_page_that_is_served_again_says_the_same(session):
    recording, url, said = session


    assert said["/server"] == ["chose two", "true 3", [4001, "session over: größer", True]]
    assert json.loads(asyncio.run(output_when_served_again(recording, url))) == said


@pytest.mark.parametrize("sent, now, received, expected", [
    ('{"id": 7, "m": "a"}', '{"id": 19, "m": "a"}', '{"id": 7, "result": 7}', '{"id": 19, "result": 7}'),
    ('{"id": "a1b2c3d4"}', '{"id": "ffff0000"}', '{"re": "a1b2c3d4", "t": "for a1b2c3d4"}',
     '{"re": "ffff0000", "t": "for ffff0000"}'),
    ('["1", "3", "room", "join", {}]', '["1", "9", "room", "join", {}]', '["1", "3", "room", "reply", {"é": 3}]',
     '["1", "9", "room", "reply", {"é": 3}]'),
    ('427["save", 1]', '4212["save", 1]', '437["ok"]', '4312["ok"]'),
    ('{"id": 7}', '{"id": 7}', '{"id": 7,"x":1}', '{"id": 7,"x":1}'),
    ('{"id": 7}', 'no JSON', '{"id": 7}', '{"id": 7}'), ('[' * 9000, '[' * 9000 + '1', '{"id": 7}', '{"id": 7}'),
    ('{"id": 7}', b'\x00', b'\x01', b'\x01'), ('{"ok": true}', '{"ok": 1}', '{"ok": true}', '{"ok": true}')])
def test_a_value_that_the_page_made_is_carried_into_what_answers_it(sent, now, received, expected):
    carried = CarriedValues()
    carried.learn(sent, now)
    assert carried.replaced(received) == expected


def test_an_id_that_is_used_again_has_its_newest_value():
    carried = CarriedValues()
    carried.learn('{"id": 7}', '{"id": 8}')
    carried.learn('{"id": 7}', '{"id": 7}')
    assert carried.replaced('{"id": 7}') == '{"id": 7}'


@pytest.mark.parametrize("payload", ["", "[]", "[1, 2]", '[1, 20, "", true]', f'[1, 4000, "{"x" * 124}", true]', "{}",
                                     "[" * 1999, '[1, 1000, "", true, 2]', '["1"]', "1" * 3000])
def test_what_a_page_must_not_report_is_ignored(payload):
    assert _read_report(payload) is None


def test_ends_that_come_before_or_behind_that_of_the_protocol():
    ends, one, two = _Ends(), *(ChannelEvent(1, number, "websocket", "close", 0.0) for number in (1, 2))
    for key, number in (("a", 1), ("b", 2)):
        ends.opened(key)
        ends.reported(5, (number, None))
    ends.reported(5, (2, (4001, "over", False)))
    ends.closed("b", two)
    ends.closed("a", one)
    ends.reported(5, (1, (1000, "", True)))
    ends.reported(5, (1, (4009, "again", True)))
    assert (one.code, one.by_page, two.code, two.reason) == (1000, True, 4001, "over")
