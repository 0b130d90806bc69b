"""Runs one vector: support, preparation, and each configuration of execution with its comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from npu_conformance.harness import checks
from npu_conformance.harness.subject import Pool
from npu_conformance.harness.trial import Trial
from npu_conformance.harness.verdicts import NotApplicable, NotSupported
from npu_conformance.specs.neuralnetworks.build import BuiltRequest, build_model, build_request, extension_names
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import OutputShape, RequestMemoryPool
from npu_conformance.specs.vectors import Example, Rejected, Vector
from npu_conformance.specs.versions import Version
from npu_conformance.vts import coupling
from npu_conformance.vts.control_flow import MILLISECOND, aborted
from npu_conformance.vts.execution import Execution, execute, executors, request_of, timing_rules
from npu_conformance.vts.judging import judge
from npu_conformance.vts.refusal import refused
from npu_conformance.vts.support import support, supports

if TYPE_CHECKING:
    from npu_conformance.specs.vectors import Array

_FILL = 0xA5
"""What output memory holds before an execution: a value left unwritten, or written outside its region, shows up."""

_SHAPES = ("specified", "unspecified", "insufficient")
_SHAPE_REQUIREMENTS = {
    "specified": ("NNHAL-SHAPE-001", "NNHAL-SHAPE-003"),
    "unspecified": ("NNHAL-SHAPE-002", "NNHAL-SHAPE-003", "NNHAL-REQUEST-011"),
    "insufficient": ("NNHAL-SHAPE-004", "NNHAL-SHAPE-005", "NNHAL-SHAPE-006", "NNHAL-SHAPE-008"),
}
_TIMING_REQUIREMENTS = {
    False: ("NNHAL-TIMING-001",),
    True: ("NNHAL-TIMING-002", "NNHAL-TIMING-004", "NNHAL-TIMING-005", "NNHAL-TIMING-006"),
}
_WITHOUT_SHAPES = {"RANK", "IF", "WHILE"}


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way to execute a vector. executor: synchronous or asynchronous; shape: of the outputs, one of _SHAPES."""

    executor: str
    shape: str
    measured: bool
    example: int

    @property
    def name(self) -> str:
        """How it is addressed behind the # of the case."""
        timing = "timed" if self.measured else "untimed"
        return f"{self.executor}.{self.shape}.{timing}" + (f".example{self.example}" if self.example else "")


def run(trial: Trial, vector: Vector) -> None:
    """Execute the vector in every configuration, or see it refused."""
    attach(trial, vector)
    if _has_open_loop(vector):
        # Legal above the HAL; AOSP runs such vectors in CTS, not in VTS.
        vector = replace(vector, rejected=Rejected("MODEL.P8", "model"))
    if vector.kind == "infinite_loop_timeout":
        _aborted(trial, vector)
        return
    if vector.rejected is not None:
        refused(trial, vector)
        return
    twin = coupling.unsigned_twin(vector)
    try:
        runner = _Runner(trial, vector)
    except NotSupported:
        if twin is not None:
            coupling.supported_alike(False, supports(trial, twin))
        raise
    for configuration in _configurations(trial, vector):
        if trial.wants(configuration.name):
            requirements = (*_SHAPE_REQUIREMENTS[configuration.shape], *_TIMING_REQUIREMENTS[configuration.measured])
            with trial.configuration(configuration.name, requirements=requirements):
                runner.execute(configuration)
    if twin is not None and trial.wants(coupling.CONFIGURATION):
        with trial.configuration(coupling.CONFIGURATION, requirements=coupling.REQUIREMENTS):
            coupling.supported_alike(True, supports(trial, twin))
            coupling.same_results(trial, vector, runner.outputs(), _Runner(trial, twin).outputs())


def attach(trial: Trial, vector: Vector) -> None:
    """Give the failure file of a case what it needs to run the vector again."""
    from npu_conformance.specs.vector_writing import document_of

    trial.attach(
        lambda: {
            "id": trial.case.id,
            "operation": vector.operation,
            "vector": document_of(vector),
            "extensions": extension_names(vector),
        }
    )


def _aborted(trial: Trial, vector: Vector) -> None:
    """A loop without end is aborted after its timeout of a millisecond (NNHAL-CONTROLFLOW-011)."""
    prepared_model = prepared(trial, vector, unspecified=False)
    request = request_of(trial, build_request(vector, vector.examples[0], trial.version))
    for executor in executors(trial.version):
        with trial.configuration(executor, requirements=("NNHAL-CONTROLFLOW-011",)):
            execution = execute(
                trial, prepared_model, request, measure=False, executor=executor, loop_timeout=MILLISECOND
            )
            aborted(execution, "an endless loop")


def _has_open_loop(vector: Vector) -> bool:
    """True where WHILE carries operands of unknown rank or size."""
    if not any(operation.type == "WHILE" for graph in vector.graphs for operation in graph.operations):
        return False
    borders = ((graph, name) for graph in vector.referenced for name in (*graph.inputs, *graph.outputs))
    operands = [graph.operands[name] for graph, name in borders]
    return any(operand.is_open for operand in operands)


