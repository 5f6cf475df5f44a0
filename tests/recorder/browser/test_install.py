"""A Chromium is found or installed: which system gets which commands, and what becomes of them."""

import os
import shlex
from pathlib import Path

import pytest

from recorder.browser.install import Chromium, find_or_install
from recorder.browser.install_plan import Host, Plan, install_plan
from schemas import DemotapeError, InputError
from schemas.chromium import application_paths, find_chromium

PYTHON = "/opt/a b/python"
OWN = (PYTHON, "-m", "playwright", "install", "chromium")
SHOWN_OWN = "'/opt/a b/python' -m playwright install chromium"
APT = (("apt-get", "update"), ("apt-get", "install", "-y", "chromium"))
HOSTS = {
    "Debian, root": (("Linux", {"debian"}, True, True), (APT, ((*OWN, "--with-deps"),)),
                     "apt-get update && apt-get install -y chromium"),
    "Debian, user": (("Linux", {"debian"}, True, False), ((OWN,),),
                     "sudo apt-get update && sudo apt-get install -y chromium"),
    "Ubuntu, root": (("Linux", {"ubuntu", "debian"}, True, True), (((*OWN, "--with-deps"),),),
                     f"'/opt/a b/python' -m playwright install-deps chromium && {SHOWN_OWN}"),
    "Ubuntu, user": (("Linux", {"ubuntu", "debian"}, True, False), ((OWN,),),
                     f"sudo '/opt/a b/python' -m playwright install-deps chromium && {SHOWN_OWN}"),
    "Mint": (("Linux", {"linuxmint", "ubuntu", "debian"}, True, False), ((OWN,),),
             f"sudo '/opt/a b/python' -m playwright install-deps chromium && {SHOWN_OWN}"),
    "Fedora, user": (("Linux", {"fedora"}, False, False), (), "sudo dnf install -y chromium"),
    "Rocky, root": (("Linux", {"rocky", "rhel", "centos", "fedora"}, False, True), (), "dnf install -y chromium"),
    "macOS": (("Darwin", (), False, False), (), SHOWN_OWN),
    "Windows": (("Windows", (), False, False), (), "winget install --exact --id Google.Chrome"),
    "another": (("Linux", {"arch"}, False, False), (),
                "the package manager of your system to install Chromium or Google Chrome"),
}


@pytest.mark.parametrize("name", HOSTS)
def test_each_system_has_its_commands(name):
    (system, distributions, has_apt, is_root), attempts, shown = HOSTS[name]
    host = Host(system, frozenset(distributions), has_apt, is_root, PYTHON)
    assert install_plan(host) == Plan(attempts, shown)


def test_applications_outside_the_path():
    assert application_paths("Linux", {}) == []
    assert "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" in application_paths("Darwin", {"HOME": "/u"})
    assert "/u/Applications/Chromium.app/Contents/MacOS/Chromium" in application_paths("Darwin", {"HOME": "/u"})
    assert application_paths("Windows", {"PROGRAMFILES": "C:\\P", "LOCALAPPDATA": "C:\\L"}) == [
        "C:\\P\\Chromium\\Application\\chrome.exe", "C:\\L\\Chromium\\Application\\chrome.exe",
        "C:\\P\\Google\\Chrome\\Application\\chrome.exe", "C:\\L\\Google\\Chrome\\Application\\chrome.exe"]


@pytest.fixture
def programs(tmp_path, monkeypatch) -> Path:
    """A folder that is the path of programs, with all of this system but a browser; it has no other browser either."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for source in map(Path, ("/usr/bin", "/bin")):
        for program in source.iterdir():
            link = folder / program.name
            if "chrom" not in program.name and not link.is_symlink():
                link.symlink_to(program)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))
    monkeypatch.delenv("DEMOTAPE_CHROMIUM", raising=False)
    return folder


@pytest.fixture
def real() -> str:
    """Path of the Chromium of this machine."""
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        return find_chromium(playwright.chromium.executable_path)


def test_the_next_attempt_is_made_until_one_starts(real, programs):
    chromium = programs / "chromium"
    failing = ("sh", "-c", f"printf '#!/bin/sh\\nexit 1\\n' > {chromium} && chmod +x {chromium}")
    bringing = ("sh", "-c", f"ln -sf {shlex.quote(real)} {chromium}")
    never = ("sh", "-c", f"rm {chromium}")
    reported = []
    plan = Plan(((("no-such-program",),), (("true",), failing), (bringing,), (never,)), "nothing")
    found = find_or_install(plan, reported.append)
    assert isinstance(found, Chromium) and found.path == str(chromium) and int(found.version.split(".")[0]) > 100
    assert reported == ["no-such-program", "true", " ".join(failing), " ".join(bringing)]
    assert find_or_install(plan, reported.append) == found and len(reported) == 4


def test_what_to_run_is_said_if_nothing_helps(programs):
    with pytest.raises(DemotapeError, match="^no Chromium found; run: brew it$"):
        find_or_install(Plan(((("true",),),), "brew it"), lambda _: None)
    (programs / "chromium").write_text("#!/bin/sh\nexit 1\n")
    (programs / "chromium").chmod(0o755)
    with pytest.raises(DemotapeError, match=rf"^{programs}/chromium does not start \(.+\); run: brew it$"):
        find_or_install(Plan((), "brew it"), lambda _: None)


def test_a_browser_that_is_named_is_the_only_one(programs, monkeypatch):
    plan = Plan(((("rm", "-r", str(programs)),),), "nothing")
    monkeypatch.setenv("DEMOTAPE_CHROMIUM", "/bin/true")
    with pytest.raises(DemotapeError, match="^DEMOTAPE_CHROMIUM: /bin/true does not start"):
        find_or_install(plan, lambda _: None)
    monkeypatch.setenv("DEMOTAPE_CHROMIUM", os.devnull + "/none")
    with pytest.raises(InputError, match="no such file"):
        find_or_install(plan, lambda _: None)
    assert programs.is_dir()
