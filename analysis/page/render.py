"""Templates filled in: HTML escapes whatever a user can name, Markdown through the filter `cell`."""

from collections.abc import Mapping
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.page.format import interval_text, markdown_cell, plain_number, signed_number


@cache
def template_environment() -> Environment:
    """The templates, with filters that write numbers."""
    environment = Environment(
        loader=PackageLoader("analysis.page"),
        autoescape=lambda name: bool(name and ".html" in name),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "signed": signed_number,
        "plain": plain_number,
        "interval": interval_text,
        "cell": markdown_cell,
    }
    return environment


def render(template: str, contents: Mapping[str, object]) -> str:
    """The text of a template with these contents; it ends with a line end, as text that was not cut does."""
    text = template_environment().get_template(f"{template}.jinja").render(contents)
    return f"{text.rstrip()}\n"
