"""Executions with buffers: which uses are rejected, and what a buffer holds before and behind those that succeed.

Every rejection is looked at from the side of an input and of an output.
"""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.caching import TOKEN, CacheClient
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.executing.execution import ExecutionOptions
from npu_conformance.harness.run.executing.executors import bind
from npu_conformance.harness.run.executing.launching import finish, launch
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import DataLocation
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import SIZE, SUM, A, B
from npu_conformance.vts.lib.load import decline_if_exhausted
from npu_conformance.vts.lib.memory_domains.fixture import (
    GENERAL,
    INVALID,
    NONE,
    Allocation,
    Argument,
    BufferFixture,
    Place,
    addition_with_activation,
    by_each_executor,
    in_each_type,
    request_of,
)
from npu_conformance.vts.lib.rejection import asked_by_text_alone

cases = CaseGroup("vts.memory_domains", group=Group.MEMORY)
_SINCE = Version.V1_3
_UNKNOWN_TOKEN = 100


def _rejected_as_input(fixture: BufferFixture, model: PreparedModel, place: Place, what: str) -> None:
    fixture.fails(model, (place, fixture.pool()), (fixture.pool(),), INVALID, f"execution with {what} as input")


def _rejected_as_output(fixture: BufferFixture, model: PreparedModel, place: Place, what: str) -> None:
    fixture.fails(model, (fixture.pool(), fixture.pool()), (place,), INVALID, f"execution with {what} as output")


@cases.case("execute.unknown_token", "NNHAL-MEMDOMAIN-023", since=_SINCE)
@by_each_executor
def unknown_token(fixture: BufferFixture) -> None:
    """Token 0, and one that names no buffer, are rejected, also by a device without buffers."""
    model = fixture.prepare()
    for token in (0, _UNKNOWN_TOKEN, 2**31 - 1):
        _rejected_as_input(fixture, model, token, f"token {token}")
        _rejected_as_output(fixture, model, token, f"token {token}")


@cases.case("execute.unknown_token_beside_buffers", "NNHAL-MEMDOMAIN-023", since=_SINCE)
@by_each_executor
def unknown_token_beside_buffers(fixture: BufferFixture) -> None:
    """Tokens other than those of living buffers are rejected; a rejected execution leaves the buffers as they are."""
    model = fixture.prepare()
    one, other = fixture.filled(model, (0, 1)), fixture.filled(model, (0, 1))
    near = {made.token + step for made in (one, other) for step in (-1, 1)} - {one.token, other.token, 2**31}
    for token in sorted(near | {0}):
        _rejected_as_input(fixture, model, token, f"token {token}")
        fixture.fails(model, (one, token), (fixture.pool(),), INVALID, f"execution with a buffer and token {token}")
    for made in (one, other):
        fixture.holds(made, A, "content after rejected executions")


@cases.case("execute.location_in_buffer", "NNHAL-REQUEST-015", since=_SINCE)
@by_each_executor
def location_in_buffer(fixture: BufferFixture) -> None:
    """A buffer is used whole: offset, length and padding have to be 0."""
    model = fixture.prepare()
    source, target = fixture.filled(model), fixture.allocate(model, outputs=(0,))
    places = [DataLocation(offset=4), DataLocation(length=SIZE)]
    places += [DataLocation(padding=4)] if fixture.context.version.is_aidl else []
    for place in places:
        _rejected_as_input(fixture, model, Argument(source, location=place), f"{place} in a buffer")
        _rejected_as_output(fixture, model, Argument(target, location=place), f"{place} in a buffer")


@cases.case("execute.other_model", "NNHAL-MEMDOMAIN-024", since=_SINCE)
@by_each_executor
def other_model(fixture: BufferFixture) -> None:
    """A buffer of another prepared model is rejected, however equal the models are."""
    one, other = fixture.prepare(), fixture.prepare()
    _rejected_as_input(fixture, other, fixture.filled(one), "a buffer of another prepared model")
    _rejected_as_output(fixture, other, fixture.allocate(one, outputs=(0,)), "a buffer of another prepared model")


