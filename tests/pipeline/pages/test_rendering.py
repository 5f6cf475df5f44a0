"""A rendered page holds nothing that runs, fetches, navigates or sends, and looks as the captured one did."""

import html
from time import thread_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.pages import allowed, markup, rendering, restoring, style_sheets
from pipeline.pages.proof import UnsafePage, prove

RESOURCES = {
    "http://site.example/x.css":
        "@import 'y.css' layer(a) supports(display: grid) screen; a { background: url(z.png) }",
    "http://site.example/y.css": "b { c: d }",
    "http://site.example/self.css": "@import 'self.css'; @import 'self.css';",
}


class Kept:
    """What a recording kept of its pages' resources: the style sheets above, and every picture."""

    def data_uri(self, url):
        return url if url.startswith("data:") else "data:image/png;base64,AAAA"

    def text(self, url):
        return RESOURCES.get(url)


def rendered(text: str) -> str:
    """A page as it is shown, proved."""
    page = rendering._Page(Kept(), lambda uid: None, "").document(text)
    prove(page)
    return page


def sheet(text: str) -> str:
    """What is written for a style sheet."""
    sheets = style_sheets.StyleSheets(Kept().data_uri, Kept().text, markup.absolute)
    return sheets.rules(text, "http://site.example/")


def body(text: str) -> str:
    """What is written for a piece of a page."""
    page = rendered(text)
    return page[len(restoring.POLICY_ELEMENT + restoring.rules()):page.index("<script data-fragment")]


@pytest.mark.parametrize(("captured", "shown"), [
    (f"<iframe {allowed.WRITTEN}='<script>x</script>' width=3></iframe>", '<iframe width="3"></iframe>'),
    ("<p data-demotape-painted data-demotape-outlined>t</p>", "<p>t</p>"),
    ('<img /onerror="x" alt=a>', '<img alt="a">'),
    ("<iframe /src=http://c.example/ width=3></iframe>", '<iframe width="3"></iframe>'),
    ('<meta /http-equiv=refresh content="0;url=http://c.example">', '<meta content="0;url=http://c.example">'),
    ('<meta x" http-equiv=refresh>', "<meta>"),
    ("<p onclick=x ONFOCUS=y on-x=1>t</p>", "<p>t</p>"),
    ("<a href=' java\nscript:x'>a</a><a href=/b>b</a><a href=data:x>c</a>",
     '<a href="#">a</a><a href="/b">b</a><a href="#">c</a>'),
    ("<svg><a xlink:href=javascript:x>a</a><use href=http://c.example/#a /><use href=#b /></svg>",
     '<svg><a xlink:href="#">a</a><use/><use href="#b"/></svg>'),
    ("<svg><animate attributeName=href to=javascript:x></animate></svg>",
     '<svg><foreignObject data-demotape-whole=""><span data-demotape-tag="animate"></span></foreignObject></svg>'),
    ("<form action=http://c.example><button formaction=x>b</button></form>", "<form><button>b</button></form>"),
    ("<script>x</script><noscript><img src=x></noscript>a<noembed><b></noembed>",
     '<script type="text/left-out"></script><noscript style="display:none!important"></noscript>a'
     '<noembed style="display:none!important"></noembed>'),
    ("<script id=a class=b src=x type=module onload=y>x</script>",
     '<script id="a" class="b" type="text/left-out"></script>'),
    ("<svg><script href=x></script><style>a</style></svg>",
     '<svg><script type="text/left-out"></script><style>a</style></svg>'),
    ("<base href=http://c.example><link rel=preload href=x id=a>a", '<link id="a">a'),
    ("<link rel=stylesheet href=http://site.example/y.css title=t><style title=t data-demotape-sheet=off>a{}</style>",
     '<style>b { c: d }</style><style data-demotape-sheet="off" media="not all"></style>'),
    ("<link rel=stylesheet href=http://site.example/y.css data-demotape-rules='a{background:url(z)}'>",
     '<style>a{background:url("data:image/png;base64,AAAA")}</style>'),
    ("<p data-demotape-animated='width:url(http://c.example)'>t</p>",
     '<p data-demotape-animated="width:url(&quot;data:image/png;base64,AAAA&quot;)">t</p>'),
    ("<svg><style>a{width:attr(b type(<length>))} c<img</style></svg>",
     "<svg><style>a{width:attr(b type(&lt;length&gt;))} c&lt; img</style></svg>"),
    ("<plaintext>a<b>", '<pre data-demotape-tag="plaintext">a&lt;b&gt;'),
    ("<x-foo variant=a onclick=b><foo bar=x>y</foo></x-foo>",
     '<x-foo variant="a"><span bar="x" data-demotape-tag="foo">y</span></x-foo>'),
    ("<p _ngcontent-a v-x='url(http://c.example)' data-x='url(y)'>t</p>",
     '<p _ngcontent-a="" v-x="" data-x="url(y)">t</p>'),
    ("<p subframe theme='dark blue' evil='//c.example' wild='a.b' code=1 attributionsrc=a onlook=b loading=lazy>t</p>",
     '<p subframe="" theme="dark blue">t</p>'),
    ("<svg fill='url(http://c.example)' viewBox='0 0 1 1'><path fill='url(#a)'></path></svg>",
     '<svg fill="url(&quot;data:image/png;base64,AAAA&quot;)" viewbox="0 0 1 1">'
     '<path fill="url(&quot;#a&quot;)"></path></svg>'),
    ("<object data=http://c.example/>o</object><embed src=x><video src=x poster=y autoplay></video>",
     '<object>o</object><embed><video poster="data:image/png;base64,AAAA"></video>'),
    ("<textarea>\n&lt;/textarea></textarea>", "<textarea>\n&lt;/textarea&gt;</textarea>"),
])
def test_only_what_is_listed_stands_in_a_page(captured, shown):
    assert body(captured) == shown


