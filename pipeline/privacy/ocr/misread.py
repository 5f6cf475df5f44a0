"""Finds known values in OCR text: letters may be misread, spaces missing or added."""

from collections.abc import Iterable

from schemas.normalised_text import normalise

_ERRORS = 0.2  # letters of a value that may be misread, as a share
_SHORTEST = 4  # letters and digits: shorter values are found in anything
_CONFUSABLE = str.maketrans("oilsbzg|!$", "0115829115")  # letters that are read for one another, each as one of them


class Values:
    """Known values, looked for in lines that were read."""

    def __init__(self, values: Iterable[str]):
        self._plain = [plain for plain in {_plain(value) for value in values} if len(plain) >= _SHORTEST]

    def stand_in(self, text: str) -> bool:
        """Whether one of them, or what is like one, stands in a text."""
        line = _plain(text)
        return any(_is_similar(value, line) for value in self._plain)


def _plain(text: str) -> str:
    """Only letters and digits, those that look alike the same."""
    return "".join(filter(str.isalnum, normalise(text).text.lower().translate(_CONFUSABLE)))


def _is_similar(value: str, line: str) -> bool:
    """Whether a part of the line is the value but for some errors (Sellers 1980)."""
    if value in line:
        return True
    errors = int(len(value) * _ERRORS)
    if not _has_a_piece(value, line, errors):
        return False
    costs = list(range(len(value) + 1))  # of the first n letters of the value, ended at this letter of the line
    for letter in line:
        before, costs[0] = costs[0], 0
        for index, own in enumerate(value, 1):
            cost = before + (own != letter)
            before = costs[index]
            costs[index] = min(cost, before + 1, costs[index - 1] + 1)
        if costs[-1] <= errors:
            return True
    return False


def _has_a_piece(value: str, line: str, errors: int) -> bool:
    """Whether one of errors + 1 pieces of the value stands in the line as it is, as one must when there are no more."""
    size = len(value) / (errors + 1)
    return any(value[round(number * size):round((number + 1) * size)] in line for number in range(errors + 1))
