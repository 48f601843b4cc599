"""English and code that every Python carries, so that nothing is downloaded."""

import hashlib

from experiments.data import Stream, datas, encoded


@datas.register("pydoc")
def pydoc(context: int, *, validation: float = 0.1, validation_tokens: int = 65_536) -> Stream:
    """Characters of Python's own help topics, in the order of their names; about 0.5 million

    The text differs between releases of Python, and so does `content`.
    Source: the module pydoc_data.topics of the standard library.
    """
    from pydoc_data.topics import topics

    text = "\n".join(topics[name] for name in sorted(topics))
    tokens, alphabet = encoded(text)
    return Stream(tokens, alphabet, hashlib.sha256(text.encode()).hexdigest(), context, validation, validation_tokens)
