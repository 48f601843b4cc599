"""English and code that every Python carries, so that nothing is downloaded."""

import hashlib

from components.domains import Count, ProperShare
from experiments.data import TokenStream, datas, encode_characters


@datas.register("pydoc")
def pydoc(context: int, *, validation: ProperShare = 0.1, validation_tokens: Count = 65_536) -> TokenStream:
    """Characters of Python's own help topics, in the order of their names; about 0.5 million

    The text differs between releases of Python, and so does `content`.
    Source: the module pydoc_data.topics of the standard library.
    """
    from pydoc_data.topics import topics

    text = "\n".join(topics[name] for name in sorted(topics))
    tokens, vocabulary = encode_characters(text)
    return TokenStream(
        tokens, vocabulary, hashlib.sha256(text.encode()).hexdigest(), context, validation, validation_tokens
    )
