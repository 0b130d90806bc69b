"""Takes one vector through the runtime: built, compiled, executed in each configuration, and compared."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import BuiltRequest, build_model, build_request
from npu_conformance.cts.lib.runtime.arguments import Arguments, DescribedArguments
from npu_conformance.cts.lib.runtime.cache_folder import CacheFolder
from npu_conformance.cts.lib.runtime.configurations import (
    CACHED,
    DEFAULT,
    DEVICE,
    EXPLICIT,
    OBJECTS,
    ONCE,
    REUSED,
    Configuration,
    configurations,
)
from npu_conformance.cts.lib.runtime.first_vectors import is_first
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.results import output_shapes
from npu_conformance.cts.lib.runtime.ways import WAYS, compute, ways
from npu_conformance.harness.judge import checks, quantization_coupling
from npu_conformance.harness.judge.outputs import untouched_outside
from npu_conformance.harness.judge.refusals import judge_taken
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.nnapi.errors import CallError, require
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.scope import Scope
from npu_conformance.harness.run.vector_cases import attach
from npu_conformance.harness.run.vector_verdicts import Found, Verdicts
from npu_conformance.harness.wire.binding import MethodCall
from npu_conformance.specs.neuralnetworks.runtime.result_codes import (
    FEATURE_LEVELS,
    MAXIMUM_LOOP_TIMEOUT_NS,
    ResultCode,
)
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

MISSED = (ResultCode.MISSED_DEADLINE_TRANSIENT, ResultCode.MISSED_DEADLINE_PERSISTENT)
_REJECTIONS = (ResultCode.BAD_DATA, ResultCode.OP_FAILED)
"""What a call says of a model or an execution that cannot be, as opposed to a state, a want of memory or a death."""
_TWIN = quantization_coupling.CONFIGURATION
_IDENTIFY = "model_identify_inputs_and_outputs"
_MILLISECOND = 1_000_000
_TOKEN = bytes(range(30))
"""The first bytes of all tokens. The last two say which model of the vector it is: a token is of one model."""


def run(context: CaseContext, vector: Vector) -> None:
    """Execute the vector in every configuration, or see it rejected at some stage."""
    attach(context, vector)
    if vector.rejected is not None:
        _expect_rejected(context, vector)
    elif vector.kind == "infinite_loop_timeout":
        context.is_evidence_for("FW-QOS-003")
        _expect_aborted(context, vector)
    else:
        _run_all(context, vector)


def _run_all(context: CaseContext, vector: Vector) -> None:
    runner = _Runner(context, vector)
    for configuration in _possible(runner, context, vector):
        if context.wants(configuration.name):
            with context.configuration(configuration.name, requirements=configuration.requirements):
                if runner.restarts != context.restarts:
                    runner = _Runner(context, vector)
                runner.execute(configuration)
    has_twin = context.scope is Scope.FULL or (context.scope is Scope.DEFAULT and is_first(vector, context.case.id))
    counterpart = quantization_coupling.unsigned_counterpart(vector) if has_twin else None
    if counterpart is not None and context.wants(_TWIN):
        with context.configuration(_TWIN, requirements=("FW-GEN-006",)), checks.about("FW-GEN-006"):
            ours, theirs = (_Runner(context, each).outputs() for each in (vector, counterpart))
            quantization_coupling.same_results(context, vector, ours, theirs)


def _possible(runner: _Runner, context: CaseContext, vector: Vector) -> Iterator[Configuration]:
    """The configurations of the case. What the first device cannot execute by itself is left to all devices."""
    chosen = configurations(
        vector,
        context.case.id,
        runner.app.level,
        context.scope,
        explicit=runner.has_other_devices(),
        caching=runner.app.has("compilation_set_caching"),
    )
    found = (one if runner.is_for_its_devices(one) else replace(one, devices=DEFAULT) for one in chosen)
    return iter(dict.fromkeys(found))


class _Runner:
    """Models and compilations of one vector, each made when first needed."""

    def __init__(self, context: CaseContext, vector: Vector) -> None:
        self.app = RuntimeApp(context)
        self.restarts = context.restarts
        self._context, self._vector = context, vector
        self._models: dict[tuple[bool, bool], tuple[Model, int]] = {}
        self._compilations: dict[tuple[bool, bool, str], int] = {}
        self._supported: dict[tuple[bool, bool], bool] = {}
        self._folder: CacheFolder | None = None
        self._verdicts = Verdicts(context, vector, _broken)

    def has_other_devices(self) -> bool:
        """True where there is a device beside the runtime's own CPU."""
        return self.app.level >= Version.V1_2 and self.app.succeed("get_device_count", True).value > 1

    def is_for_its_devices(self, configuration: Configuration) -> bool:
        """False where the first device alone is wanted, and does not support the whole model or open shapes."""
        if configuration.devices != EXPLICIT:
            return True
        key = (configuration.hidden, configuration.pooled)
        if key not in self._supported:
            _, model = self._model(configuration)
            self._supported[key] = self._is_supported(model) and not (key[0] and self._needs_shapes())
        return self._supported[key]

    def _is_supported(self, model: int) -> bool:
        function = "model_get_supported_operations_for_devices"
        answers = self.app.succeed(function, model, (self._first_device,), True).values
        checks.equal(len(answers), len(self._vector.operations), f"{function}: number of answers")
        return all(answers)

    def _needs_shapes(self) -> bool:
        """True of drivers below HAL 1.2, which execute only with outputs of known shape."""
        feature_level = self.app.succeed("device_get_feature_level", self._first_device, True).value
        return bool(feature_level < FEATURE_LEVELS[Version.V1_2])

    @functools.cached_property
    def _first_device(self) -> int:
        return int(self.app.succeed("get_device", 0, True).handle)

    def execute(self, configuration: Configuration) -> None:
        """Execute, as often as the configuration says, and check everything that a success promises."""
        example = self._vector.examples[configuration.example]
        built = build_request(self._vector, example, self.app.level, padded_outputs=False)
        compilations = self._compiled(configuration)
        model, _ = self._model(configuration)
        if configuration.memory == DEVICE:
            users = tuple(dict.fromkeys(compilations))
            arguments: Arguments = DescribedArguments(self.app, model, built, example, users)
        else:
            arguments = Arguments(self.app, model, built, by_objects=configuration.memory == OBJECTS)
        results, execution = [], 0
        for compilation in compilations:
            if not execution or configuration.repeated != REUSED:
                execution = self._execution(configuration, compilation, arguments)
            arguments.clear()
            code = compute(self.app, configuration.way, execution, compilation)
            results.append(self._check(configuration, built, arguments, execution, code))
        self._verdicts.same_again(results)
        checks.that(arguments.inputs_are_unchanged(), "the execution modified its inputs")

    def outputs(self) -> dict[str, Array]:
        """Execute the first example in the plainest way; returns the stored elements of the outputs by name."""
        plain = Configuration(ways(self.app.level)[0])
        built = build_request(self._vector, self._vector.examples[0], self.app.level, padded_outputs=False)
        (compilation,) = self._compiled(plain)
        arguments = Arguments(self.app, self._model(plain)[0], built)
        execution = self._execution(plain, compilation, arguments)
        self.app.expect(plain.way, compute(self.app, plain.way, execution, compilation))
        return self._verdicts.outputs(0, built, arguments.collect())

    def _model(self, configuration: Configuration) -> tuple[Model, int]:
        key = (configuration.hidden, configuration.pooled)
        if key not in self._models:
            model = build_model(
                self._vector,
                self.app.level,
                unspecified_outputs=configuration.hidden,
                create_pool=self._context.filled_pool if configuration.pooled else None,
            ).model
            self._models[key] = model, self._built(model)
        return self._models[key]

    def _built(self, model: Model) -> int:
        """Build and finish a model. Since feature level 5 a runtime refuses graphs without inputs."""
        try:
            return self.app.built(model)
        except CallError as error:
            graphs = (model.main, *model.referenced)
            if error.function == _IDENTIFY and not all(graph.input_indexes for graph in graphs):
                raise NotSupported("the runtime refuses graphs without inputs") from None
            raise

    def _compiled(self, configuration: Configuration) -> list[int]:
        """The compilations of the executions, one after the other."""
        if configuration.repeated == CACHED:
            return [self._compile(configuration, cached=True) for _ in range(2)]
        key = (configuration.hidden, configuration.pooled, configuration.devices)
        if key not in self._compilations:
            self._compilations[key] = self._compile(configuration, cached=False)
        return [self._compilations[key]] * (1 if configuration.repeated == ONCE else 2)

    def _compile(self, configuration: Configuration, *, cached: bool) -> int:
        _, model = self._model(configuration)
        devices = (self._first_device,) if configuration.devices == EXPLICIT else ()
        compilation = self.app.compilation(model, devices)
        calls: list[MethodCall] = []
        if cached:
            self._folder = self._folder or CacheFolder(self._context)
            token = _TOKEN + bytes((configuration.hidden, configuration.pooled))
            calls.append(("compilation_set_caching", (compilation, self._folder.argument, token)))
        self.app.succeed_each([*calls, ("compilation_finish", (compilation,))])
        return compilation

    def _execution(self, configuration: Configuration, compilation: int, arguments: Arguments) -> int:
        execution = self.app.execution(compilation)
        calls: list[MethodCall] = []
        if configuration.repeated == REUSED:
            calls.append(("execution_set_reusable", (execution, True)))
        if self._vector.has_loops:  # no result depends on how busy the machine is
            calls.append(("execution_set_loop_timeout", (execution, MAXIMUM_LOOP_TIMEOUT_NS)))
        arguments.set(execution, *calls)
        return execution

    def _check(
        self, configuration: Configuration, built: BuiltRequest, arguments: Arguments, execution: int, code: int
    ) -> Found:
        """Check what came back; returns the bytes of the outputs that are compared, none where it was refused."""
        what = f"{configuration.way}, the result"
        leaves_open = self._leaves_outputs_open(configuration)
        if leaves_open and not WAYS[configuration.way].finds_shapes:
            with checks.about("FW-EXE-022"):
                self.app.expect(what, code, ResultCode.BAD_DATA)
            return ()
        if leaves_open and configuration.devices == EXPLICIT and code == ResultCode.OP_FAILED:
            raise NotSupported("the device does not execute with outputs of unknown shape")
        self.app.expect(what, code)
        content = arguments.collect()
        untouched_outside(built, content, with_padding=True)
        self._check_shapes(configuration, execution)
        return self._verdicts.judge(configuration.example, built, content)

    def _leaves_outputs_open(self, configuration: Configuration) -> bool:
        """True where the model does not say all shapes of its outputs; scalars have none."""
        outputs = [self._vector.operands[name] for name in self._vector.outputs]
        if configuration.hidden and any(operand.dimensions for operand in outputs):
            return True
        return any(operand.is_open for operand in outputs)

    @checks.about("FW-GEN-003", "FW-EXE-017")
    def _check_shapes(self, configuration: Configuration, execution: int) -> None:
        if self.app.level < Version.V1_2:
            return
        names, outputs = self._vector.outputs, self._vector.examples[configuration.example].outputs
        ranks = {index: len(outputs[name].shape) for index, name in enumerate(names)}
        for index, dimensions in output_shapes(self.app, execution, ranks).items():
            checks.equal(dimensions, outputs[names[index]].shape, f"dimensions of output {names[index]}")


