"""Third-party applications in which the benchmark of replay records sessions: each with a script that a person could
have been, by mouse and keyboard."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Page

from benchmarks.applications import APPLICATIONS, Application, run_program

from .hand import MAIL, NAME, PASSWORD, choose, click, rest, seen, type_anew, type_in
from .single_page import NODE_RED, TIDDLYWIKI, use_node_red, use_tiddlywiki

_SITE = """
from django.contrib import admin
from django.urls import path
urlpatterns = [path("admin/", admin.site.urls)]
"""
_SAY = "Difference engine"
_ROUNDUP_PLACE = "http://127.0.0.1:8080"
_SERVE_ROUNDUP = """
import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIServer, make_server
from roundup.cgi.wsgi_handler import RequestDispatcher
class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
make_server("127.0.0.1", int(sys.argv[2]), RequestDispatcher(sys.argv[1]), Server).serve_forever()
"""


def _django(programs: Path, data: Path) -> None:
    python = str(programs / "python")
    run_program([python, "-m", "django", "startproject", "company", "."], data)
    (data / "company" / "urls.py").write_text(_SITE)
    run_program([python, "manage.py", "migrate", "--noinput"], data)
    run_program([python, "manage.py", "shell", "-c", "from django.contrib.auth.models import User, Group; "
                 f"User.objects.create_superuser({NAME!r}, {MAIL!r}, {PASSWORD!r}); "
                 "[Group.objects.create(name=f'Group {n}') for n in range(30)]"], data)


async def use_django(page: Page, origin: str) -> None:
    """Sign in, search, add, change, delete, sign out."""
    await page.goto(origin + "/admin/")
    await type_in(page.locator("#id_username"), NAME)
    await type_in(page.locator("#id_password"), PASSWORD)
    await page.keyboard.press("Enter")
    await rest(page)
    await click(page.get_by_role("link", name="Groups", exact=True).first)
    await rest(page)
    await type_in(page.locator("#searchbar"), "Group 1")
    await page.keyboard.press("Enter")
    await rest(page)
    await click(page.get_by_role("link", name="Group 11", exact=True))
    await rest(page)
    await type_in(page.locator("#id_name"), " of ours")
    await click(page.locator("input[name=_save]"))
    await rest(page)
    await click(page.get_by_role("link", name="Add group").first)
    await rest(page)
    await type_in(page.locator("#id_name"), _SAY)
    await click(page.locator("input[name=_continue]"))
    await rest(page)
    await click(page.get_by_role("link", name="Delete", exact=True))
    await rest(page)
    await click(page.locator("input[type=submit]").last)
    await rest(page)
    await click(page.get_by_role("button", name="Log out"))
    await rest(page)


async def use_wagtail(page: Page, origin: str) -> None:
    """Sign in, search, change a page and see it in a report, look for a user, sign out."""
    await page.goto(origin + "/admin/")
    await type_in(page.locator("#id_username"), NAME)
    await type_in(page.locator("#id_password"), PASSWORD)
    await page.keyboard.press("Enter")
    await type_in(page.locator("#id_q"), "Home")
    await page.keyboard.press("Enter")
    await click(page.get_by_role("link", name="Home", exact=True).last)
    await type_anew(page.locator("#id_title"), _SAY)
    await click(page.locator("button.action-save:visible").first)
    await seen(page.get_by_text("has been updated").first)
    await page.goto(origin + "/admin/reports/site-history/")
    await seen(page.get_by_text("Draft saved").first)
    await page.goto(origin + "/admin/users/")
    await type_in(page.locator("#id_q"), NAME)
    await click(page.get_by_role("link", name=NAME, exact=True).first)
    await seen(page.locator("#id_email"))
    await click(page.locator(".sidebar-footer__account"))
    await click(page.get_by_role("button", name="Log out"))
    await seen(page.locator("#id_username"))


def _roundup(programs: Path, data: Path) -> None:
    admin = [str(programs / "roundup-admin"), "-i", str(data / "tracker")]
    settings = f"tracker_web={_ROUNDUP_PLACE}/,mail_domain=example.org,mailhost=localhost,admin_email=admin@example.org"
    run_program([*admin, "install", "classic", "sqlite", settings], data)
    run_program([*admin, "initialise", PASSWORD], data)
    run_program([*admin, "create", "user", f"username={NAME}", f"password={PASSWORD}", "roles=User",
                 f"address={MAIL}"], data)
    for number, title in enumerate(("The lamp flickers", "A letter is missing", "The lamp is too dark")):
        run_program([*admin, "create", "issue", f"title={title}", f"priority={number + 1}"], data)
    (data / "serve.py").write_text(_SERVE_ROUNDUP)


def _serve_roundup(programs: Path, data: Path, port: int) -> list[str]:
    """It takes forms from its own address only, which it is told."""
    settings = data / "tracker" / "config.ini"
    settings.write_text(settings.read_text().replace(_ROUNDUP_PLACE, f"http://127.0.0.1:{port}"))
    return [str(programs / "python"), "serve.py", "tracker", str(port)]


async def use_roundup(page: Page, origin: str) -> None:
    """Sign in, search, answer an issue, make a new one, find it by its fields, close it, sign out."""
    await page.goto(origin + "/")
    await type_in(page.locator("input[name=__login_name]"), NAME)
    await type_in(page.locator("input[name=__login_password]"), PASSWORD)
    await page.keyboard.press("Enter")
    await seen(page.get_by_role("link", name="Logout"))
    await type_in(page.locator("#search-text"), "lamp")
    await click(page.locator("#submit"))
    await seen(page.get_by_text("1..2 out of 2"))
    await click(page.get_by_role("link", name="The lamp is too dark"))
    await type_in(page.locator("textarea[name='@note']"), "It needs more oil.")
    await choose(page.locator("select[name=status]"), "chatting")
    await click(page.locator("input[type=submit][value='Submit Changes']"))
    await seen(page.get_by_text("edited ok"))
    await click(page.locator("a[href='issue?@template=item']"))
    await type_in(page.locator("input[name=title]"), _SAY)
    await choose(page.locator("select[name=priority]"), "feature")
    await type_in(page.locator("textarea[name='@note']"), "Please make one.")
    await click(page.locator("input[type=submit][value='Submit New Entry']"))
    await seen(page.get_by_text("created"))
    await click(page.get_by_role("link", name="Your Issues").or_(page.get_by_role("link", name="Show All")).first)
    await click(page.get_by_role("link", name=_SAY))
    await type_anew(page.locator("input[name=title]"), _SAY + " of brass")
    await click(page.locator("input[type=submit][value='Submit Changes']"))
    await seen(page.get_by_text("edited ok"))
    await click(page.get_by_role("link", name="Logout"))
    await seen(page.locator("input[name=__login_name]"))


SCRIPTS: dict[str, tuple[Application, Callable[[Page, str], Awaitable[None]]]] = {
    "django": (Application(("django==5.2.4",), _django,
                           lambda programs, data, port: [str(programs / "python"), "manage.py", "runserver",
                                                         "--noreload", f"127.0.0.1:{port}"]), use_django),
    "wagtail": (APPLICATIONS["wagtail"], use_wagtail),
    "roundup": (Application(("roundup==2.6.0",), _roundup, _serve_roundup), use_roundup),
    "node-red": (NODE_RED, use_node_red),
    "tiddlywiki": (TIDDLYWIKI, use_tiddlywiki),
}
