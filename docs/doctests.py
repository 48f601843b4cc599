"""Doctests of docstrings as code on the site: each block of lines that begins with `>>>` is put into a fence."""

import re

from griffe import Class, Extension, Function, GriffeLoader, Module, Object

DOCTEST = re.compile(r"^>>> .*(?:\n(?!\n)[^\n]+)*", re.MULTILINE)


class Doctests(Extension):
    """Rewrites the docstrings that mkdocstrings reads.

    >>> fenced("Doubles.\\n\\n>>> 2 * 2\\n4\\n\\nMore.")
    'Doubles.\\n\\n```pycon\\n>>> 2 * 2\\n4\\n```\\n\\nMore.'
    """

    def on_package(self, *, pkg: Module, loader: GriffeLoader, **kwargs: object) -> None:
        """When all modules of a package are loaded."""
        del loader, kwargs
        _rewrite(pkg)


def fenced(text: str) -> str:
    """The text with each doctest as a code block."""
    return DOCTEST.sub(lambda block: f"```pycon\n{block[0]}\n```", text)


def _rewrite(node: Object) -> None:
    if node.docstring is not None:
        node.docstring.value = fenced(node.docstring.value)
    for member in node.members.values():
        if isinstance(member, Module | Class | Function):
            _rewrite(member)