@cases.case("execute.other_restored_model", "NNHAL-MEMDOMAIN-024", "NNHAL-CACHE-010", since=_SINCE)
@by_each_executor
def other_restored_model(fixture: BufferFixture) -> None:
    """A buffer of a model that was restored from a cache is rejected by the next one from there, and by the first."""
    client = CacheClient(fixture.context)
    if not client.caches:
        raise NotApplicable("the device wants no cache files: it does not cache")
    handles = client.cache().handles()
    saved = model_of(client.save(fixture.chosen.model(), handles, TOKEN))
    restored = [client.restore(handles, TOKEN).prepared_model for _ in range(2)]
    models = [saved, *(one for one in restored if one is not None)]
    for one in models:
        source, target = fixture.filled(one), fixture.allocate(one, outputs=(0,))
        for other in models:
            if other is not one:
                _rejected_as_input(fixture, other, source, "a buffer of another model of the same cache")
                _rejected_as_output(fixture, other, target, "a buffer of another model of the same cache")


@cases.case("execute.other_index", "NNHAL-MEMDOMAIN-024", since=_SINCE)
@by_each_executor
def other_index(fixture: BufferFixture) -> None:
    """A buffer of input 0 is rejected as input 1, one of output 0 as output 1, and the other way round."""
    model, pools = fixture.prepare(2), [fixture.pool() for _ in range(6)]
    for right, wrong in ((0, 1), (1, 0), (0, 3)):
        inputs: list[Place] = [*pools[:4]]
        inputs[wrong] = fixture.filled(model, (right,))
        fixture.fails(model, inputs, pools[4:], INVALID, f"execution with a buffer of input {right} as input {wrong}")
    for right, wrong in ((0, 1), (1, 0)):
        outputs: list[Place] = [*pools[4:]]
        outputs[wrong] = fixture.allocate(model, outputs=(right,))
        fixture.fails(
            model, pools[:4], outputs, INVALID, f"execution with a buffer of output {right} as output {wrong}"
        )


@cases.case("execute.other_direction", "NNHAL-MEMDOMAIN-024", since=_SINCE)
@by_each_executor
def other_direction(fixture: BufferFixture) -> None:
    """A buffer of an input is rejected as output, and an initialised one of an output as input."""
    model = fixture.prepare()
    source, target = fixture.filled(model), fixture.filled(model, (), (0,))
    _rejected_as_output(fixture, model, source, "a buffer of an input")
    _rejected_as_input(fixture, model, target, "a buffer of an output")
    fixture.holds(target, A, "content of a buffer that is no input")


@cases.case("execute.uninitialised", "NNHAL-MEMDOMAIN-014", "NNHAL-MEMDOMAIN-015", since=_SINCE)
@by_each_executor
def uninitialised(fixture: BufferFixture) -> None:
    """A fresh buffer is rejected as an input, but taken as an output, and then as an input."""
    model = fixture.prepare()
    made = fixture.allocate(model, inputs=(0,), outputs=(0,))
    one, other, result = fixture.pool(fixture.chosen.packed(A)), fixture.pool(fixture.chosen.packed(B)), fixture.pool()
    fixture.fails(model, (made, other), (result,), GENERAL, "execution with a fresh buffer as input")
    zero = fixture.pool(fixture.chosen.packed((0.0, 0.0)))
    with checks.about("NNHAL-MEMDOMAIN-015"):
        fixture.succeeds(model, (one, other), (made,), "execution with a fresh buffer as output")
        fixture.holds(made, SUM, "buffer of the output")
        fixture.succeeds(model, (made, zero), (result,), "execution with the buffer of an output as input")
    with checks.about("NNHAL-MEMDOMAIN-032"):
        fixture.chosen.check(bytes(result.read(0, SIZE)), SUM, "sum of the buffer and 0")


@cases.case("execute.beside_a_legal_use", "NNHAL-MEMDOMAIN-024", since=_SINCE)
@by_each_executor
def beside_a_legal_use(fixture: BufferFixture) -> None:
    """A use that a buffer is not for is rejected beside one that it is for, of the same buffer and of another one."""
    model, pools = fixture.prepare(2), [fixture.pool(fixture.chosen.packed(A)) for _ in range(4)]
    results = (fixture.pool(), fixture.pool())
    one, other = fixture.filled(model, (0,)), fixture.filled(model, (1,))
    for place in (1, 2, 3):
        for made in (one, other)[: 1 if place == 1 else 2]:
            inputs: list[Place] = [one, *pools[1:]]
            inputs[place] = made
            which = "the buffer" if made is one else "another buffer"
            what = f"execution with {which} as input {place}, beside a legal use"
            fixture.fails(model, inputs, results, INVALID, what)
    fixture.succeeds(model, (one, other, *pools[2:]), results, "execution with both buffers as what they are for")


