"""Allow-lists of a rendered page: elements, attributes and addresses. All that is not named here is left out.

Names are those of the HTML standard (section "Index"), SVG 2 and MathML Core, without what runs, fetches, navigates or
sends. A name with a hyphen is a custom element's or an author's own attribute, to which browsers give no meaning; style
sheets select by them, so they stay. So does an attribute of another name that no browser knows (`theme`, `subframe`),
with a value of words, which is no address.
"""

import re
from functools import lru_cache
from typing import Literal

from schemas import UID_ATTRIBUTE


def names(text: str) -> frozenset[str]:
    """Names that are written in a text, between blanks."""
    return frozenset(text.split())


_HTML = """a abbr acronym address area article aside audio b bdi bdo big blink blockquote body br button canvas caption
center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure
font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li
link listing main map mark marquee menu meta meter nav nobr object ol optgroup option output p param picture pre
progress q rb rp rt rtc ruby s samp search section select selectedcontent slot small source span strike strong style
sub summary sup table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr"""
_SVG = """svg circle clippath defs desc ellipse feblend fecolormatrix fecomponenttransfer fecomposite feconvolvematrix
fediffuselighting fedisplacementmap fedistantlight fedropshadow feflood fefunca fefuncb fefuncg fefuncr fegaussianblur
feimage femerge femergenode femorphology feoffset fepointlight fespecularlighting fespotlight fetile feturbulence filter
foreignobject g image line lineargradient marker mask metadata path pattern polygon polyline radialgradient rect stop
switch symbol text textpath tspan use view"""
_MATHML = """math annotation annotation-xml maction merror mfrac mi mmultiscripts mn mo mover mpadded mphantom
mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics"""
_ELEMENTS = names(f"{_HTML} {_SVG} {_MATHML}")
HTML_ONLY = names(_HTML) - names(f"{_SVG} a title style")  # those that are none of SVG's by name

STRUCTURE = frozenset({"html", "head", "body"})
LINKS = frozenset({"a", "area"})
FRAMES = frozenset({"iframe", "frame", "object", "embed"})
# Elements that show a document only by its address; `about:blank` is one into which our script can write.
FRAME_ADDRESSES = {"object": "data", "embed": "src"}
BLANK_PAGE = "about:blank"
PICTURES = {  # elements that show a picture, and the attributes that name it
    "img": ("src",), "input": ("src",), "image": ("href", "xlink:href"), "feimage": ("href", "xlink:href"),
    "video": ("poster",), "body": ("background",), "table": ("background",), "td": ("background",),
    "th": ("background",),
}
# Their text is neither markup nor for a reader, or another document's.
EMPTIED = names("script noscript iframe noembed noframes applet")
# Left out, but an empty element of the same name stands for each, as rules may count the elements beside it.
PLACEHOLDERS = EMPTIED - {"iframe"}
PLACEHOLDER_ATTRIBUTES = frozenset({"id", "class", "type", "style", UID_ATTRIBUTE})
INERT_TYPE = "text/left-out"  # of a script that stands for one: no browser runs this type
# Their text is no markup for a browser, whatever is written there: shown as text that is preformatted.
PREFORMATTED = names("xmp plaintext listing")

_PLAIN = names("""abbr align alink allowfullscreen alt axis bgcolor border bordercolor cellpadding cellspacing char
charoff charset checked class clear color cols colspan compact content contenteditable controls coords datetime
declare decoding default dir direction dirname disabled download draggable enterkeyhint face for form frame frameborder
headers height hidden high hreflang hspace id inert inputmode is ismap itemprop itemscope itemtype kind label lang
language link list loop low marginheight marginwidth max maxlength media method min minlength multiple muted name nohref
noresize noshade novalidate nowrap open optimum part pattern placeholder popover prefix property readonly rel required
rev reversed role rows rowspan rules scope scrolling selected shadowrootmode shadowrootdelegatesfocus
shadowrootclonable shadowrootserializable shadowrootslotassignment shape size slot span spellcheck start step summary
tabindex text title
translate truespeed type typeof units usemap valign value valuetype vlink vocab vspace width wrap xmlns xmlns:xlink
xml:lang xml:space writingsuggestions exportparts autocomplete autocapitalize bottommargin leftmargin rightmargin
topmargin scrollamount scrolldelay behavior
accent accentunder amplitude azimuth basefrequency baseprofile bias clippathunits contentscripttype cx cy d
depth diffuseconstant display displaystyle divisor dx dy edgemode elevation exponent fence filterunits fontfamily
fontsize form fr fx fy gradienttransform gradientunits in in2 intercept k1 k2 k3 k4 kernelmatrix kernelunitlength
largeop lengthadjust limitingconeangle linethickness lquote lspace markerheight markerunits markerwidth
maskcontentunits maskunits mathbackground mathcolor mathsize mathvariant maxsize method minsize mode movablelimits
notation numoctaves offset opacity operator order orient overflow pathlength patterncontentunits patterntransform
patternunits points pointsatx pointsaty pointsatz preservealpha preserveaspectratio primitiveunits r radius refx refy
result rotate rowalign rowlines rquote rspace rx ry scale scriptlevel seed separator separators side spacing
specularconstant specularexponent spreadmethod startoffset stddeviation stitchtiles stretchy surfacescale symmetric
tablevalues targetx targety textlength transform unicode values version viewbox visibility voffset x x1 x2
xchannelselector y y1 y2 ychannelselector z zoomandpan columnalign columnlines columnspacing columnspan rowspacing
rowspan""")
# Values of CSS, which may hold addresses.
_CSS = names("""style fill stroke filter mask cursor clip clip-path color-profile marker marker-start marker-mid
marker-end mask-image mask-border-source border-image list-style list-style-image background-image shape-outside
offset-path data-demotape-animated data-demotape-animated-before data-demotape-animated-after
data-demotape-animated-backdrop data-demotape-animated-marker""")
_MEANT = frozenset({"http-equiv", "accept-charset"})  # standard, with a hyphen, and not wanted

