"""Postal addresses in text: a street with a house number, and the place with its postal code."""

from collections.abc import Iterator

from pipeline.privacy.patterns import LETTER, is_isolated, pattern

_S = r"[ \x{A0}]"
_SEP = rf"(?:,{_S}?|{_S}?\n{_S}?|{_S}[-–·]{_S}|{_S})"
_CAP = rf"\p{{Lu}}[{LETTER}.'’-]{{0,30}}"
_CITY = rf"{_CAP}(?:[ -](?:(?:am|an|der|de|la|le|les|sur|del|in|upon|im){_S})?{_CAP}){{0,3}}"

_EN_STREET = (r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Court|Ct|Place|Pl|Square|Sq|"
              r"Terrace|Ter|"
              r"Close|Crescent|Parkway|Pkwy|Highway|Hwy|Circle|Cir|Trail|Row|Gardens|Mews|Grove|Hill|Walk)\.?")
_EN = (rf"[0-9]{{1,6}}[A-Za-z]?{_S}(?:(?:N|S|E|W|NE|NW|SE|SW|North|South|East|West|[0-9]{{1,3}}(?:st|nd|rd|th)"
       rf"|{_CAP}){_S}){{0,4}}?"
       rf"{_EN_STREET}(?:{_SEP}(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|Fl|#)\.?{_S}?[A-Za-z0-9-]{{1,6}})?"
       rf"(?:(?:{_SEP}{_CITY})?{_SEP}(?:[A-Z]{{2}}{_S}[0-9]{{5}}(?:-[0-9]{{4}})?|[A-Z]{{1,2}}[0-9][A-Z0-9]?{_S}?[0-9][A-Z]{{2}})"
       rf"|,{_S}?{_CITY})?")
_DE = (rf"(?:{_CAP}[ -]){{0,3}}(?:{_CAP}(?:straße|strasse|str\.|weg|allee|platz|gasse|ring|damm|ufer|steig|chaussee|"
       rf"graben|markt|hof)"
       rf"|(?:Am|An der|Im|In der|Auf der|Zum|Zur|Unter den|Beim){_S}{_CAP}(?:{_S}{_CAP})?"
       rf"|{_CAP}[ -](?:Straße|Str\.|Allee|Platz|Weg|Ring|Damm|Ufer|Gasse))"
       rf"{_S}[0-9]{{1,4}}(?:{_S}?[a-z]\b)?(?:[-/][0-9]{{1,4}}[a-z]?)?(?:{_SEP}(?:[AD]-)?[0-9]{{4,5}}{_S}{_CITY})?")
_FR = (rf"[0-9]{{1,4}}(?:{_S}?(?:bis|ter|quater|[A-D]))?,?{_S}(?i:rue|avenue|av\.|boulevard|bd|place|chemin|allée|"
       rf"impasse|quai|cours|"
       rf"route|square|passage|villa|faubourg){_S}(?:(?:de|du|des|la|le|les|l['’]|d['’]|de l['’]|à|aux|et){_S}?){{0,3}}"
       rf"[{LETTER}0-9'’.-]{{1,30}}(?:{_S}(?:(?:de|du|des|la|le|les){_S}){{0,2}}{_CAP}){{0,4}}"
       rf"(?:{_SEP}(?:F-)?[0-9]{{5}}{_S}{_CITY})?")
_ES = (rf"(?i:calle|c/|avenida|avda\.?|av\.|plaza|pza\.?|paseo|p\.º|camino|carretera|ronda|travesía|glorieta|vía){_S}?"
       rf"(?:(?:de|del|la|las|los|el){_S}){{0,3}}{_CAP}(?:{_S}(?:(?:de|del|la|las|los|el|y){_S}){{0,3}}{_CAP}){{0,5}},?{_S}"
       rf"(?:n\.?º?{_S}?|núm\.?{_S}|#)?[0-9]{{1,4}}(?:{_SEP}(?:[0-9]{{1,2}}\.?[ºª°]{_S}?[A-Za-z]{{0,4}}|bajo|piso{_S}[0-9]{{1,2}}))*"
       rf"(?:{_SEP}[0-9]{{5}}{_S}{_CITY})?")
_ZH = (r"(?:\p{Han}{2,8}(?:省|自治区))?(?:\p{Han}{2,8}市)?(?:\p{Han}{1,8}(?:区|县|區|縣|镇|乡))?\p{Han}{1,12}(?:路|"
       r"街|道|巷|大道|胡同|大街)"
       r"(?:\p{Han}{0,2}段)?[0-9]{1,5}(?:号|弄|號)(?:[0-9A-Za-z]{1,5}(?:号|栋|幢|座|楼|层|单元|室|號|樓)){0,5}")
_KO = (r"(?:[가-힣]{2,8}(?:특별시|광역시|특별자치시|도|시) )?(?:[가-힣]{1,6}시 )?(?:[가-힣]{1,6}(?:구|군) )?(?"
       r":[가-힣]{1,6}(?:읍|면|동) )?"
       r"[가-힣0-9]{1,12}(?:로|길|대로)(?: ?[0-9]{1,4}번?길)? [0-9]{1,5}(?:-[0-9]{1,4})?(?:,? ?[0-9]{1,5}동)?(?: ?"
       r"[0-9]{1,5}호)?")
_JA = (r"(?:〒? ?[0-9]{3}-[0-9]{4}[ \x{3000}]?)?(?:東京都|北海道|(?:京都|大阪)府|\p{Han}{2,3}県)"
       r"[\p{Han}\p{Hiragana}\p{Katakana}ヶー]{1,24}"
       r"[0-9０-９]{1,4}(?:[-－−ー‐][0-9０-９]{1,4}|丁目|番地|番|号|の[0-9]{1,4}|[0-9]{1,4}){0,6}"
       r"(?:[ \x{3000}][\p{Han}\p{Katakana}\p{Hiragana}A-Za-zー]{2,20}[0-9０-９]{1,5}(?:号室|号|階)?)?")
_PATTERNS = tuple(pattern(source) for source in (_EN, _DE, _FR, _ES, _ZH, _KO, _JA))


def addresses(text: str) -> Iterator[tuple[int, int]]:
    """Where addresses stand."""
    if not any(character.isdigit() for character in text):
        return
    for compiled in _PATTERNS:
        for match in compiled.finditer(text):
            start, end = match.span()
            end -= text[:end].endswith((",", " ", "\n"))
            if not text[start].isascii() or is_isolated(text, start, end, ".-/"):
                yield start, end
