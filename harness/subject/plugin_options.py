"""Options of plug-ins as users give them, and what a manifest says against them."""

from __future__ import annotations

from collections.abc import Iterable

from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.manifest import Manifest

CONNECTION_OPTIONS = ("key-file",)
"""Options that say how to reach a plug-in rather than what it does."""


def require_options(manifest: Manifest, plugin: str, names: Iterable[str]) -> None:
    """Raise LoadError for an option that the manifest does not name: nobody would read it."""
    for name in names:
        if name not in {*manifest.options, *CONNECTION_OPTIONS}:
            known = ", ".join(sorted(manifest.options)) or "none"
            raise LoadError(f"plug-in {plugin} has no option {name!r}; it has {known}")


def require_instances(manifest: Manifest, plugin: str, at_once: int) -> None:
    """Raise LoadError where more processes would use it at a time than its manifest allows."""
    if at_once > manifest.max_instances:
        allowed = f"max_instances of its manifest is {manifest.max_instances}"
        raise LoadError(f"plug-in {plugin} cannot be tested by {at_once} processes at once: {allowed}")


def parse_options(pairs: Iterable[str]) -> dict[str, str]:
    """`NAME=VALUE` words as a mapping. Raises DocumentError for a word without =, and for two values of one option."""
    parsed: dict[str, str] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise DocumentError("plug-in option", "", f"expected NAME=VALUE, found {pair!r}")
        if parsed.setdefault(name, value) != value:
            raise DocumentError("plug-in option", "", f"{name}: expected one value, found {parsed[name]} and {value}")
    return parsed