def _configurations(trial: Trial, vector: Vector) -> Iterator[Configuration]:
    has_shapes = trial.version >= Version.V1_2 and not _WITHOUT_SHAPES.intersection(
        operation.type for graph in vector.graphs for operation in graph.operations
    )
    executor, *others = executors(trial.version)
    for shape in _SHAPES if has_shapes else _SHAPES[:1]:
        for measured in (False, True) if trial.version >= Version.V1_2 else (False,):
            for example in range(len(vector.examples)):
                yield Configuration(executor, shape, measured, example)
    for other in others:
        yield Configuration(other, "specified", False, 0)


class _Runner:
    """Prepared models and pools of one vector, made when first needed and again after a restart of the subject."""

    def __init__(self, trial: Trial, vector: Vector) -> None:
        self._trial, self._vector = trial, vector
        self._prepared: dict[tuple[bool, int], PreparedModel] = {}
        self._made: dict[tuple[str, int, int], Pool] = {}
        self._built: dict[tuple[int, bool, bool], BuiltRequest] = {}
        self._flawless: set[tuple[int, bytes]] = set()
        self._samples: dict[int, bytes] = {}
        self._prepare(unspecified=False)

    def execute(self, configuration: Configuration) -> None:
        """Execute once and check everything that the outcome promises."""
        vector, trial = self._vector, self._trial
        example = vector.examples[configuration.example]
        insufficient = configuration.shape == "insufficient"
        # AIDL lets a device write into padding as it works in chunks: every other configuration offers it none.
        padded = insufficient or configuration.measured
        built = self._request(configuration.example, insufficient=insufficient, padded=padded)
        if insufficient and _first_output_size(built) < 1:
            raise NotApplicable("output 0 has one byte at most: it can not be made too small")
        prepared_model = self._prepare(unspecified=configuration.shape != "specified")
        inputs, outputs = self._pools(built)
        request = built.request(RequestMemoryPool(pool=inputs.memory), RequestMemoryPool(pool=outputs.memory))
        execution = execute(
            trial, prepared_model, request, measure=configuration.measured, executor=configuration.executor
        )
        self._check(configuration, example, built, execution, outputs)
        checks.that(
            bytes(inputs.read(0, len(built.input_data))) == built.input_data, "the execution modified its input memory"
        )

    def outputs(self) -> dict[str, Array]:
        """Execute the first example in the usual way; returns the stored elements of the outputs by name."""
        built = self._request(0, insufficient=False, padded=False)
        prepared_model = self._prepare(unspecified=False)
        inputs, outputs = self._pools(built)
        request = built.request(RequestMemoryPool(pool=inputs.memory), RequestMemoryPool(pool=outputs.memory))
        execution = execute(self._trial, prepared_model, request, measure=False)
        self._may_decline(execution, "specified")
        checks.status(execution.status, {ErrorStatus.NONE}, "execution")
        content, expected = outputs.read(0, built.output_size), self._vector.examples[0].outputs
        return {name: built.read(name, content, array.shape) for name, array in expected.items()}

    def _prepare(self, *, unspecified: bool) -> PreparedModel:
        key = (unspecified, self._trial.restarts)
        if key not in self._prepared:
            self._prepared[key] = prepared(self._trial, self._vector, unspecified=unspecified)
        return self._prepared[key]

    def _request(self, example: int, *, insufficient: bool, padded: bool) -> BuiltRequest:
        key = (example, insufficient, padded)
        if key not in self._built:
            self._built[key] = build_request(
                self._vector, self._vector.examples[example], self._trial.version,
                insufficient_output=insufficient, padded_outputs=padded,
            )  # fmt: skip
        return self._built[key]

    def _pool(self, role: str, size: int) -> Pool:
        key = (role, size, self._trial.restarts)
        if key not in self._made:
            self._made[key] = self._trial.pool(size)
        return self._made[key]

    def _pools(self, built: BuiltRequest) -> tuple[Pool, Pool]:
        """Pools with the inputs, and with outputs that nothing has been written to yet."""
        inputs, outputs = self._pool("input", len(built.input_data) or 1), self._pool("output", built.output_size)
        inputs.write(0, built.input_data)
        outputs.write(0, bytes([_FILL]) * built.output_size)
        return inputs, outputs

    def _check(
        self, configuration: Configuration, example: Example, built: BuiltRequest, execution: Execution, pool: Pool
    ) -> None:
        timing_rules(self._trial, execution, measured=configuration.measured)
        self._may_decline(execution, configuration.shape)
        content = pool.read(0, built.output_size)
        _untouched_outside(built, content, with_padding=configuration.shape == "insufficient")
        if configuration.shape == "insufficient":
            checks.status(execution.status, {ErrorStatus.OUTPUT_INSUFFICIENT_SIZE}, "execution with output 0 too small")
            _insufficient_shapes(self._vector, example, execution.output_shapes)
            return
        checks.status(execution.status, {ErrorStatus.NONE}, "execution")
        _exact_shapes(self._trial, self._vector, example, execution.output_shapes, configuration.shape)
        self._judge(configuration.example, built, content)

    def _may_decline(self, execution: Execution, shape: str) -> None:
        """NotSupported where a device says that it does not find out the shapes of outputs, as it may (SHAPE-009)."""
        kind = "unspecified" if _leaves_only_outputs_open(self._vector) else shape
        if kind != "specified" and execution.status == ErrorStatus.GENERAL_FAILURE:
            raise NotSupported(f"the device does not execute with {kind} outputs")

    def _judge(self, number: int, built: BuiltRequest, content: bytes) -> None:
        """Judge an output. The same bytes get the same verdict: those that were flawless are not looked at again."""
        if (number, content) in self._flawless:
            return
        example = self._vector.examples[number]
        outputs = {name: built.read(name, content, array.shape) for name, array in example.outputs.items()}
        judge(self._trial, self._vector, example, outputs)
        if self._vector.kind == "multinomial":
            self._same_samples(number, content)
        if self._trial.is_flawless:
            self._flawless.add((number, content))

    def _same_samples(self, number: int, content: bytes) -> None:
        """Seeds are there to draw the same samples again; that a device must is said nowhere."""
        if self._samples.setdefault(number, content) != content:
            self._trial.warn_quality("equal seeds gave other samples than in an execution before")