# Names that browsers know, or may soon, and that are in no list above: what runs, fetches, sends, moves the focus.
_KNOWN = names("""accept accumulate additive allow anchor as async attributename attributetype autocorrect autofocus
autoplay begin blocking by calcmode capture challenge charset code command commandfor controlslist credentialless
crossorigin csp defer dur elementtiming enctype end event fetchpriority focusgroup from headingoffset headingreset
imagesizes incremental integrity interestfor interesttarget invisible itemid itemref keyparams keypoints keysplines
keytimes keytype latencyhint loading nonce playsinline policy preload pseudo referrerpolicy repeatcount repeatdur
restart results sandbox sizes srclang to useragent""")
_KNOWN_STARTS = ("on", "xml", "xlink", "form", "popover", "command", "interest", "webkit", "moz", "http", "src", "href",
                 "attribution", "fetch", "shared", "private", "trust", "browsing", "disable", "virtual", "adauction")
# What our script writes into a frame: a document that `srcdoc` would not show in its mode.
WRITTEN = "data-demotape-written"
# Attributes that hold an address or a document: fetched, gone to, sent to, or run. None of them stands as it is.
_ADDRESSES = names("""action archive background cite classid codebase data formaction href imagesrcset longdesc
lowsrc manifest object ping poster profile src srcdoc srcset target xlink:href""") | {WRITTEN}

_NAME = re.compile(r"[a-z_][a-z0-9_.:-]{0,199}")
_WORD = re.compile(r"[a-z][a-z0-9]{0,39}")
_WORDS = re.compile(r"[A-Za-z0-9_ -]{0,100}")
_ADDRESS_IN_VALUE = ("url", "image-set", "\\")
_LINK_SCHEMES = frozenset({"", "http", "https", "mailto", "tel", "sms", "ftp"})
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,40}")
_BLANK = {code: None for code in (*range(33), 127)}


@lru_cache(maxsize=4096)
def element(tag: str) -> bool:
    """Whether an element of this name (in lower case) may stand in a rendered page."""
    return tag in _ELEMENTS or ("-" in tag and _NAME.fullmatch(tag) is not None)


@lru_cache(maxsize=4096)
def attribute(tag: str, name: str) -> Literal["plain", "author's", "words", "css", "address", ""]:
    """What an attribute of this name (both in lower case) holds in such an element; nothing where it may not stand.

    "plain": a value that stands as it is; "author's": the same, where `names_no_address`; "words": the same, where it
    `is_words`; "css": CSS; "address": what is fetched or gone to.
    """
    if name in _ADDRESSES:
        return "address"
    if name in _CSS:
        return "css"
    if not _NAME.fullmatch(name) or name in _MEANT:
        return ""
    if name in _PLAIN or name.startswith(("data-", "aria-")):
        return "plain"
    own = "-" in name or "_" in name or "-" in tag
    if own:
        return "" if name.startswith(("on", "xml", "xlink")) else "author's"
    known = name in _KNOWN or name.startswith(_KNOWN_STARTS) or not _WORD.fullmatch(name)
    return "" if known else "words"


def names_no_address(value: str) -> bool:
    """Whether the value of an author's attribute could not be taken for an address if it were CSS."""
    folded = value.lower()
    return not any(part in folded for part in _ADDRESS_IN_VALUE)


def is_words(value: str) -> bool:
    """Whether a value is words, or nothing: no address, no code."""
    return _WORDS.fullmatch(value) is not None


def link(address: str) -> str:
    """The address of a link as it may stand: of a scheme that opens nothing of ours; else one that leads nowhere.

    Blanks and control characters count as nothing in it, as browsers take them (URL standard, section 4.4).
    """
    scheme, colon, _ = address.translate(_BLANK).partition(":")
    if not colon or not _SCHEME.fullmatch(scheme.lower()):
        scheme = ""
    return address if scheme.lower() in _LINK_SCHEMES else "#"
