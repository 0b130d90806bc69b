"""allocate: what must be refused with INVALID_ARGUMENT or GENERAL_FAILURE, and what may only be declined.

AOSP's MemoryDomainAllocateTest takes either status for each refusal, since a device without buffers need not look.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    Model,
    Operand,
    OperandExtraParams,
    Operation,
    Subgraph,
    SymmPerChannelQuantParams,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import ADDITIONS, FLOAT32
from npu_conformance.vts.lib.memory_domains.fixture import (
    GENERAL,
    INVALID,
    Allocation,
    Bench,
    addition_with_activation,
    in_each_type,
)

cases = CaseGroup("vts.memory_domains", group=Group.MEMORY)
_SINCE = Version.V1_3
_REFUSED = "NNHAL-MEMDOMAIN-002"
_TYPE_TWINS = {0: 1, 1: 0, 2: 3, 3: 2}
"""Places in ADDITIONS: of floats the other width, of quantised types the other sign."""


def _refuses(bench: Bench, what: str, allocation: Allocation) -> None:
    checks.raises_status(lambda: allocation.ask(bench.device), {INVALID, GENERAL}, f"allocate with {what}")


def _pairings(one: PreparedModel, other: PreparedModel) -> Iterator[tuple[str, Allocation]]:
    """Two models whose roles are both of inputs, of an input and an output, and both of outputs."""
    both = (one, other)
    yield "two inputs", Allocation(both, inputs=((0, 0), (1, 0)))
    yield "an input and an output", Allocation(both, inputs=((0, 0),), outputs=((1, 0),))
    yield "two outputs", Allocation(both, outputs=((0, 0), (1, 0)))


def _refuses_pairings(bench: Bench, what: str, other: PreparedModel) -> None:
    for roles, allocation in _pairings(bench.prepare(), other):
        _refuses(bench, f"{roles} of {what}", allocation)


@cases.case("allocate.no_roles", "NNHAL-MEMDOMAIN-005", _REFUSED, since=_SINCE)
@in_each_type
def no_roles(bench: Bench) -> None:
    """Without a prepared model, and without a role."""
    _refuses(bench, "no prepared model and no role", Allocation(()))
    _refuses(bench, "roles of no prepared model", Allocation((), inputs=((0, 0),)))
    _refuses(bench, "no role", Allocation((bench.prepare(),)))


@cases.case("allocate.null_model", "NNHAL-MEMDOMAIN-006", _REFUSED, since=_SINCE)
@in_each_type
def null_model(bench: Bench) -> None:
    """A prepared model that is null, alone and behind a good one that is not asked for."""
    _refuses(bench, "a null model", Allocation((None,), inputs=((0, 0),)))
    _refuses(bench, "a null model beside another", Allocation((bench.prepare(), None), inputs=((0, 0),)))


class _Impostor(PreparedModel):
    """A prepared model of the client's own making."""


@cases.case("allocate.foreign_model", "NNHAL-MEMDOMAIN-007", _REFUSED, since=_SINCE)
@in_each_type
def foreign_model(bench: Bench) -> None:
    """A prepared model that this device has not prepared."""
    _refuses(bench, "a model of the client's", Allocation((_Impostor(),), inputs=((0, 0),), outputs=((0, 0),)))


@cases.case("allocate.model_index", "NNHAL-MEMDOMAIN-008", _REFUSED, since=_SINCE)
@in_each_type
def model_index(bench: Bench) -> None:
    """Roles of a prepared model that is not in the list."""
    models = (bench.prepare(),)
    for index in (1, 2**31 - 1, *((-1,) if bench.context.version.is_aidl else (2**32 - 1,))):
        _refuses(bench, f"an input of model {index}", Allocation(models, inputs=((index, 0),)))
        _refuses(bench, f"an output of model {index}", Allocation(models, outputs=((index, 0),)))


@cases.case("allocate.io_index", "NNHAL-MEMDOMAIN-008", _REFUSED, since=_SINCE)
@in_each_type
def io_index(bench: Bench) -> None:
    """Roles of an input or output that the model does not have."""
    models, beyond = (bench.prepare(),), -1 if bench.context.version.is_aidl else 2**32 - 1
    for index in (2, 9999, beyond):
        _refuses(bench, f"input {index} of two", Allocation(models, inputs=((0, index),)))
    for index in (1, 9999, beyond):
        _refuses(bench, f"output {index} of one", Allocation(models, outputs=((0, index),)))


