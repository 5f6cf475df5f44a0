"""Values of JavaScript expressions in stored pages, in a Chromium without network and page scripts."""

from contextlib import ExitStack, suppress

from playwright.sync_api import Browser
from playwright.sync_api import Error as PlaywrightError

from pipeline.pages.offline import limit_memory, offline_browser, restore, set_size
from pipeline.pages.rendering import Resources, render
from recorder.reader import Recording
from schemas import InputError

from .evidence import PageState

SECONDS = 20.0  # that a page with an expression may take


class Expressions:
    """What gives the value of an expression in a page of a recording, as text, after others were run in it; empty for
    one that has none or raises, as VisualWebArena's evaluators have it. Use it with `with`; the browser is started when
    the first value is asked for. Raises InputError when a page cannot be shown, or takes too long."""

    def __init__(self, recording: Recording):
        self._recording, self._resources = recording, Resources(recording)
        self._stack = ExitStack()
        self._browser: Browser | None = None

    def __enter__(self) -> "Expressions":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __call__(self, page: PageState, expression: str, before: list[str]) -> str:
        if self._browser is None or not self._browser.is_connected():
            self._stack.close()
            self._browser = self._stack.enter_context(offline_browser())
        return _value(self._browser, self._recording, page, expression, before, self._resources)


def _value(browser: Browser, recording: Recording, page: PageState, expression: str, before: list[str],
           resources: Resources) -> str:
    if page.state is None:
        raise InputError("the page was not recorded, so expressions cannot be evaluated")
    text = render(recording, page.state, resources)
    with limit_memory(browser, SECONDS) as late:
        try:
            context = browser.new_context(java_script_enabled=False, service_workers="block", accept_downloads=False)
            context.route("**/*", lambda route: route.fulfill(body=text, content_type="text/html; charset=utf-8")
                          if route.request.is_navigation_request() and not route.request.frame.parent_frame
                          else route.abort())
            shown = context.new_page()
            set_size(shown, page.state)
            shown.goto(page.url if page.url.startswith(("http://", "https://")) else "http://page.invalid/")
            restore(shown)
            value = ""
            with suppress(PlaywrightError):  # what raises has no value
                for statement in before:
                    shown.evaluate(f"() => {{ {statement} }}")
            with suppress(PlaywrightError):
                result = shown.evaluate(f"() => {expression}")
                value = "" if result is None else result if isinstance(result, str) else str(result)
            context.close()
        except PlaywrightError as error:
            if late.is_set():
                raise InputError(f"an expression takes longer than {SECONDS:.0f} s") from None
            raise InputError(f"the page cannot be shown ({str(error).partition(chr(10))[0][:200]})") from None
    if late.is_set():
        raise InputError(f"an expression takes longer than {SECONDS:.0f} s")
    return value
