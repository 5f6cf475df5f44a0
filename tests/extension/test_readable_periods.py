"""The rule for which frames are kept: a table of what browser and pages report of a tab's documents, in any order."""

import pytest

RUN = """async ([reports, times]) => {
  const { ReadablePeriods } = await import('/offscreen/readable_periods.js'), periods = new ReadablePeriods();
  for (const [kind, ...values] of reports) periods[kind](...values);
  return times.map(time => periods.state(time)) }"""
ONE = [["commit", "one", 10], ["connect", "one", 10.1, True], ["paint", "one", 10.2]]  # its frames count from 10.3 on
CHROME = [["commit", "chrome", 20]]
BACK = [["commit", "two", 30], ["connect", "two", 30.1, True], ["paint", "two", 30.5]]
TABLE = {
    "nothing is reported": ([], {5: "open"}),
    "nothing is verified": (ONE, {9: "refused", 10.25: "refused", 15: "open"}),
    "verified": ([*ONE, ["verify", 16]], {9: "refused", 10.25: "refused", 15: "kept", 17: "open"}),
    "not painted": ([*ONE[:2], ["verify", 50]], {15: "open"}),
    "a page that cannot be read": ([*ONE, *CHROME, ["verify", 21]], {19: "kept", 20: "open", 20.5: "open"}),
    "a page that never connects": ([*ONE, *CHROME, ["verify", 25]], {19: "kept", 20: "refused", 24: "refused"}),
    "a viewer": ([*ONE, ["commit", "pdf", 20], ["connect", "pdf", 20.1, False], ["paint", "pdf", 20.2],
                  ["verify", 25]], {19: "kept", 20.5: "refused", 24: "refused"}),
    "a readable page after it": ([*ONE, *CHROME, *BACK, ["verify", 40]],
                                 {19: "kept", 25: "refused", 30.3: "refused", 30.55: "refused", 31: "kept"}),
    "the same, reported late": ([*ONE, *BACK[1:], *CHROME, BACK[0], ["verify", 40]],
                                {19: "kept", 25: "refused", 30.3: "refused", 30.55: "refused", 31: "kept"}),
    "a readable page right after": ([*ONE, *BACK, ["verify", 40]],
                                    {19: "kept", 29.9: "kept", 30.2: "kept", 31: "kept"}),
    "its capture script connects first": ([*ONE, *BACK[1:], BACK[0], ["verify", 40]],
                                          {29.9: "kept", 30.05: "kept", 31: "kept"}),
    "a new tab": ([["begin"], *BACK, ["verify", 40]], {29: "refused", 30.3: "kept", 31: "kept"}),
    "a new tab that is blank first": ([["begin"], ["commit", "blank", 29, True], *BACK, ["verify", 40]],
                                      {29.5: "refused", 30.3: "kept"}),
    "a new tab with the browser's page": ([["begin"], ["commit", "newtab", 29], *BACK, ["verify", 40]],
                                          {29.5: "refused", 30.3: "refused", 31: "kept"}),
    "a blank page after one that cannot be read": (
        [*ONE, *CHROME, ["commit", "blank", 25, True], *BACK, ["verify", 40]],
        {26: "refused", 30.3: "refused", 31: "kept"}),
    "a navigation to a page that cannot be read begins": ([*ONE, ["leave", 18], ["verify", 19]],
                                                          {17: "kept", 18.5: "refused"}),
    "it fails": ([*ONE, ["leave", 18], ["stay"], ["verify", 19]], {17: "kept", 18.5: "kept"}),
    "back from the cache of pages": (
        [*ONE, *CHROME, ["commit", "one", 30], ["connect", "one", 30.1, True], ["paint", "one", 30.4], ["verify", 40]],
        {19: "kept", 25: "refused", 30.3: "refused", 31: "kept"}),
    "the same, the port first": (
        [*ONE, ["connect", "one", 30.1, True], ["paint", "one", 30.4], *CHROME, ["commit", "one", 30], ["verify", 40]],
        {19: "kept", 25: "refused", 30.3: "refused", 31: "kept"}),
    "a page that was open before": ([["connect", "one", 10.1, True], ["paint", "one", 2], ["verify", 40]],
                                    {9: "refused", 15: "kept"}),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_frame_is_kept_only_of_a_page_that_may_be_read(chrome, name):
    reports, expected = TABLE[name]
    states = chrome.runner.run(chrome.panel.page.evaluate(RUN, [reports, list(expected)]))
    assert dict(zip(expected, states, strict=True)) == expected
