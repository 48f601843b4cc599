"""Text for a terminal: names and log lines that others wrote are shown, and steer nothing."""

import unicodedata

KEPT = "\n\t"
OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # they turn the direction of the text after them
SHOWN = "\ufffd"  # the replacement character


def printable(text: object) -> str:
    """Text without control characters, each replaced by a mark: no escape sequence moves the cursor or sets a title.

    >>> printable("arm \\x1b[2J\\r2")
    'arm �[2J�2'
    """
    return "".join(SHOWN if _steers(character) else character for character in str(text))


def _steers(character: str) -> bool:
    return character in OVERRIDES or (unicodedata.category(character) == "Cc" and character not in KEPT)


def echo(text: str) -> None:
    """Print lines for a person, without what would steer the terminal; no line if there is nothing to say."""
    if text:
        print(printable(text), flush=True)
