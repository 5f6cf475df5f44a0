"""What is broken off at the end of a recording leaves no error behind."""

import asyncio

from recorder.browser.tab import Tab
from recorder.devtools.sessions import ProtocolError


class BusySession:
    """A session whose page does not answer until it is gone."""

    async def send(self, method: str, parameters=None):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ProtocolError("the target is gone") from None


def test_scripts_that_are_broken_off_leave_no_error():
    reported = []

    async def work():
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))
        session = BusySession()
        tab = Tab.__new__(Tab)
        tab._sessions, tab._worlds = [session], {session: {1, 2}}
        asking = asyncio.ensure_future(tab._in_worlds("1", 60))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert await tab._in_worlds("1", 0.01) is False

    asyncio.run(work())
    assert reported == []
