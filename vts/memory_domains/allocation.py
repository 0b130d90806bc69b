"""allocate: what must be rejected with INVALID_ARGUMENT or GENERAL_FAILURE, and what may only be declined.

AOSP's MemoryDomainAllocateTest takes either status for each rejection, since a device without buffers need not look.
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
    BufferFixture,
    addition_with_activation,
    in_each_type,
)

cases = CaseGroup("vts.memory_domains", group=Group.MEMORY)
_SINCE = Version.V1_3
_REJECTED = "NNHAL-MEMDOMAIN-002"
_OTHER_SIGNEDNESS = {0: 1, 1: 0, 2: 3, 3: 2}
"""Places in ADDITIONS: of floats the other width, of quantised types the other sign."""


def _expect_rejected(fixture: BufferFixture, what: str, allocation: Allocation) -> None:
    checks.raises_status(lambda: allocation.ask(fixture.device), {INVALID, GENERAL}, f"allocate with {what}")


def _pairings(one: PreparedModel, other: PreparedModel) -> Iterator[tuple[str, Allocation]]:
    """Two models whose roles are both of inputs, of an input and an output, and both of outputs."""
    both = (one, other)
    yield "two inputs", Allocation(both, inputs=((0, 0), (1, 0)))
    yield "an input and an output", Allocation(both, inputs=((0, 0),), outputs=((1, 0),))
    yield "two outputs", Allocation(both, outputs=((0, 0), (1, 0)))


def _expect_pairings_rejected(fixture: BufferFixture, what: str, other: PreparedModel) -> None:
    for roles, allocation in _pairings(fixture.prepare(), other):
        _expect_rejected(fixture, f"{roles} of {what}", allocation)


@cases.case("allocate.no_roles", "NNHAL-MEMDOMAIN-005", _REJECTED, since=_SINCE)
@in_each_type
def no_roles(fixture: BufferFixture) -> None:
    """allocate is rejected without a prepared model, and without a role."""
    _expect_rejected(fixture, "no prepared model and no role", Allocation(()))
    _expect_rejected(fixture, "roles of no prepared model", Allocation((), inputs=((0, 0),)))
    _expect_rejected(fixture, "no role", Allocation((fixture.prepare(),)))


@cases.case("allocate.null_model", "NNHAL-MEMDOMAIN-006", _REJECTED, since=_SINCE)
@in_each_type
def null_model(fixture: BufferFixture) -> None:
    """allocate is rejected for a role of a null prepared model, alone and in front of a good one."""
    _expect_rejected(fixture, "a null model", Allocation((None,), inputs=((0, 0),)))
    beside = Allocation((None, fixture.prepare()), inputs=((0, 0),))
    _expect_rejected(fixture, "a null model beside another", beside)


class _Impostor(PreparedModel):
    """A prepared model of the client's own making."""


@cases.case("allocate.foreign_model", "NNHAL-MEMDOMAIN-007", _REJECTED, since=_SINCE)
@in_each_type
def foreign_model(fixture: BufferFixture) -> None:
    """allocate is rejected for a prepared model that this device has not prepared."""
    _expect_rejected(
        fixture, "a model of the client's", Allocation((_Impostor(),), inputs=((0, 0),), outputs=((0, 0),))
    )


@cases.case("allocate.model_index", "NNHAL-MEMDOMAIN-008", _REJECTED, since=_SINCE)
@in_each_type
def model_index(fixture: BufferFixture) -> None:
    """allocate is rejected for roles of a prepared model that is not in the list."""
    models = (fixture.prepare(),)
    for index in (1, 2**31 - 1, *((-1,) if fixture.context.version.is_aidl else (2**32 - 1,))):
        _expect_rejected(fixture, f"an input of model {index}", Allocation(models, inputs=((index, 0),)))
        _expect_rejected(fixture, f"an output of model {index}", Allocation(models, outputs=((index, 0),)))


@cases.case("allocate.io_index", "NNHAL-MEMDOMAIN-008", _REJECTED, since=_SINCE)
@in_each_type
def io_index(fixture: BufferFixture) -> None:
    """allocate is rejected for roles of an input or output that the model does not have."""
    models, beyond = (fixture.prepare(),), -1 if fixture.context.version.is_aidl else 2**32 - 1
    for index in (2, 9999, beyond):
        _expect_rejected(fixture, f"input {index} of two", Allocation(models, inputs=((0, index),)))
    for index in (1, 9999, beyond):
        _expect_rejected(fixture, f"output {index} of one", Allocation(models, outputs=((0, index),)))


@cases.case("allocate.probability", "NNHAL-MEMDOMAIN-009", _REJECTED, since=_SINCE)
@in_each_type
def probability(fixture: BufferFixture) -> None:
    """allocate is rejected for probabilities (HIDL: frequencies) outside of (0, 1], and for NaN."""
    models = (fixture.prepare(),)
    for value in (10.0, 1.5, 0.0, -0.5, math.inf, math.nan):
        for allocation in (Allocation(models, inputs=((0, 0),)), Allocation(models, outputs=((0, 0),))):
            invalid = Allocation(models, allocation.inputs, allocation.outputs, probability=value)
            _expect_rejected(fixture, f"probability {value}", invalid)


