"""Templates filled in: HTML escapes whatever a user can name, Markdown through the filter `cell`."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis import words


@cache
def environment() -> Environment:
    """The templates, and how they write numbers."""
    made = Environment(
        loader=PackageLoader("analysis"),
        autoescape=lambda name: bool(name and ".html" in name),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"signed": words.signed, "plain": words.plain, "interval": words.interval, "cell": words.cell}
    return made


def render(template: str, shown: dict[str, Any]) -> str:
    """The text of a template with what it shows."""
    return environment().get_template(f"{template}.jinja").render(shown)
