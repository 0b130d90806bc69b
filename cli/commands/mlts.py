"""`npu-conformance mlts`: models of the zoo on a plug-in: accuracy, latency, crash tests, implied capabilities."""

from __future__ import annotations

import argparse
import importlib.util

from npu_conformance.cli.commands import run
from npu_conformance.cli.commands._options import add_selection_options
from npu_conformance.cli.errors import UsageError
from npu_conformance.mlts import AREAS
from npu_conformance.specs.suggestions import did_you_mean

_SUITE, _CAPABILITIES = "mlts", "capabilities"
_USUAL_BESIDE, _NONE = "litert", "none"
_ABOUT = {
    "accuracy": "answers of each model over its data, against labels, golden outputs and --beside",
    "latency": "how long each model takes to prepare and to infer; throughput, sustained load",
    "together": "models, inputs and streams beside each other",
    "circumstances": "whether an inference takes longer after others, by its data, by the way it is executed",
    "told_times": "whether the durations that the driver reports fit what its caller sees",
    "stress": "many clients infer at once, and one of them dies",
    "early_termination": "a client is killed while it loads models",
    "multi_process": "processes infer or load models, and some of them are killed",
    "mapped_load": "models whose constants lie in a mapped file",
    "random_models": "random graphs are loaded and executed",
    "degradation": "inferences while models are loaded",
    "every_way": "what the driver still holds after each way of executing",
    "npu_apps": "apps that share the NPU through the NPU Manager",
}
_OF_MODELS = ("accuracy", "latency", "together")
"""Areas with cases of each model."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line: that of `run`, with areas of this suite for suites."""
    width = max(map(len, _ABOUT))
    parser.description = f"{parser.description}\n\nareas (default: all):\n" + "\n".join(
        f"  {area:{width}}  {about}" for area, about in _ABOUT.items()
    )
    parser.add_argument(
        "--models", metavar="NAME", nargs="+", default=[], help="run only with these models (`models list`)"
    )
    parser.add_argument("--full", action="store_true", help="run as long as AOSP's own tests: the same as --scope full")
    add_selection_options(
        parser, "AREA|ID", "areas, case ids or globs; or `capabilities`: what the device has to declare"
    )
    run.add_run_options(parser, " (default: litert if it is installed; `none` turns this off)")


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
    if unknown in AREAS:
        raise UsageError(f"--models: {unknown} is an area; name areas before --models")
    if unknown is not None:
        if unknown.endswith(".tflite"):
            raise UsageError(f"--models: {unknown} is a file: add it by `npu-conformance models add {unknown}`")
        near = did_you_mean(unknown, zoo.names()) or "; `npu-conformance models list` shows all"
        raise UsageError(f"--models: there is no model {unknown!r}{near}")
    named = [_within(area) for area in areas]
    if not models and case == "*":
        return named or [_SUITE]
    without = next((area for area in areas if models and area in AREAS and area not in _OF_MODELS), None)
    if without is not None:
        raise UsageError(f"--models: {without} has no cases of single models, as {', '.join(_OF_MODELS)} have")
    return [f"{area}.{model}.{case}" for area in named or [f"{_SUITE}.*"] for model in models or ["*"]]


def _within(area: str) -> str:
    """An area, id or glob, with the suite before it. Raises UsageError for an area that is none."""
    if area == _CAPABILITIES:
        raise UsageError(f"{_CAPABILITIES}: not with areas or ids beside it")
    first = area.removeprefix(f"{_SUITE}.").partition(".")[0]
    if first == _SUITE or first in AREAS or set(first) & set("*?["):
        return area if area.startswith(_SUITE) else f"{_SUITE}.{area}"
    raise UsageError(f"{area}: expected {_CAPABILITIES}, or some of {', '.join(AREAS)}{did_you_mean(first, AREAS)}")