@cases.case("execute.input_and_output", "NNHAL-MEMDOMAIN-025", since=_SINCE)
@by_each_executor
def input_and_output(fixture: BufferFixture) -> None:
    """One buffer as input and output of one request, and as two outputs, has all those roles and is rejected."""
    model, pools = fixture.prepare(2), [fixture.pool() for _ in range(4)]
    others = [fixture.filled(model, (place,)) for place in range(4)]
    results = [fixture.allocate(model, outputs=(number,)) for number in range(2)]
    for place, number in ((0, 0), (3, 1), (1, 1), (2, 0)):
        both = fixture.filled(model, (place,), (number,))
        inputs: list[Place] = [*others[:place], both, *others[place + 1 :]]
        outputs: list[Place] = [both, both]
        outputs[1 - number] = results[1 - number]
        what = f"execution with one buffer as input {place} and output {number}"
        fixture.fails(model, inputs, outputs, INVALID, what)
    twice = fixture.allocate(model, outputs=(0, 1))
    fixture.fails(model, pools, (twice, twice), INVALID, "execution with one buffer as two outputs")
    # Named twice among the pools it is the same buffer.
    with asked_by_text_alone(fixture.context):
        what = "execution with one buffer, named twice, as two outputs"
        fixture.fails(model, pools, (twice, twice.token), INVALID, what)


@cases.case("execute.outputs_apart", "NNHAL-MEMDOMAIN-025", since=_SINCE)
@by_each_executor
def outputs_apart(fixture: BufferFixture) -> None:
    """One buffer as two outputs is rejected wherever they stand, also with another buffer between them."""
    model, pools = fixture.prepare(3), [fixture.pool() for _ in range(6)]
    for first, second in ((0, 2), (1, 2), (0, 1)):
        made = fixture.allocate(model, outputs=(first, second))
        outputs = [
            made if place in (first, second) else fixture.allocate(model, outputs=(place,)) for place in range(3)
        ]
        what = f"execution with one buffer as outputs {first} and {second}"
        fixture.fails(model, pools, outputs, INVALID, what)


@cases.case("execute.chain_of_fences", "NNHAL-MEMDOMAIN-015", "NNHAL-FENCED-012", "NNHAL-FENCED-005", since=_SINCE)
@in_each_type
def chain_of_fences(fixture: BufferFixture) -> None:
    """A fenced execution reads a buffer that the one that it waits for is to fill, and that is empty at the launch.

    No document says that a driver may not look for the content at the launch: to refuse it is a warning.
    """
    model, fence = fixture.prepare(), fixture.context.fence()
    between = fixture.allocate(model, inputs=(0,), outputs=(0,))
    one, other = (fixture.pool(fixture.chosen.packed(values)) for values in (A, B))
    result = fixture.pool()
    first = launch(fixture.context, model, request_of((one, other), (between,)), (fence,), settle=fence.signal)
    wait_for = () if first.fence is None else (first.fence,)
    request = request_of((between, other), (result,))
    second = launch(fixture.context, model, request, wait_for, settle=fence.signal, held_by=fence)
    first.settle()
    second.settle()
    checks.status(finish(fixture.context, first).status, {NONE}, "first execution of a chain of fences")
    if second.status == GENERAL:
        fixture.context.warn_quality("a buffer without content is refused though a wait fence stands for its content")
        return
    decline_if_exhausted(fixture.context, second.status)
    checks.status(finish(fixture.context, second).status, {NONE}, "second execution of a chain of fences")
    fixture.chosen.check(bytes(result.read(0, SIZE)), (A[0] + 2 * B[0], A[1] + 2 * B[1]), "sum at the end of the chain")


@cases.case("execute.two_inputs", "NNHAL-MEMDOMAIN-026", "NNHAL-EXECUTE-002", since=_SINCE)
@by_each_executor
def two_inputs(fixture: BufferFixture) -> None:
    """One buffer may be two inputs; it keeps its content and serves again."""
    model, result = fixture.prepare(), fixture.pool()
    made = fixture.filled(model, (0, 1))
    for _ in range(2):
        fixture.succeeds(model, (made, made), (result,), "execution with one buffer as both inputs")
        fixture.chosen.check(bytes(result.read(0, SIZE)), (2 * A[0], 2 * A[1]), "sum of a buffer with itself")
    checks.equal(fixture.content(made), fixture.chosen.packed(A), "content of the input")