def prepared(trial: Trial, vector: Vector, *, unspecified: bool) -> PreparedModel:
    """Prepare the vector's model. NotSupported where the device said before that it does not support it all."""
    model = build_model(vector, trial.version, unspecified_outputs=unspecified).model
    supported = support(trial, model)
    if supported is None:
        raise NotSupported("the device refuses graphs without inputs")
    preparation = trial.prepare(model)
    checks.status(preparation.launch_status, {ErrorStatus.NONE}, "prepareModel of a valid model, returned")
    if preparation.status != ErrorStatus.NONE:
        checks.that(preparation.prepared_model is None, "a failed preparation notified a prepared model")
        if not all(supported):
            pairs = zip(vector.operations, supported, strict=True)
            names = sorted({operation.type for operation, is_supported in pairs if not is_supported})
            raise NotSupported(f"not supported: {' '.join(names)}")
    checks.status(preparation.status, {ErrorStatus.NONE}, "prepareModel of a supported model, notified")
    if preparation.prepared_model is None:
        checks.fail("prepareModel of a supported model, notified", "a prepared model", "null")
    return preparation.prepared_model


def _leaves_only_outputs_open(vector: Vector) -> bool:
    """True where ranks or sizes are unknown of outputs alone, whose shapes a device need not find out (SHAPE-009).

    Where those of inputs or of operands inside are unknown too, finding out is what the vector is about.
    """
    is_open = {name for name, operand in vector.operands.items() if operand.is_open}
    return bool(is_open) and is_open <= set(vector.outputs)


def _first_output_size(built: BuiltRequest) -> int:
    return next(iter(built.outputs.values())).length


def _exact_shapes(trial: Trial, vector: Vector, example: Example, shapes: tuple[OutputShape, ...], shape: str) -> None:
    if trial.version < Version.V1_2 or (shape == "specified" and not shapes):
        return
    checks.equal(len(shapes), len(vector.outputs), "number of output shapes")
    for name, found in zip(vector.outputs, shapes, strict=True):
        checks.equal(found.dimensions, example.outputs[name].shape, f"dimensions of output {name}")
        checks.that(found.is_sufficient, f"output {name} is marked insufficient in a successful execution")


def _insufficient_shapes(vector: Vector, example: Example, shapes: tuple[OutputShape, ...]) -> None:
    checks.equal(len(shapes), len(vector.outputs), "number of output shapes")
    for position, (name, found) in enumerate(zip(vector.outputs, shapes, strict=True)):
        expected = example.outputs[name].shape
        checks.equal(found.is_sufficient, position != 0, f"isSufficient of output {name}")
        checks.equal(len(found.dimensions), len(expected), f"rank of output {name}")
        for axis, (actual, right) in enumerate(zip(found.dimensions, expected, strict=True)):
            what = f"dimension {axis} of output {name}: expected {right} or 0 for unknown, found {actual}"
            checks.that(actual in (0, right), what)


def _untouched_outside(built: BuiltRequest, content: bytes, *, with_padding: bool) -> None:
    """Bytes outside the regions of the outputs keep what they held.

    A device may write into AIDL's padding while it works in chunks, but no output data (NNHAL-REQUEST-013), and these
    can not be told apart. with_padding: look there too, where an output that does not fit could go on
    (NNHAL-SHAPE-008).
    """
    end = 0
    for name, region in built.outputs.items():
        checks.that(set(content[end : region.offset]) <= {_FILL}, f"bytes in front of output {name} were written")
        end = region.offset + region.length + (0 if with_padding else region.padding)
    checks.that(set(content[end:]) <= {_FILL}, "bytes behind the last output were written")
