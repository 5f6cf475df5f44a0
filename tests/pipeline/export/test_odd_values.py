"""What a recording may hold and no format can: it costs itself, and nothing else."""

import cv2
import numpy as np
import pytest

from pipeline.export.states import ENCODINGS, _encode, blank
from pipeline.outcomes.checking import unfit
from pipeline.outcomes.evidence import Evidence, PageState, Request
from pipeline.outcomes.proposing import propose
from pipeline.pages.rendering import Resources
from recorder import Recording
from tests.support.curator.curator_fixtures import make_recording

NO_ADDRESSES = ("http://[", "//[::1", "http://[/#x", "https://a[b].example/?q=1")


@pytest.mark.parametrize("kind", sorted(ENCODINGS))
def test_a_picture_larger_than_its_kind_of_file_can_be_is_none(kind):
    wide = np.zeros((4, 16_400, 3), np.uint8)
    assert (kind == "webp") == (_encode(wide, kind) == b"")
    assert cv2.imdecode(np.frombuffer(blank(kind), np.uint8), cv2.IMREAD_COLOR) is not None


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_what_is_no_address_has_no_content_and_is_no_request(tmp_path, address):
    recording = Recording(make_recording(tmp_path))
    resources = Resources(recording).at(1.0)
    assert resources.text(address) is None and resources.data_uri(address) == "data:,"
    wanted = {"kind": "request", "match": {"exact": ["https://shop.example/"]}, "query": {"q": {"exact": ["2"]}}}
    assert unfit(wanted, Request("GET", address, 200)) == "another address"
    assert unfit(wanted | {"match": {"exact": [address.partition("?")[0]]}}, Request("GET", address, 200))
    pages = [PageState(url, lambda: "<p>Done</p>") for url in ("https://shop.example/", address)]
    assert isinstance(propose(Evidence(pages, requests=()), []), list)