@cases.case("allocate.probability", "NNHAL-MEMDOMAIN-009", _REFUSED, since=_SINCE)
@in_each_type
def probability(bench: Bench) -> None:
    """Probabilities (HIDL: frequencies) outside of (0, 1], or none at all."""
    models = (bench.prepare(),)
    for value in (10.0, 1.5, 0.0, -0.5, math.inf, math.nan):
        for allocation in (Allocation(models, inputs=((0, 0),)), Allocation(models, outputs=((0, 0),))):
            spoiled = Allocation(models, allocation.inputs, allocation.outputs, probability=value)
            _refuses(bench, f"probability {value}", spoiled)


@cases.case("allocate.role_twice", "NNHAL-MEMDOMAIN-010", _REFUSED, since=_SINCE)
@in_each_type
def role_twice(bench: Bench) -> None:
    """One role named twice: by the same index of the list, and by two that mean one prepared model."""
    model = bench.prepare()
    for models, second in (((model,), 0), ((model, model), 1)):
        how = "through an alias" if second else "by one index"
        _refuses(bench, f"an input twice {how}", Allocation(models, inputs=((0, 0), (second, 0))))
        _refuses(bench, f"an output twice {how}", Allocation(models, outputs=((0, 0), (second, 0))))


@cases.case("allocate.conflicting_type", "NNHAL-MEMDOMAIN-011", _REFUSED, since=_SINCE)
@in_each_type
def conflicting_type(bench: Bench) -> None:
    """Roles of different operand types."""
    other = ADDITIONS[_TYPE_TWINS[ADDITIONS.index(bench.chosen)]]
    # As many dimensions and sizes as the first: the type alone is in conflict.
    model = Bench(bench.context, other).prepare(dimensions=(bench.elements,))
    _refuses_pairings(bench, f"{bench.chosen.kind.name} and {other.kind.name}", model)


@cases.case("allocate.conflicting_scale", "NNHAL-MEMDOMAIN-011", _REFUSED, since=_SINCE)
@in_each_type
def conflicting_scale(bench: Bench) -> None:
    """Roles of different scale."""
    _quantised(bench)
    other = bench.prepare(scale=1.0, zero_point=bench.chosen.zero_point)
    _refuses_pairings(bench, f"scales {bench.chosen.scale} and 1.0", other)


@cases.case("allocate.conflicting_zero_point", "NNHAL-MEMDOMAIN-011", _REFUSED, since=_SINCE)
@in_each_type
def conflicting_zero_point(bench: Bench) -> None:
    """Roles of different zero point."""
    _quantised(bench)
    _refuses_pairings(bench, f"zero points {bench.chosen.zero_point} and 10", bench.prepare(zero_point=10))


def _quantised(bench: Bench) -> None:
    if not bench.chosen.scale:
        raise NotApplicable(f"{bench.chosen.kind.name} has no quantisation")


@cases.case("allocate.conflicting_channels", "NNHAL-MEMDOMAIN-011", _REFUSED, since=_SINCE)
def conflicting_channels(context: CaseContext) -> None:
    """Roles whose channels have different scales."""
    bench = Bench(context, FLOAT32)
    models = [bench.prepare_model(_dequantize(scales)) for scales in ((0.5, 0.25), (0.5, 1.0))]
    _refuses(bench, "two inputs of different channel scales", Allocation(tuple(models), inputs=((0, 0), (1, 0))))


def _dequantize(scales: tuple[float, float]) -> Model:
    params = OperandExtraParams(SymmPerChannelQuantParams(scales, 0))
    source = Operand(
        OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL, (2, 2), lifetime=OperandLifeTime.SUBGRAPH_INPUT,
        extra_params=params, number_of_consumers=1,
    )  # fmt: skip
    result = Operand(OperandType.TENSOR_FLOAT32, (2, 2), lifetime=OperandLifeTime.SUBGRAPH_OUTPUT)
    return Model(main=Subgraph((source, result), (Operation(OperationType.DEQUANTIZE, (0,), (1,)),), (0,), (1,)))


@cases.case("allocate.conflicting_rank", "NNHAL-MEMDOMAIN-012", _REFUSED, since=_SINCE)
@in_each_type
def conflicting_rank(bench: Bench) -> None:
    """Roles of different rank."""
    _refuses_pairings(bench, "ranks 1 and 2", bench.prepare(dimensions=(bench.elements, 1)))


@cases.case("allocate.conflicting_dimensions", "NNHAL-MEMDOMAIN-012", _REFUSED, since=_SINCE)
@in_each_type
def conflicting_dimensions(bench: Bench) -> None:
    """Roles of different size."""
    _refuses_pairings(bench, "different sizes", bench.prepare(dimensions=(2 * bench.elements,)))


@cases.case("allocate.conflicting_known_dimensions", "NNHAL-MEMDOMAIN-012", _REFUSED, since=_SINCE)
@in_each_type
def conflicting_known_dimensions(bench: Bench) -> None:
    """Roles of different size where one of them leaves another of its sizes open."""
    one, other = bench.prepare(dimensions=(0, bench.elements)), bench.prepare(dimensions=(1, 2 * bench.elements))
    for roles, allocation in _pairings(one, other):
        _refuses(bench, f"{roles} of different sizes beside an open one", allocation)