def _broken(vector: Vector, output: str) -> tuple[str, ...]:
    """What a runtime breaks where an output is wrong."""
    return ("FW-GEN-012",) if vector.kind == "multinomial" else ("FW-GEN-009",)


def _expect_rejected(context: CaseContext, vector: Vector) -> None:
    """What is invalid is refused when its model is built, when it is compiled, or at the latest when it is executed."""
    app = RuntimeApp(context)
    try:
        model = build_model(vector, app.level).model
        compilation = app.compilation(app.built(model))
        require("compilation_finish", app.call("compilation_finish", compilation))
        for example in vector.examples:
            built = build_request(vector, example, app.level)
            execution = app.execution(compilation)
            Arguments(app, model, built).set(execution)
            require("execution_compute", compute(app, ways(app.level)[0], execution, compilation))
    except CallError as error:
        app.expect(f"{error.function} of what must be rejected", error.result, *_REJECTIONS)
        return
    judge_taken(context, vector, "the runtime")


def _expect_aborted(context: CaseContext, vector: Vector) -> None:
    """A loop without end is aborted after its timeout of a millisecond (FW-QOS-003)."""
    app = RuntimeApp(context)
    model = build_model(vector, app.level).model
    compilation = app.finished_compilation(app.built(model))
    arguments = Arguments(app, model, build_request(vector, vector.examples[0], app.level))
    for way in ways(app.level):
        with context.configuration(way):
            execution = app.execution(compilation)
            arguments.set(execution)
            app.succeed("execution_set_loop_timeout", execution, _MILLISECOND)
            code = compute(app, way, execution, compilation)
            checks.member(code, MISSED, "result of a loop without end")
