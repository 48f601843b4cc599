"""Error sentences about names that do not exist."""

import difflib
from collections.abc import Iterable

ALL_UP_TO, NEAREST_SHOWN = 40, 8  # up to so many names all are listed; of more, so many of the nearest


def unknown_word(noun: str, word: str, names: Iterable[str]) -> str:
    """A sentence that no `noun` is called `word`: it has the nearest name, and all names or the nearest of very many.

    >>> unknown_word("norm", "rmsnrom", ["layernorm", "rmsnorm"])
    "there is no norm 'rmsnrom' (did you mean 'rmsnorm'?); there are: layernorm, rmsnorm"
    """
    listed = names = list(names)
    nearest = difflib.get_close_matches(word, names, n=1)
    hint = f" (did you mean {nearest[0]!r}?)" if nearest else ""
    size = ""
    if len(names) > ALL_UP_TO:
        size = f" {len(names)}, such as"
        listed = difflib.get_close_matches(word, names, n=NEAREST_SHOWN, cutoff=0.0)
    return f"there is no {noun} {word!r}{hint}; there are{size}: {', '.join(listed) or 'none'}"
