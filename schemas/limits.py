"""Limits of untrusted data (docs/limits.md).

What is larger is refused with a sentence that names the limit, or left out where the rest can do without. A limit is
far above what a recording of some hours holds, and low enough that what one input costs stays small.
"""

PACKAGE = 16 << 30  # bytes of a package's files, unpacked
ENTRIES = 200_000  # files in a package
RATIO = 400  # bytes to a packed one: pages repeat themselves, but not more than that
BLOB = 128 << 20  # bytes; a bitmap of eight thousand by four thousand pixels
PIXELS = 1 << 25  # of a picture, before it is decoded: a bitmap of eight thousand by four thousand
LINE = 16 << 20  # bytes of a line of JSON: some thirty times as much once read
JSON = 64 << 20  # bytes of a JSON file
MANIFEST = 16 << 20  # bytes of the manifest of a package
HAR = 1 << 30  # bytes of a recording's network.har
CONSOLE_TEXT = 2000  # characters of a line of the console
CONSOLE_SECOND = 50  # lines of the console in a second, of a tab: as many errors, as many others
CONSOLE_LINES = 10_000  # in a recording: as many errors, as many others
AGENT_TEXT = 1 << 20  # characters of a text in an agent's report of a step
CHAT = 64 << 20  # bytes of a chat log
SOUND_SECONDS = 6 * 3600  # of a track of sound in which speech is recognised: 1.4 GB once decoded
PAGE = 1 << 26  # characters of a page, put together
DEPTH = 100  # of pieces of a page in pieces
LENGTH = 10**9  # CSS pixels of a length or place, as the capture script has them; browsers lay out thirty million
SIDE, AREA = 1 << 15, 1 << 27  # CSS pixels of a viewport: of a screen of eight thousand pixels, zoomed out
SECONDS = 10**8  # of a time since the recording started: three years
FIRST_YEAR, LAST_YEAR = 1970, 4999  # of the wall clock: every time zone can tell these
WALL = 95 * 10**9  # seconds since 1970, in the last of them
NUMBER = 10**15  # of any other number
MAX_INTEGER = 2**53  # of a whole number: what JavaScript holds exactly
UPLOAD = 4 << 30  # bytes of a package on its way in
CHUNK = 4 << 20  # bytes of a piece of it
UNFINISHED = 100  # uploads of one user that have begun and are not finished
UNFINISHED_BYTES = 16 << 30  # that they may come to together
OUTCOME_TEXT = 1 << 16  # characters of a text in an outcome check
ADDED_TEXT = 1 << 16  # characters of a text in the arguments of an action that is added by hand
OUTCOME_DEPTH = 20  # of groups of outcome checks in each other
JUDGED_SCREENSHOTS = 15  # the last ones, by which a recording is judged: as many as WebVoyager's agent had at most
FREE = 1 << 30  # bytes that stay free on the server's disk


RECORD = 1 << 20  # bytes of a recording's manifest
JOB_SECONDS, JOB_SECONDS_MIB = 4.0, 10.0  # of processor time for a package, and for each MiB of it
JOB_CLOCK, VIEW_CLOCK = 20.0, 12.0  # times as long by the clock; a job steps back for all others
EXPORT_SECONDS, EXPORT_SECONDS_TURN = 60.0, 5.0  # of processor time to export a demonstration, and for each turn
TRIAL_SECONDS = 20.0  # of processor time to try outcome checks on a recording
VIEW_SECONDS = 5.0  # of processor time for what is shown of a recording: a picture, a page, a list of elements
MODEL_FACTOR = 200.0  # times as long for work with a model of the user's own: a recogniser, a scorer
MODEL_MEMORY = 64 << 30  # bytes for such work
AXTREE_SECONDS = 20.0  # in which a page must have told its accessibility tree
WORK_MEMORY = 512 << 20  # bytes that work on untrusted input may take, beyond those of its process when idle
MEMORY_MIB = 16 << 20  # the same, added for each MiB of a package: its pictures may be large
MAX_MEMORY_BYTES = 2 << 30  # however large the package is; and for exports
ELEMENTS = 16 << 20  # bytes of a list of a page's elements, as it is handed on


def size(limit: int) -> str:
    """A limit of bytes for people."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if limit >> power:
            return f"{limit >> power} {unit}"
    return f"{limit} bytes"