@cases.case("execute.several_models", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-024", since=_SINCE)
@by_each_executor
def several_models(fixture: BufferFixture) -> None:
    """One buffer goes from the output of one prepared model to the input of another, and no other way."""
    first, second, third = (fixture.prepare() for _ in range(3))
    # Of the first model's output and of the second's input 1.
    made = fixture.allocate_as(Allocation((first, second), inputs=((1, 1),), outputs=((0, 0),)))
    a, b, result = fixture.pool(fixture.chosen.packed(A)), fixture.pool(fixture.chosen.packed(B)), fixture.pool()
    fixture.succeeds(first, (a, b), (made,), "execution of the first model into the buffer")
    fixture.succeeds(second, (b, made), (result,), "execution of the second model on the buffer")
    expected = (SUM[0] + B[0], SUM[1] + B[1])
    fixture.chosen.check(bytes(result.read(0, SIZE)), expected, "sum of the second model")
    with checks.about("NNHAL-MEMDOMAIN-024"):
        fixture.fails(second, (made, b), (result,), INVALID, "execution with the buffer in a role of the other index")
        fixture.fails(third, (a, made), (result,), INVALID, "execution with the buffer of a third model")
    fixture.holds(made, SUM, "buffer after rejected executions")
    with checks.about("NNHAL-MEMDOMAIN-024"):
        fixture.fails(second, (a, b), (made,), INVALID, "execution with the buffer in a role of the other model")


@cases.case("execute.chain", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-032", since=_SINCE)
@by_each_executor
def chain(fixture: BufferFixture) -> None:
    """A state goes to and fro between two buffers, as in a recurrent model: each step adds the same."""
    model = fixture.prepare()
    state, following = (fixture.allocate(model, inputs=(0,), outputs=(0,)) for _ in range(2))
    fixture.fill(state, (0.0, 0.0))
    step = fixture.pool(fixture.chosen.packed((0.25, -0.5)))
    for number in range(1, 5):
        fixture.succeeds(model, (state, step), (following,), f"step {number}")
        state, following = following, state
        fixture.holds(state, (0.25 * number, -0.5 * number), f"state after step {number}")


@cases.case("execute.scalar", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-032", since=_SINCE)
@by_each_executor
def scalar(fixture: BufferFixture) -> None:
    """A buffer can hold a scalar input: the fused activation, 0 for none and 1 for RELU."""
    model = fixture.prepare_model(addition_with_activation(fixture.chosen))
    made = fixture.allocate(model, inputs=(2,))
    one, other, result = (
        fixture.pool(fixture.chosen.packed(A)),
        fixture.pool(fixture.chosen.packed((0.5, 1.0))),
        fixture.pool(),
    )
    for activation, expected in ((0, (2.0, -1.0)), (1, (2.0, 0.0))):
        copied = fixture.copy_from(made, activation.to_bytes(4, "little"))
        checks.status(copied, {NONE}, "copyFrom of four bytes to a scalar")
        fixture.succeeds(model, (one, other, made), (result,), f"execution with activation {activation} in a buffer")
        fixture.chosen.check(bytes(result.read(0, SIZE)), expected, f"sum with activation {activation}")
    checks.status(fixture.copy_from(made, bytes(8)), {INVALID}, "copyFrom of eight bytes to a scalar")
    with checks.about("NNHAL-MEMDOMAIN-016"):
        checks.status(fixture.copy_to(made, 4), {GENERAL}, "copyTo of a scalar that a failed copyFrom has emptied")
        what = "execution on a scalar that a failed copyFrom has emptied"
        fixture.fails(model, (one, other, made), (result,), GENERAL, what)


@cases.case(
    "execute.emptied_and_filled_again", "NNHAL-MEMDOMAIN-014", "NNHAL-MEMDOMAIN-015", "NNHAL-EXECUTE-014", since=_SINCE
)
@by_each_executor
def emptied_and_filled_again(fixture: BufferFixture) -> None:
    """One burst or reusable execution meets its input without content, and fails, and with a new one, and is right."""
    model, zero, result = fixture.prepare(), fixture.pool(fixture.chosen.packed((0.0, 0.0))), fixture.pool()
    made = fixture.allocate(model, inputs=(1,))
    run = bind(fixture.context, model, request_of((zero, made), (result,)), ExecutionOptions(), fixture.executor)
    checks.status(run().status, {GENERAL}, "execution with a fresh buffer as input")
    for values in (A, B, SUM):
        fixture.fill(made, values)
        with checks.about("NNHAL-MEMDOMAIN-015"):
            checks.status(run().status, {NONE}, "execution with a buffer that was filled again")
            fixture.chosen.check(bytes(result.read(0, SIZE)), values, "sum of the new content and 0")
        checks.status(fixture.copy_from(made, bytes(SIZE // 2)), {INVALID}, "copyFrom of half a buffer")
        checks.status(run().status, {GENERAL}, "execution with an input that has lost its content")