@pytest.mark.parametrize(("captured", "shown"), [
    (r"a{background:\75rl(http://c.example)}", 'a{background:url("data:image/png;base64,AAAA")}'),
    ("a:fullscreen b::x,:not(:-webkit-full-screen){c:d}", 'a[data-demotape-lifted="fullscreen"]/**/ b::x,'
     ':not([data-demotape-lifted="fullscreen"]/**/){c:d}'),
    ("@media (display-mode:fullscreen){a::fullscreen{--b:fullscreen;c: fullscreen}}",
     "@media (display-mode:fullscreen){a::fullscreen{--b:fullscreen;c: fullscreen}}"),
    ("a{content:'url(x) </style>@import'}", r'a{content:"url\28 x) \3c /style>\40 import"}'),
    ("@media (width<=5px) and (1px < height){.w-\\[calc\\(1\\%\\)\\]{a:b}}",
     "@media (width<=5px) and (1px <  height){.w-\\[calc\\(1\\%\\)\\]{a:b}}"),
    ("a{width:attr(b type(<length>))} <img src=x>", "a{width:attr(b type(<length>))} < img src=x>"),
    ("x-a:state(on):not(:defined){}", 'x-a[data-demotape-states~="on"]/**/:not(:not([data-demotape-undefined])){}'),
    ("a:--b{transition:--c 1s}", "a:--b{transition:--c 1s}"),
    ("a</**/b{}", "a< /**/b{}"), ("a/**/b{}", "a/**/b{}"), (r".\@x{}", r".\40 x{}"), ("&:hover{}", "&:hover{}"),
    ("@namespace svg url(http://www.w3.org/2000/svg);a{}", '@namespace svg "http://www.w3.org/2000/svg";a{}'),
    ("a{x:image-set('p.png' 1x, url(q.png) type('image/png'))}",
     'a{x:image-set(url("data:image/png;base64,AAAA") 1x, url("data:image/png;base64,AAAA") type("image/png"))}'),
    ("@import url(http://site.example/x.css);", '@layer a{@supports (display: grid){@media screen{b { c: d }}}} '
     'a { background: url("data:image/png;base64,AAAA") }'),
    ("a{@import url(b);x:y}", 'a{  url("data:image/png;base64,AAAA");x:y}'),
    ("<!-- a{} -->", "  a{}  "), ("a{b:" + "9" * 5000 + "}", ""),
])
def test_a_style_sheet_says_the_same_and_fetches_nothing(captured, shown):
    assert sheet(captured) == shown


