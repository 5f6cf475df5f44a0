"""What is broken off at the end of a recording leaves no error behind."""

import asyncio
import gc

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


def test_work_that_is_cancelled_before_it_begins_leaves_no_warning(recwarn):
    async def work():
        tab = Tab.__new__(Tab)
        tab._tasks, tab._owed = set(), set()
        tab._spawn(asyncio.sleep(0))
        for task in list(tab._tasks):
            task.cancel()

    asyncio.run(work())
    gc.collect()
    assert not recwarn.list
