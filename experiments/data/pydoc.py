"""English and code that every Python carries, so that nothing is downloaded."""

import hashlib

from components.domains import Count, ProperShare
from experiments.data import Spelling, TokenStream, character_sizes, datas, encode_characters, first_held_out


@datas.register("pydoc")
def pydoc(context: int, *, validation: ProperShare = 0.1, validation_tokens: Count = 65_536) -> TokenStream:
    """Characters of Python's own help topics, in the order of their names; about 0.5 million

    The text differs between releases of Python, and so does `content`.
    Source: the module pydoc_data.topics of the standard library.
    """
    from pydoc_data.topics import topics

    text = "\n".join(topics[name] for name in sorted(topics))
    tokens, vocabulary = encode_characters(text)
    content = hashlib.sha256(text.encode()).hexdigest()
    spelling = Spelling(content, character_sizes(tokens, vocabulary), first_held_out(len(tokens), validation))
    return TokenStream(tokens, vocabulary, content, context, validation, validation_tokens, spelling)
