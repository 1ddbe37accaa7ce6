"""Pages from templates: one frame, one style, nothing unescaped that is not marked so."""

from typing import Any


def render_page(template: str, **values: Any) -> str:
    """Return the page that a template of this folder makes of `values`, in the report's style."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # here, as a page comes last of all

    environment = Environment(
        loader=PackageLoader("candlecast.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = environment.get_template("report.css").render()
    return environment.get_template(template).render(**values, style=style)
