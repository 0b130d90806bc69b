"""Fills the templates of the pages: what comes from outside is escaped, and what cannot be seen is shown by its code.

jinja2 is imported where the first page is made.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from npu_conformance.harness import kept
from npu_conformance.specs.diagnostics.counted import counted

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
"""Control characters, marks that turn the direction of a text around, and what HTML and UTF-8 cannot carry."""


def render(template: str, **values: object) -> Markup:
    """Return a template of this package filled with values."""
    from markupsafe import Markup

    return Markup(environment().get_template(template).render(**values))


def page(title: str, head: Markup, sections: Sequence[object], suite_version: str) -> str:
    """Return a whole page: one file, no network. sections: shown_run.Section."""
    script = resource("page.js")
    return str(
        render(
            "page.html",
            title=title,
            head=head,
            sections=sections,
            suite_version=suite_version,
            style=resource("page.css"),
            script=script,
            policy=policy(script),
        )
    )


def resource(name: str) -> Markup:
    """Return a file of this package that goes into a page as it is: a style or a script."""
    from markupsafe import Markup

    return Markup((files("npu_conformance.harness.report") / "templates" / name).read_text(encoding="utf-8"))


def policy(script: str) -> str:
    """Return the Content-Security-Policy of a page: it loads nothing, and runs this one script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def visible(text: str) -> str:
    """Return the text with every character that cannot be seen as its escape, such as \\x1b."""
    return _UNSEEN.sub(lambda found: found.group().encode("unicode_escape", "surrogatepass").decode(), text)


@functools.cache
def environment() -> Environment:
    """The templates' environment, made once."""
    from jinja2 import Environment, FileSystemBytecodeCache, FunctionLoader, StrictUndefined

    folder = kept.folder()
    environment = Environment(
        loader=FunctionLoader(resource),
        bytecode_cache=FileSystemBytecodeCache(str(folder)) if folder else None,
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["thousands"] = lambda number: f"{number:,}"
    environment.filters["figure"] = figure
    environment.filters["counted"] = counted
    return environment


def figure(number: float) -> str:
    """A measured number in at most four significant digits, for people."""
    if number and abs(number) < 0.001:
        return f"{number:.2e}"
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def _shown(value: object) -> object:
    return visible(value) if type(value) is str else value