@cases.case("allocate.role_twice", "NNHAL-MEMDOMAIN-010", _REJECTED, since=_SINCE)
@in_each_type
def role_twice(fixture: BufferFixture) -> None:
    """allocate is rejected where a role is named twice: by one index of the list, or by two of one model."""
    model = fixture.prepare()
    for models, second in (((model,), 0), ((model, model), 1)):
        how = "through an alias" if second else "by one index"
        _expect_rejected(fixture, f"an input twice {how}", Allocation(models, inputs=((0, 0), (second, 0))))
        _expect_rejected(fixture, f"an output twice {how}", Allocation(models, outputs=((0, 0), (second, 0))))


@cases.case("allocate.conflicting_type", "NNHAL-MEMDOMAIN-011", _REJECTED, since=_SINCE)
@in_each_type
def conflicting_type(fixture: BufferFixture) -> None:
    """allocate is rejected for roles of different operand types."""
    other = ADDITIONS[_OTHER_SIGNEDNESS[ADDITIONS.index(fixture.chosen)]]
    # As many dimensions and sizes as the first: the type alone is in conflict.
    model = BufferFixture(fixture.context, other).prepare(dimensions=(fixture.elements,))
    _expect_pairings_rejected(fixture, f"{fixture.chosen.operand_type.name} and {other.operand_type.name}", model)


@cases.case("allocate.conflicting_scale", "NNHAL-MEMDOMAIN-011", _REJECTED, since=_SINCE)
@in_each_type
def conflicting_scale(fixture: BufferFixture) -> None:
    """allocate is rejected for roles of different scale."""
    _quantised(fixture)
    other = fixture.prepare(scale=1.0, zero_point=fixture.chosen.zero_point)
    _expect_pairings_rejected(fixture, f"scales {fixture.chosen.scale} and 1.0", other)


@cases.case("allocate.conflicting_zero_point", "NNHAL-MEMDOMAIN-011", _REJECTED, since=_SINCE)
@in_each_type
def conflicting_zero_point(fixture: BufferFixture) -> None:
    """allocate is rejected for roles of different zero point."""
    _quantised(fixture)
    _expect_pairings_rejected(
        fixture, f"zero points {fixture.chosen.zero_point} and 10", fixture.prepare(zero_point=10)
    )


def _quantised(fixture: BufferFixture) -> None:
    if not fixture.chosen.scale:
        raise NotApplicable(f"{fixture.chosen.operand_type.name} has no quantisation")


@cases.case("allocate.conflicting_channels", "NNHAL-MEMDOMAIN-011", _REJECTED, since=_SINCE)
def conflicting_channels(context: CaseContext) -> None:
    """allocate is rejected for roles whose channels have different scales."""
    fixture = BufferFixture(context, FLOAT32)
    models = [fixture.prepare_model(_dequantize(scales)) for scales in ((0.5, 0.25), (0.5, 1.0))]
    _expect_rejected(
        fixture, "two inputs of different channel scales", Allocation(tuple(models), inputs=((0, 0), (1, 0)))
    )


def _dequantize(scales: tuple[float, float]) -> Model:
    params = OperandExtraParams(SymmPerChannelQuantParams(scales, 0))
    source = Operand(
        OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL,
        (2, 2),
        lifetime=OperandLifeTime.SUBGRAPH_INPUT,
        extra_params=params,
        number_of_consumers=1,
    )
    result = Operand(OperandType.TENSOR_FLOAT32, (2, 2), lifetime=OperandLifeTime.SUBGRAPH_OUTPUT)
    return Model(main=Subgraph((source, result), (Operation(OperationType.DEQUANTIZE, (0,), (1,)),), (0,), (1,)))


@cases.case("allocate.conflicting_rank", "NNHAL-MEMDOMAIN-012", _REJECTED, since=_SINCE)
@in_each_type
def conflicting_rank(fixture: BufferFixture) -> None:
    """allocate is rejected for roles of different rank."""
    _expect_pairings_rejected(fixture, "ranks 1 and 2", fixture.prepare(dimensions=(fixture.elements, 1)))


@cases.case("allocate.conflicting_dimensions", "NNHAL-MEMDOMAIN-012", _REJECTED, since=_SINCE)
@in_each_type
def conflicting_dimensions(fixture: BufferFixture) -> None:
    """allocate is rejected for roles of different size."""
    _expect_pairings_rejected(fixture, "different sizes", fixture.prepare(dimensions=(2 * fixture.elements,)))


@cases.case("allocate.conflicting_known_dimensions", "NNHAL-MEMDOMAIN-012", _REJECTED, since=_SINCE)
@in_each_type
def conflicting_known_dimensions(fixture: BufferFixture) -> None:
    """allocate is rejected for roles of different size where one of them leaves another of its sizes open."""
    one, other = (
        fixture.prepare(dimensions=(0, fixture.elements)),
        fixture.prepare(dimensions=(1, 2 * fixture.elements)),
    )
    for roles, allocation in _pairings(one, other):
        _expect_rejected(fixture, f"{roles} of different sizes beside an open one", allocation)