def test_a_style_sheet_that_imports_itself_ends():
    start = thread_time()
    assert sheet("@import url(http://site.example/self.css);").strip() == ""
    assert thread_time() - start < 5


def test_what_a_page_holds_is_bounded():
    many = f"<style>{'(' * 3_000_000}</style><style>a{{}}</style>"
    assert body(many) == "<style></style><style></style>"
    picture = f"url(data:image/png;base64,{'A' * 1_000_000})"
    assert len(rendered(f"<style>{f'a{{b:{picture}}}' * 3}</style>" + f'<p style="c:{picture}"></p>' * 100)) < 80 << 20


def test_frames_are_proved_too():
    for hostile in ("<script>x</script>", "<p onclick=x>", "<style>a{b:url(x)}</style>", "<object data=x>",
                    "<base href=x>", '<meta http-equiv="refresh" content="0">', "<a href=javascript:x>",
                    "<link rel=stylesheet href=x>", "<object data='data:text/html,x'>",
                    "<iframe src='data:text/html,x'>", "<embed src='data:text/html,x'>",
                    "<svg><use href='data:image/svg+xml,x'/>"):
        for page in (hostile, f'<iframe srcdoc="{html.escape(hostile)}"></iframe>',
                     f'<frameset><frame {allowed.WRITTEN}="{html.escape(hostile)}"></frameset>',
                     f'<iframe {allowed.WRITTEN.upper()}="{html.escape(hostile)}"></iframe>',
                     f"<div><template shadowrootmode=open>{hostile}</template></div>", f"<svg><desc>{hostile}"):
            with pytest.raises(UnsafePage):
                prove(page)


def test_a_picture_outside_its_kind_of_document_is_shown_all_the_same():
    assert "<image" in rendered("<image href='data:image/png;base64,AA=='>")


_PIECES = st.sampled_from([
    "<svg>", "</svg>", "<math>", "<mtext>", "<style>", "</style>", "<title>", "</title>", "<textarea>", "</textarea>",
    "<table>", "<tr>", "<select>", "<template shadowrootmode=open>", "</template>", "<desc>", "<foreignObject>", "<p",
    " a", "=", '"', "'", "/", ">", "<", "<!--", "-->", "<![CDATA[", "]]>", "<script>", "</script>", "<plaintext>",
    "<noscript>", "<xmp>", "</xmp>", "<iframe srcdoc=", "<img src=x onerror=y>", " onload=x", " href=javascript:x",
    "&lt;", "&#60;", "\0", "<annotation-xml encoding=text/html>", "<frameset>", "<frame src=x>", "<mglyph>", "\\",
    "url(", "@import", "{", "}", "(", "<html data-demotape-base=http://site.example/>", "<head>", "<body onload=x>",
    "<a id=x>", "<form>", "<!DOCTYPE html>",
])


@settings(max_examples=400, deadline=None)
@given(st.lists(st.one_of(_PIECES, st.text(max_size=5)), max_size=25).map("".join))
@example("<style>@import0")
def test_whatever_a_page_holds_what_is_written_is_safe(captured):
    rendered(captured)


