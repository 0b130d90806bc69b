"""`vectors witness`: asks engines and drivers what they make of vectors, and counts who agrees."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_conformance.cli.commands import _stored_vectors
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import OK, WRONG
from npu_conformance.specs.suggestions import did_you_mean

if TYPE_CHECKING:
    from npu_conformance.cli.commands._witness_tally import Tally
    from npu_conformance.corpus.vectors import Vector
    from npu_conformance.corpus.witnesses import Engine

ENGINES = ("litert", "tflm", "onnx")
"""The witnesses that come with this project, by their names in vectors."""


@dataclass(frozen=True)
class _Asked:
    """What is asked about. given: yields the vectors. engines: who is asked in any case. problems: bad vectors."""

    operations: list[str]
    given: Callable[..., Iterator[Vector]]
    engines: Mapping[str, Engine]
    problems: int = 0


def execute(options: argparse.Namespace) -> int:
    """Ask the oracle, and the engines and the driver of the command line, about stored vectors or the user's own."""
    from npu_conformance.corpus.vectors import writing

    _require_sense(options)
    asked = _own(options) if options.vectors else _of_this_project(options)
    drivers = _drivers(options)
    witnesses = {**asked.engines, **{spec: _engine(spec) for spec in options.engine}, **drivers}
    tallies = [_tally(asked, name, engine, refused=name in drivers) for name, engine in witnesses.items()]
    for tally in tallies:
        print(tally.summary())
        if options.record and tally.engine != "oracle":
            writing.record(tally.engine, tally.agreed, tally.taken)
    return WRONG if asked.problems or any(tally.disagreed for tally in tallies) else OK


def _require_sense(options: argparse.Namespace) -> None:
    if options.record and not (options.engine or options.driver):
        raise UsageError("--record needs an --engine or a --driver: the oracle is a witness of all vectors anyway")
    for flag in ("catalogue", "vectors"):
        if options.record and getattr(options, flag):
            raise UsageError(f"--record writes to the vectors of this project: leave out --{flag}")


def _own(options: argparse.Namespace) -> _Asked:
    from npu_conformance.cli.commands import _own_vectors
    from npu_conformance.corpus import contradicted

    operations, given, problems = _own_vectors.read(options.vectors, options.operations)
    return _Asked(operations, given, {contradicted.NAME: contradicted.oracle}, problems)


def _of_this_project(options: argparse.Namespace) -> _Asked:
    from npu_conformance.corpus import vectors, witnesses

    known = (*vectors.operations(), *vectors.registered_operations())
    operations = _stored_vectors.operations(options.operations, known)
    return _Asked(operations, functools.partial(_stored, operations), {"oracle": witnesses.oracle})


def _tally(asked: _Asked, name: str, engine: Engine, *, refused: bool) -> Tally:
    """What a witness says of all vectors. refused: asked of those that have to be refused, too."""
    from npu_conformance.cli.commands._witness_process import testimonies
    from npu_conformance.cli.commands._witness_tally import Tally

    tally = Tally(name, asked.operations)
    given = functools.partial(asked.given, refused=refused)
    for vector, testimony in zip(given(), testimonies(given, name, engine), strict=True):
        tally.add(vector, testimony)
    return tally


def _stored(operations: list[str], *, refused: bool) -> Iterator[Vector]:
    """Return the stored vectors that have expected values. refused: those that have to be refused, too."""
    from npu_conformance.corpus import vectors

    for operation in operations:
        for header in vectors.headers(operation):
            if header.rejected is None or refused:
                yield vectors.load(operation, header.name)


def _drivers(options: argparse.Namespace) -> dict[str, Engine]:
    """The driver of the command line, by its name."""
    if options.driver is None:
        return {}
    from npu_conformance.cli.commands._driver_witness import DriverWitness
    from npu_conformance.harness.subject.plugin_options import parse_options

    name, separator, plugin = options.driver.partition("=")
    if not (name and separator and plugin):
        raise UsageError(f"--driver {options.driver}: expected NAME=PLUGIN")
    return {name: DriverWitness(plugin, parse_options(options.plugin_option))}


def _engine(spec: str) -> Engine:
    if spec in ENGINES:
        from npu_conformance.adapters import engine_witness

        engine: Engine = getattr(engine_witness, spec)
        return engine
    return _foreign_engine(spec)


def _foreign_engine(spec: str) -> Engine:
    """Return the engine that MODULE:FUNCTION names, a function of the user's own."""
    import importlib

    from npu_conformance.harness.python_processes import look_in_current_folder

    module, separator, name = spec.partition(":")
    if not separator:
        names = f"one of {', '.join(ENGINES)}, or MODULE:FUNCTION"
        raise UsageError(f"--engine {spec}: expected {names}{did_you_mean(spec, ENGINES)}")
    look_in_current_folder()
    try:
        found: Engine = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"--engine {spec}: {error}") from None
    if not callable(found):
        raise UsageError(f"--engine {spec}: expected MODULE:FUNCTION, and it is a {type(found).__name__}")
    return found
