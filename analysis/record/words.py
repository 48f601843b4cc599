"""Sentences about words that nothing is called."""

import difflib
from collections.abc import Iterable

ALL_UP_TO, NEAREST_SHOWN = 40, 8  # words that are all shown; how many are where there are more


def unknown_word(what: str, word: str, known: Iterable[str]) -> str:
    """A sentence for a word that nothing is called: the nearest one, and all there are, or of very many the nearest."""
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    size = f" {len(names)}, such as" * (len(names) > ALL_UP_TO)
    shown = difflib.get_close_matches(word, names, n=NEAREST_SHOWN, cutoff=0.0) if size else names
    return f"there is no {what} {word!r}{hint}; there are{size}: {', '.join(shown) or 'none'}"