ATTACKS = [
    "<img /onerror='ran()' src=x>", "<img src={canary}>", "<iframe /src={canary}></iframe>",
    "<object data={canary}></object>", "<meta /http-equiv=refresh content='0;url={canary}'>", "<base href={canary}>",
    "<link rel=stylesheet href={canary}>", "<embed src={canary}>",
    "<svg><image href={canary} /><use href={canary}#a /><feImage href={canary} /></svg>",
    "<style>@import '{canary}'; a{{}} body {{ background: \\75rl({canary}); cursor: url({canary}), auto }}</style>",
    "<style>@font-face {{ font-family: f; src: url({canary}) }} body {{ font-family: f }}</style>Text",
    "<p style='background: image-set(\"{canary}\" 1x)'>t</p>", "<video poster={canary} src={canary} autoplay></video>",
    "<svg><style>&lt;/style>&lt;img src=x onerror=ran()></style></svg>", "<svg><script>ran()</script></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=ran()&gt;'>",
    "<noscript><p title='</noscript><img src=x onerror=ran()>'></noscript>", "<input autofocus onfocus=ran()>",
    "<iframe srcdoc='<script>parent.ran()</script><img src={canary}>'></iframe>", "<body onload=ran()>",
    "<div><template shadowrootmode=open><img src=x onerror=ran()></template></div>", "<td background={canary}>",
    "<details open ontoggle=ran()>", "<svg><animate onbegin=ran() attributeName=x dur=1s></svg>",
    "<audio src={canary}>",
    "<style>a</style ><script>ran()</script>", "<p title='`><script>ran()</script>'>",
    "<link rel=dns-prefetch href={canary}>",
]


@pytest.mark.parametrize("allowed", ["with its policy", "without"])
def test_nothing_runs_and_nothing_is_asked_for_in_a_browser(recording_browser, site, allowed):
    """Also where the policy that a page carries is taken out: it is the second wall, not the first."""
    site.pages["/"] = ""

    async def show():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        asked = []
        context.on("request", lambda request: asked.append(request.url))
        await page.goto(site.origin)
        asked.clear()
        for attack in ATTACKS:
            hostile = attack.format(canary=site.other_origin + "/canary")
            text = rendered(f"<!DOCTYPE html><html><head></head><body>{hostile}")
            if allowed == "without":
                text = text.replace(restoring.POLICY_ELEMENT, "")
            await page.evaluate("window.hits = 0; window.ran = () => { hits++ }; 0")
            await page.set_content(text, wait_until="load")
            await page.evaluate(restoring.PAGE_READY)
            assert await page.evaluate("window.hits") in (0, None), attack
        await page.close()
        await context.close()
        return [url for url in asked if not url.startswith("data:")]

    assert recording_browser.run(show()) == []


def test_a_page_whose_elements_are_named_like_properties_stands_as_it_stood(recording_browser):
    names = ("currentScript", "fonts", "body", "scrollingElement", "querySelectorAll", "getAttribute", "scrollTo")
    named = "".join(f"<img name={name}><form id={name}><input name={name}></form>" for name in names)
    text = rendered(f"<!DOCTYPE html><html><head></head><body>{named}<div data-demotape-scroll=0,70 style='height:50px;"
                    "overflow:auto' id=d><p style='height:900px'>t</p></div>")

    async def show():
        page = await recording_browser.browser.new_page()
        await page.set_content(text, wait_until="load")
        await page.evaluate(restoring.PAGE_READY)
        top = await page.locator("#d").evaluate("element => element.scrollTop")
        await page.context.close()
        return top

    assert recording_browser.run(show()) == 70


@pytest.mark.parametrize("piece", [
    "<style", "<p a='", "<a ", "<style>a{b:", "<style>@import ", "<style>url( ", "<style>/*", "<style>\\", "<!--", "&",
    "<svg>", "<svg><p>", "<math><p>", "<a><p>", "<x-a></x-b>",
    "<iframe srcdoc='", "<table><tr>", "<b><p>", "</p>", "<x-a b=c>", "<style></style>",
])
def test_a_page_twice_as_long_takes_twice_as_long(piece):
    def seconds(length):
        text = piece * (length // len(piece))
        start = thread_time()
        rendered(text)
        return thread_time() - start

    seconds(1000)
    short, long = (min(seconds(length) for _ in range(3)) for length in (20_000, 80_000))
    assert long < 0.05 or long < 7 * short  # four times as long; a square law would make it 16
