"""`npu-conformance mlts`: models of the zoo on a plug-in: accuracy, latency, crash tests, implied capabilities."""

from __future__ import annotations

import argparse
import importlib.util

from npu_conformance.cli.commands import run
from npu_conformance.cli.commands._options import add_selection_options
from npu_conformance.cli.errors import UsageError

_SUITE, _CAPABILITIES = "mlts", "capabilities"
_USUAL_BESIDE, _NONE = "litert", "none"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line: that of `run`, with areas of this suite for suites."""
    add_selection_options(
        parser, "AREA|ID", "areas such as latency, case ids or globs; or `capabilities`: what the device has to declare"
    )
    run.add_run_options(parser)
    parser.add_argument("--models", metavar="NAME", nargs="+", default=[], help="of these models (`models list`) only")
    parser.add_argument("--full", action="store_true", help="as long as AOSP's own: the same as --scope full")


def execute(options: argparse.Namespace) -> int:
    """Run, beside LiteRT on the CPU where that is installed and nothing else is named."""
    options.scope = "full" if options.full else options.scope
    options.beside = _beside(options.beside)
    if options.targets == [_CAPABILITIES]:
        from npu_conformance.cli.commands import _capabilities

        options.targets = _targets(["latency"], options.models, "inference")
        return _capabilities.execute(options)
    options.targets = _targets(options.targets, options.models)
    return run.execute(options)


def _beside(named: str | None) -> str | None:
    """The plug-in to compare with: `none` for none."""
    if named is not None:
        return None if named == _NONE else named
    return _USUAL_BESIDE if importlib.util.find_spec("ai_edge_litert") is not None else None


def _targets(areas: list[str], models: list[str], case: str = "*") -> list[str]:
    """Suite, areas or ids that are meant, with the models that are named. Raises UsageError for an unknown model."""
    from npu_conformance.corpus import zoo

    unknown = next((name for name in models if name not in zoo.names()), None)
    if unknown is not None:
        raise UsageError(f"--models: there is no model {unknown!r}; `npu-conformance models list` shows all")
    named = [area if area.startswith(_SUITE) else f"{_SUITE}.{area}" for area in areas]
    if not models and case == "*":
        return named or [_SUITE]
    return [f"{area}.{model}.{case}" for area in named or [f"{_SUITE}.*"] for model in models or ["*"]]
