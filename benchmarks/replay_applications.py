"""Third-party applications in which the benchmark of replay records sessions: each with a script that a person could
have been, by mouse and keyboard."""

import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Locator, Page

from .applications import APPLICATIONS, Application

NAME, PASSWORD, MAIL = "ada", "Engine-1843-x", "ada@example.org"
_SITE = """
from django.contrib import admin
from django.urls import path
urlpatterns = [path("admin/", admin.site.urls)]
"""
_LOOK = 350  # ms before each action
_SAY = "Difference engine"


async def click(target: Locator) -> None:
    """Look, move there and press."""
    page = target.page
    await target.wait_for(state="visible")
    await target.scroll_into_view_if_needed()
    await page.wait_for_timeout(_LOOK)
    box = await target.bounding_box()
    assert box
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    await page.mouse.down()
    await page.mouse.up()


async def type_in(target: Locator, text: str) -> None:
    """Press in a field and type."""
    await click(target)
    await target.page.keyboard.type(text, delay=40)


async def rest(page: Page) -> None:
    """Wait until the page has loaded, and look at it."""
    await page.wait_for_load_state()
    await page.wait_for_timeout(_LOOK)


def _django(programs: Path, data: Path) -> None:
    run = lambda *words, **more: subprocess.run(  # noqa: E731
        [str(programs / "python"), *words], cwd=data, check=True, capture_output=True, **more)
    run("-m", "django", "startproject", "company", ".")
    (data / "company" / "urls.py").write_text(_SITE)
    run("manage.py", "migrate", "--noinput")
    run("manage.py", "shell", "-c", "from django.contrib.auth.models import User, Group; "
        f"User.objects.create_superuser({NAME!r}, {MAIL!r}, {PASSWORD!r}); "
        "[Group.objects.create(name=f'Group {n}') for n in range(30)]")


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
    """Sign in, search, look at a report, sign out."""
    await page.goto(origin + "/admin/")
    await type_in(page.locator("#id_username"), NAME)
    await type_in(page.locator("#id_password"), PASSWORD)
    await page.keyboard.press("Enter")
    await rest(page)
    await page.goto(origin + "/admin/users/")
    await rest(page)
    await click(page.locator("th a").first)
    await rest(page)
    await page.goto(origin + "/admin/reports/site-history/")
    await rest(page)
    await page.goto(origin + "/admin/pages/")
    await rest(page)


SCRIPTS: dict[str, tuple[Application, Callable[[Page, str], Awaitable[None]]]] = {
    "django": (Application(("django==5.2.4",), _django,
                           lambda programs, data, port: [str(programs / "python"), "manage.py", "runserver",
                                                         "--noreload", f"127.0.0.1:{port}"], ()), use_django),
    "wagtail": (APPLICATIONS["wagtail"], use_wagtail),
}
