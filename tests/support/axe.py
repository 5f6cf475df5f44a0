"""Findings of axe-core on pages of the review app, and whether they are wider than the window."""

from playwright.sync_api import Page

from .checkout import ROOT

_AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
_COLOURS = ("color-contrast", "link-in-text-block")  # the rules that ask for colours,
_STRICTER = "color-contrast-enhanced"  # and one for level AAA of WCAG, which axe leaves out unless it is asked for
# Whatever of a page axe looks at, but its colours: elements, where they stand, and whether they are seen.
_BOXES = """() => [...document.querySelectorAll('*')].map(each => {
  const { x, y, width, height } = each.getBoundingClientRect(), style = getComputedStyle(each);
  return [each.outerHTML.length, x, y, width, height, style.display, style.visibility, style.opacity].join();
}).join(';')"""


def problems(page: Page, rules: tuple[str, ...] | None = None) -> list[str]:
    """What axe finds on a page, by all its rules or by some."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE.read_text(encoding="utf-8"))
    assert {*page.evaluate("axe.getRules(['cat.color']).map(({ ruleId }) => ruleId)")} == {*_COLOURS, _STRICTER}
    options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    found = page.evaluate("options => axe.run(options)", options)["violations"]
    return [f"{each['id']}: {node['html'][:160]}" for each in found for node in each["nodes"]]


def at_all_widths(page: Page, name: str) -> dict[str, list[str]]:
    """What axe finds on an open page at two widths in each scheme; it is no wider than the window, nor than a phone.

    Where nothing but colours has changed with the scheme, only the rules that ask for colours are run again.
    """
    found = {}
    for width, schemes in ((1280, ("light", "dark")), (800, ("dark", "light"))):
        page.set_viewport_size({"width": width, "height": 800})
        boxes = None
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            page.evaluate("""() => Promise.allSettled(document.getAnimations().filter(
                each => each instanceof CSSTransition).map(each => each.finished))""")
            assert page.evaluate(f"matchMedia('(prefers-color-scheme: {scheme})').matches")
            before, boxes = boxes, page.evaluate(_BOXES)
            found[f"{name}, {width}, {scheme}"] = problems(page, _COLOURS if boxes == before else None)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than the window"
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than a phone"
    page.set_viewport_size({"width": 1280, "height": 800})
    return found
