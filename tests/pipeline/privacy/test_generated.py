"""Which attributes style sheets show."""

import pytest

from pipeline.privacy.generated import shown_attributes


@pytest.mark.parametrize("sheet, names", [
    ("a::after { content: attr(data-mail) }", {"data-mail"}),
    ("a::after { content: 'Mail: ' ATTR( Title ) }", {"title"}),
    ("@media screen { @supports (x: y) { a::after { content: attr(data-a) } } }", {"data-a"}),
    ("@media print { a::after { content: attr(href) } }", set()),
    ("@media print, screen { a::after { content: attr(href) } }", {"href"}),
    ("a { &:hover { &::before { content: attr(data-tip) } } }", {"data-tip"}),
    ("/* attr(data-mail) */ a { content: counter(x) }", set()),
    ("a { content: attr(data-mail", {"data-mail"}),
    ("{" * 5000 + "attr(data-deep)", {"data-deep"}),
    ("@media all {" * 5000 + "a { content: attr(data-deep) }", {"data-deep"}),
])
def test_attributes_that_a_screen_shows(sheet, names):
    assert shown_attributes(["p { color: red }", sheet]) == names