@cases.case("allocate.descriptor_rank", "NNHAL-MEMDOMAIN-012", _REFUSED, since=_SINCE)
@in_each_type
def descriptor_rank(bench: Bench) -> None:
    """A descriptor of another rank than the roles."""
    _refuses_descriptor(bench, (bench.elements, 1))


@cases.case("allocate.descriptor_dimensions", "NNHAL-MEMDOMAIN-012", _REFUSED, since=_SINCE)
@in_each_type
def descriptor_dimensions(bench: Bench) -> None:
    """A descriptor of another size than the roles."""
    _refuses_descriptor(bench, (2 * bench.elements,))


def _refuses_descriptor(bench: Bench, dimensions: tuple[int, ...]) -> None:
    models, what = (bench.prepare(),), f"a descriptor of {dimensions} for {(bench.elements,)}"
    _refuses(bench, f"{what}, an input", Allocation(models, inputs=((0, 0),), dimensions=dimensions))
    _refuses(bench, f"{what}, an output", Allocation(models, outputs=((0, 0),), dimensions=dimensions))


@cases.case("allocate.dimensions_of_scalar", "NNHAL-MEMDOMAIN-013", _REFUSED, since=_SINCE)
@in_each_type
def dimensions_of_scalar(bench: Bench) -> None:
    """A descriptor with dimensions for the role of a scalar."""
    model = bench.prepare_model(addition_with_activation(bench.chosen))
    for dimensions in ((1,), (0,)):
        _refuses(bench, "dimensions of a scalar", Allocation((model,), inputs=((0, 2),), dimensions=dimensions))


@cases.case("allocate.scalar_and_tensor", "NNHAL-MEMDOMAIN-011", _REFUSED, since=_SINCE)
@in_each_type
def scalar_and_tensor(bench: Bench) -> None:
    """Roles of a tensor and of a scalar."""
    model = bench.prepare_model(addition_with_activation(bench.chosen))
    _refuses(bench, "roles of a tensor and a scalar", Allocation((model,), inputs=((0, 0), (0, 2))))


@cases.case("allocate.valid", "NNHAL-MEMDOMAIN-003", since=_SINCE)
@in_each_type
def valid(bench: Bench) -> None:
    """Valid roles get a buffer with a positive token, or GENERAL_FAILURE: each is asked for, all may be declined."""
    model, size = bench.prepare(), (bench.elements,)
    wanted = (
        Allocation((model,), inputs=((0, 0),)),
        Allocation((model,), outputs=((0, 0),)),
        Allocation((model,), inputs=((0, 0), (0, 1)), outputs=((0, 0),), probability=0.5),
        Allocation((model, bench.prepare()), inputs=((0, 0), (1, 1)), outputs=((1, 0),), dimensions=size),
        # The same model twice in the list is no harm where no role is.
        Allocation((model, model), inputs=((0, 0), (1, 1))),
    )
    _asks_for(bench, wanted)


@cases.case("allocate.valid_open", "NNHAL-MEMDOMAIN-003", since=_SINCE)
@in_each_type
def valid_open(bench: Bench) -> None:
    """The same where roles, the descriptor, or both leave sizes open."""
    closed, size = bench.prepare(), (bench.elements,)
    model = bench.prepare(dimensions=(0,))
    wanted = (
        Allocation((model,), inputs=((0, 0),)),
        Allocation((model,), outputs=((0, 0),), dimensions=(0,)),
        Allocation((model,), inputs=((0, 0),), outputs=((0, 0),), dimensions=size),
        Allocation((closed, model), inputs=((0, 0), (1, 0)), dimensions=(0,)),
    )
    _asks_for(bench, wanted)


def _asks_for(bench: Bench, wanted: tuple[Allocation, ...]) -> None:
    granted = 0
    for allocation in wanted:
        try:
            bench.allocate_as(allocation)
        except NotApplicable:
            continue
        granted += 1
    if not granted:
        raise NotApplicable("the device declines to allocate a buffer for any of the roles")


@cases.case("allocate.distinct_tokens", "NNHAL-MEMDOMAIN-004", since=_SINCE)
@in_each_type
def distinct_tokens(bench: Bench) -> None:
    """Buffers that live at the same time have different tokens."""
    model = bench.prepare()
    living = [bench.allocate(model, inputs=(0,)) for _ in range(8)]
    living[3:5] = []
    living += [bench.allocate(model, outputs=(0,)) for _ in range(4)]
    tokens = [made.token for made in living]
    checks.equal(len(set(tokens)), len(tokens), f"number of different tokens among {tokens}")