@cases.case("allocate.descriptor_rank", "NNHAL-MEMDOMAIN-012", _REJECTED, since=_SINCE)
@in_each_type
def descriptor_rank(fixture: BufferFixture) -> None:
    """allocate is rejected for a descriptor of another rank than the roles."""
    _expect_descriptor_rejected(fixture, (fixture.elements, 1))


@cases.case("allocate.descriptor_dimensions", "NNHAL-MEMDOMAIN-012", _REJECTED, since=_SINCE)
@in_each_type
def descriptor_dimensions(fixture: BufferFixture) -> None:
    """allocate is rejected for a descriptor of another size than the roles."""
    _expect_descriptor_rejected(fixture, (2 * fixture.elements,))


def _expect_descriptor_rejected(fixture: BufferFixture, dimensions: tuple[int, ...]) -> None:
    models, what = (fixture.prepare(),), f"a descriptor of {dimensions} for {(fixture.elements,)}"
    _expect_rejected(fixture, f"{what}, an input", Allocation(models, inputs=((0, 0),), dimensions=dimensions))
    _expect_rejected(fixture, f"{what}, an output", Allocation(models, outputs=((0, 0),), dimensions=dimensions))


@cases.case("allocate.dimensions_of_scalar", "NNHAL-MEMDOMAIN-013", _REJECTED, since=_SINCE)
@in_each_type
def dimensions_of_scalar(fixture: BufferFixture) -> None:
    """allocate is rejected for a descriptor with dimensions and the role of a scalar."""
    model = fixture.prepare_model(addition_with_activation(fixture.chosen))
    for dimensions in ((1,), (0,)):
        _expect_rejected(
            fixture, "dimensions of a scalar", Allocation((model,), inputs=((0, 2),), dimensions=dimensions)
        )


@cases.case("allocate.scalar_and_tensor", "NNHAL-MEMDOMAIN-011", _REJECTED, since=_SINCE)
@in_each_type
def scalar_and_tensor(fixture: BufferFixture) -> None:
    """allocate is rejected for roles of a tensor and of a scalar."""
    model = fixture.prepare_model(addition_with_activation(fixture.chosen))
    _expect_rejected(fixture, "roles of a tensor and a scalar", Allocation((model,), inputs=((0, 0), (0, 2))))


@cases.case("allocate.valid", "NNHAL-MEMDOMAIN-003", since=_SINCE)
@in_each_type
def valid(fixture: BufferFixture) -> None:
    """Valid roles get a buffer with a positive token, or are declined: each is asked for, all may be declined."""
    model, size = fixture.prepare(), (fixture.elements,)
    wanted = (
        Allocation((model,), inputs=((0, 0),)),
        Allocation((model,), outputs=((0, 0),)),
        Allocation((model,), inputs=((0, 0), (0, 1)), outputs=((0, 0),), probability=0.5),
        Allocation((model, fixture.prepare()), inputs=((0, 0), (1, 1)), outputs=((1, 0),), dimensions=size),
        # The same model twice in the list is no harm where no role is.
        Allocation((model, model), inputs=((0, 0), (1, 1))),
    )
    _asks_for(fixture, wanted)


@cases.case("allocate.valid_open", "NNHAL-MEMDOMAIN-003", since=_SINCE)
@in_each_type
def valid_open(fixture: BufferFixture) -> None:
    """Valid roles get a buffer, or are declined, also where they, the descriptor, or both leave sizes open."""
    closed, size = fixture.prepare(), (fixture.elements,)
    model = fixture.prepare(dimensions=(0,))
    wanted = (
        Allocation((model,), inputs=((0, 0),)),
        Allocation((model,), outputs=((0, 0),), dimensions=(0,)),
        Allocation((model,), inputs=((0, 0),), outputs=((0, 0),), dimensions=size),
        Allocation((closed, model), inputs=((0, 0), (1, 0)), dimensions=(0,)),
    )
    _asks_for(fixture, wanted)


def _asks_for(fixture: BufferFixture, wanted: tuple[Allocation, ...]) -> None:
    granted = 0
    for allocation in wanted:
        try:
            fixture.allocate_as(allocation)
        except NotApplicable:
            continue
        granted += 1
    if not granted:
        raise NotApplicable("the device declines to allocate a buffer for any of the roles")


@cases.case("allocate.distinct_tokens", "NNHAL-MEMDOMAIN-004", since=_SINCE)
@in_each_type
def distinct_tokens(fixture: BufferFixture) -> None:
    """Buffers that live at the same time have different tokens."""
    model = fixture.prepare()
    living = [fixture.allocate(model, inputs=(0,)) for _ in range(8)]
    living[3:5] = []
    living += [fixture.allocate(model, outputs=(0,)) for _ in range(4)]
    tokens = [made.token for made in living]
    checks.equal(len(set(tokens)), len(tokens), f"number of different tokens among {tokens}")
