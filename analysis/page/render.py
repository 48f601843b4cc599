"""Templates filled in: HTML escapes whatever a user can name, Markdown through the filter `cell`."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.page.format import interval_text, markdown_cell, plain_number, signed_number


@cache
def template_environment() -> Environment:
    """The templates, and how they write numbers."""
    made = Environment(
        loader=PackageLoader("analysis.page"),
        autoescape=lambda name: bool(name and ".html" in name),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "signed": signed_number,
        "plain": plain_number,
        "interval": interval_text,
        "cell": markdown_cell,
    }
    return made


def render(template: str, shown: dict[str, Any]) -> str:
    """The text of a template with what it shows."""
    return template_environment().get_template(f"{template}.jinja").render(shown)
