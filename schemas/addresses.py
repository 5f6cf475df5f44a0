"""Parsing of addresses from pages, which may be invalid."""

from urllib.parse import SplitResult, urlsplit


def split_address(address: str) -> SplitResult:
    """The parts of an address (RFC 3986, section 3). What cannot be parsed, as `http://[`, has but a path."""
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "", address, "", "")
