"""WebSockets and EventSources carry what they did, in order and up to a time, and begin again where they did."""

import asyncio
from contextlib import aclosing, suppress

from replay.archive.exchanges import Channel, Message, Recorded
from replay.serving.channels import Channels

NEWS = "https://shop.example/news"


def stream(number, time, *messages, kind="eventsource"):
    return Channel(number, time, kind, NEWS, tuple(Message(*message) for message in messages))


def document(time):
    return Recorded(1, time, "GET", "https://shop.example/", 200, lambda: b"", kind="document", top=True)


def heard(channels, *times):
    """What is given of the next channel up to each of these times; and whether it then ended."""
    async def hear():
        given, told = [], []
        playing = channels.open("eventsource", NEWS)

        async def listen():
            async with aclosing(playing.messages()) as messages:
                async for message in messages:
                    given.append(message.data)

        channels.play_until(times[0])
        listening = asyncio.ensure_future(listen())
        for time in times:
            channels.play_until(time)
            for _ in range(20):  # turns of the loop: nothing in it waits for a time
                await asyncio.sleep(0)
            assert not channels.behind
            told.append(list(given))
        ended = listening.done()
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening
        return told, ended

    return asyncio.run(hear())


def test_messages_come_up_to_the_time_that_the_run_has_reached():
    news = stream(1, 1.0, (1.5, "received", "one"), (2.5, "received", "two"), (60.0, "received", "three"))
    told, ended = heard(Channels((news,)), 1.0, 2.0, 59.9, 60.0)
    assert told == [[], ["one"], ["one", "two"], ["one", "two", "three"]] and not ended


def test_a_stream_ends_where_the_page_asked_again():
    first = stream(1, 1.0, (1.5, "received", "one"), (2.0, "close"))
    again = stream(2, 5.0, (5.5, "received", "two"), (9.0, "close"))
    channels = Channels((first, again), [document(0.5)])
    assert heard(channels, 1.9) == ([["one"]], False)
    channels.reset()
    assert heard(channels, 2.0) == ([["one"]], True)
    assert heard(channels, 99.0) == ([["two"]], False)  # nobody asked a third time


def test_a_stream_that_another_page_opened_again_stays_open():
    first = stream(1, 1.0, (1.5, "received", "one"), (2.0, "close"))
    other = stream(2, 5.0, (5.5, "received", "two"))
    assert heard(Channels((first, other), [document(0.5), document(4.0)]), 99.0) == ([["one"]], False)


def test_what_waits_for_the_browser_is_not_behind():
    async def run():
        talk = stream(1, 1.0, (1.1, "sent"), (1.2, "received", "two"), kind="websocket")
        channels = Channels((talk,))
        channels.play_until(50.0)
        playing = channels.open("websocket", NEWS)
        async with aclosing(playing.messages()) as messages:
            first = asyncio.ensure_future(anext(messages))
            await asyncio.sleep(0)
            assert not channels.behind and not first.done()
            playing.hear()
            assert (await first).data == "two"

    asyncio.run(run())
