"""Parsing of addresses from pages, which may be invalid."""

from urllib.parse import SplitResult, urlsplit

# Addresses of a tab that shows nothing yet: its picture is blank and rightly so.
EMPTY_PAGES = ("about:blank", "chrome://newtab/", "chrome://new-tab-page/", "chrome://new-tab-page-third-party/")


def is_empty_page(address: str) -> bool:
    """Whether an address is that of a new tab, before anything was opened in it."""
    return address.partition("#")[0] in ("", *EMPTY_PAGES)


def split_address(address: str) -> SplitResult:
    """The parts of an address (RFC 3986, section 3). What cannot be parsed, as `http://[`, has but a path."""
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "", address, "", "")
