"""Nothing that only POSIX has is needed: all modules import, and a session goes the whole way, without it.

Libraries may use it where they find it; so only what our own code asks for is hidden, in every process.
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

from tests.support.checkout import ROOT

HIDE = textwrap.dedent('''
    import builtins, types

    ROOMS = {"schemas", "recorder", "pipeline", "replay", "curator_web", "demotape", "__main__"}
    MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix"}
    NAMES = {
        "os": {"fork", "forkpty", "getuid", "getgid", "getegid", "getpgid", "setsid", "killpg", "nice", "setpriority",
               "PRIO_PROCESS", "pread", "pwrite", "sync", "fchmod", "chown", "mkfifo", "statvfs", "sched_getaffinity",
               "posix_fadvise", "sendfile", "uname", "getloadavg", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC",
               "O_DIRECTORY", "O_SYNC", "O_DSYNC", "WNOHANG"},
        "signal": {"SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPIPE", "SIGCHLD", "alarm", "setitimer"},
        "socket": {"AF_UNIX", "socketpair", "send_fds"},
        "time": {"CLOCK_BOOTTIME", "CLOCK_MONOTONIC", "clock_gettime", "tzset"},
    }
    whole = builtins.__import__

    class Part(types.ModuleType):
        """A module without some of its names."""

        def __init__(self, module, hidden):
            super().__init__(module.__name__)
            self._module, self._hidden = module, hidden

        def __getattr__(self, name):
            if name in self._hidden:
                raise AttributeError(f"{self.__name__}.{name} is hidden")
            return getattr(self._module, name)

    def partly(name, globals=None, locals=None, fromlist=(), level=0):
        ours = (globals or {}).get("__name__", "").partition(".")[0] in ROOMS
        if ours and not level and name in MODULES:
            raise ModuleNotFoundError(f"{name} is hidden", name=name)
        module = whole(name, globals, locals, fromlist, level)
        return Part(module, NAMES[name]) if ours and name in NAMES else module

    builtins.__import__ = partly
''')
IMPORT_ALL = textwrap.dedent('''
    import importlib, json, pkgutil
    names = []
    for room in ("schemas", "recorder", "pipeline", "replay", "curator_web", "demotape"):
        package = importlib.import_module(room)
        names += [room, *(found.name for found in pkgutil.walk_packages(package.__path__, f"{room}."))]
    for name in names:
        if not name.startswith("demotape.trainers."):  # these need libraries of environments of their own
            importlib.import_module(name)
    print(json.dumps(names))
''')
WHOLE_WAY = textwrap.dedent('''
    import asyncio, sys
    from playwright.async_api import async_playwright
    from demotape.cli import main
    from recorder import Recorder, Recording
    from recorder.browser import launch

    async def record(url, directory):
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True)
            page = await (await browser.new_context()).new_page()
            async with Recorder(page.context, directory, task="Press", har=True) as recorder:
                await page.goto(url)
                await page.click("button")
                assert Recording(directory).is_live()
            await browser.close()
        assert not recorder.problems and not Recording(directory).is_live()

    def demotape(*arguments):
        main([*arguments], standalone_mode=False)

    if __name__ == "__main__":
        for name in ("rec-a", "rec-b"):
            asyncio.run(record(sys.argv[1], name))
        demotape("process", "rec-a", "rec-b", "--jobs", "2")
        demotape("import", "--create", "rec-a", "rec-b", "--data", "data")
        for format in ("weblinx", "webdataset"):
            demotape("export", f"out-{format}", "--format", format, "--data", "data")
            demotape("export", f"out-{format}", "--format", format, "--data", "data")  # in the place of the first
        demotape("check", "rec-a", "out-weblinx", "out-webdataset")
''')
PAGE = "<!DOCTYPE html><title>t</title><button onclick='this.textContent += 1'>Press</button>"


def run(tmp_path: Path, script: str, *arguments: str) -> str:
    """What a script prints in a new interpreter that hides what only POSIX has, from itself and those it starts."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text(HIDE)
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run([sys.executable, tmp_path / "script.py", *arguments], cwd=tmp_path, text=True, timeout=120,
                          capture_output=True, stdin=subprocess.DEVNULL,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path / "hidden"), str(ROOT)])})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_module_can_be_imported(tmp_path):
    names = json.loads(run(tmp_path, IMPORT_ALL))
    assert len(names) > 100 and {"recorder.writer", "pipeline.export", "curator_web.db.database"} <= set(names)


def test_what_hides_does_hide(tmp_path):
    script = "import os\ntry:\n    import fcntl\nexcept ImportError:\n    print('none', hasattr(os, 'fork'))\n"
    assert run(tmp_path, script) == "none False\n"


def test_a_session_goes_the_whole_way(tmp_path, site):
    site.pages["/"] = PAGE
    told = run(tmp_path, WHOLE_WAY, site.origin + "/")
    assert told.count("click 1") == 2
    turns = json.loads((tmp_path / "rec-a" / "demonstration.json").read_text())["turns"]
    assert [turn["intent"] for turn in turns] == ["load", "click"]
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]  # no lock is left behind
