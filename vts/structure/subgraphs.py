"""Rules of referenced subgraphs: M4, O11 and P5 to P8, and that rules of single operands hold inside them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from npu_conformance.harness.run.cases import Case
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    OperandExtraParams,
    Operation,
    Subgraph,
    SymmPerChannelQuantParams,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.structure_cases import cases_of
from npu_conformance.vts.lib.structure_models import (
    BRANCHES,
    INPUT,
    LOOP,
    OMITTED,
    OUTPUT,
    Row,
    beside,
    broken,
    constant,
    graph,
    reference,
    sound,
    tensor,
    vague,
    with_operand,
    with_operations,
    within,
)

_T, _V, _Op = OperandType, Version, OperationType


def cases() -> Iterator[Case]:
    """One case for each model."""
    return cases_of(rows())


def rows() -> Iterator[Row]:
    """Every row of these rules."""
    yield from _references()
    yield from _branches()
    yield from _loops()
    yield from _borders()


def _nested(*inner: tuple[int, int]) -> Model:
    """IF whose branch number n is an IF between two other branches; branch len(inner) is a RELU.

    It chooses between the first and the last IF.
    """
    boolean = tensor(_T.TENSOR_BOOL8, [1], INPUT)

    def chooser(then: int, other: int) -> Subgraph:
        operands = [boolean, reference(then), reference(other), tensor(lifetime=INPUT), tensor(lifetime=OUTPUT)]
        return graph(operands, [Operation(_Op.IF, (0, 1, 2, 0, 3), (4,))])

    operands = [boolean, tensor(lifetime=INPUT), tensor(lifetime=OUTPUT)]
    leaf = graph(operands, [Operation(_Op.RELU, (1,), (2,))])
    return Model(chooser(0, len(inner) - 1), (*(chooser(*pair) for pair in inner), leaf))


def _references() -> Iterator[Row]:
    since, ids, branch = _V.V1_3, ("CONTROLFLOW-002",), BRANCHES.referenced[0]
    yield sound("M4", "shared", _nested((2, 2), (2, 2)), "CONTROLFLOW-003", since=since)
    yield sound("M4", "chain", _nested((1, 2), (2, 2)), "CONTROLFLOW-003", since=since)
    yield broken("M4", "itself", _nested((0, 2), (2, 2)), *ids, since=since)
    yield broken("M4", "itself_at_second", _nested((2, 2), (2, 1)), *ids, since=since)
    yield sound("M4", "two_ways", _nested((1, 2), (3, 4), (3, 4), (4, 4)), "CONTROLFLOW-003", since=since)
    yield broken("M4", "each_other", _nested((1, 2), (0, 2)), *ids, since=since)
    yield broken("M4", "each_other_further_on", _nested((1, 3), (2, 3), (1, 3)), *ids, since=since)
    yield broken("M4", "around_three", _nested((1, 3), (2, 3), (0, 3)), *ids, since=since)
    yield broken("M4", "around_five_by_the_second", _nested((5, 1), (5, 2), (5, 3), (5, 4), (5, 0)), *ids, since=since)
    lonely = replace(BRANCHES, referenced=(*BRANCHES.referenced, branch))
    yield vague("M5", "unreferenced", lonely, "CONTROLFLOW-001", since=since)
    places = {"length": (0, 0, 1), "pool": (1, 0, 0), "behind_the_last": (0, 2, 0), "huge": (0, 2**31, 0)}
    for name, place in places.items():
        model = beside(replace(reference(0), location=DataLocation(*place)), BRANCHES)
        yield broken("O11", name, model, "MODEL-033", since=since)
    yield broken("O11", "negative", beside(reference(-1), BRANCHES), "MODEL-033", since=_V.FL5)
    yield sound("O11", "last", beside(reference(1), BRANCHES), "MODEL-033", since=since)
    for number, what in enumerate(("first", "second")):
        for rule, operand in {"O4": tensor(lifetime=OMITTED, scale=1.0), "G6": tensor()}.items():
            model = _with_branch(number, graph([*branch.operands, operand], branch.operations))
            yield broken(rule, f"in_{what}_branch", model, "CONTROLFLOW-001", since=since)
        other = replace(branch, operations=(Operation(106, (0,), (1,)),))
        yield broken("P1", f"in_{what}_branch", _with_branch(number, other), "CONTROLFLOW-001", since=since)
        other = replace(branch, input_indexes=(1,))
        yield broken("G1", f"in_{what}_branch", _with_branch(number, other), "CONTROLFLOW-001", since=since)


def _with_branch(number: int, branch: Subgraph) -> Model:
    """IF with one branch replaced."""
    graphs = list(BRANCHES.referenced)
    graphs[number] = branch
    return replace(BRANCHES, referenced=tuple(graphs))


def _wired(model: Model, *inputs: int) -> Model:
    """Other inputs for the one operation of the main graph."""
    (operation,) = model.main.operations
    return with_operations(model, replace(operation, inputs=inputs))


def _branches() -> Iterator[Row]:
    since, shape, fit = _V.V1_3, "CONTROLFLOW-004", "CONTROLFLOW-005"
    yield sound("P5", "if", BRANCHES, shape, fit, since=since)
    yield sound("P5", "same_branch_twice", _wired(BRANCHES, 0, 1, 1, 3), "CONTROLFLOW-003", since=since)
    wrong = {
        "condition_type": with_operand(BRANCHES, 0, type=_T.TENSOR_INT32),
        "condition_of_two": with_operand(BRANCHES, 0, dimensions=(2,)),
        "condition_of_rank_2": with_operand(BRANCHES, 0, dimensions=(1, 1)),
        "condition_of_unknown_size": with_operand(BRANCHES, 0, dimensions=(0,)),
        "condition_of_unknown_rank": with_operand(BRANCHES, 0, dimensions=()),
        "then_is_a_tensor": _wired(BRANCHES, 0, 3, 2, 3),
        "else_is_a_tensor": _wired(BRANCHES, 0, 1, 3, 3),
        "no_inputs": _wired(BRANCHES),
        "two_inputs": _wired(BRANCHES, 0, 1),
    }
    for name, model in wrong.items():
        yield broken("P5", name, model, shape, since=since)
    small = with_operations(BRANCHES, Operation(_Op.IF, (0, 1, 2, 3), ()))
    yield broken("P5", "no_outputs", with_operand(small, 4, lifetime=INPUT), shape, since=since)
    more = beside(tensor(lifetime=OUTPUT), BRANCHES)
    more = with_operations(more, Operation(_Op.IF, (0, 1, 2, 3), (4, 5)))
    yield broken("P5", "output_added", more, fit, since=since)
    yield broken("P5", "input_added", _wired(BRANCHES, 0, 1, 2, 3, 3), fit, since=since)
    yield broken("P5", "input_removed", _wired(BRANCHES, 0, 1, 2), fit, since=since)
    first, second = BRANCHES.referenced
    longer = graph([*first.operands, tensor(lifetime=INPUT)], first.operations)
    yield broken("P5", "then_takes_more", replace(BRANCHES, referenced=(longer, second)), fit, since=since)
    yield broken("P5", "else_takes_more", replace(BRANCHES, referenced=(first, longer)), fit, since=since)
    giver = _two_outputs(first)
    yield broken("P5", "then_gives_more", replace(BRANCHES, referenced=(giver, second)), fit, since=since)
    yield broken("P5", "else_gives_more", replace(BRANCHES, referenced=(first, giver)), fit, since=since)
    both = replace(more, referenced=(giver, giver))
    yield sound("P5", "two_outputs", both, fit, since=since)
    none = graph([constant(_T.TENSOR_FLOAT32, [2], 0, 8), tensor(lifetime=OUTPUT)], first.operations)
    model = replace(BRANCHES, referenced=(first, none), operand_values=bytes(8))
    yield broken("P5", "else_takes_nothing", model, fit, since=since)


def _two_outputs(branch: Subgraph) -> Subgraph:
    operands = [*branch.operands, tensor(lifetime=OUTPUT)]
    return graph(operands, [*branch.operations, Operation(_Op.RELU, (0,), (2,))])


def _loops() -> Iterator[Row]:
    since, shape = _V.V1_3, "CONTROLFLOW-006"
    condition, body = LOOP.referenced
    yield sound("P6", "while", LOOP, shape, since=since)
    wrong = {
        "condition_is_a_tensor": _wired(LOOP, 2, 1, 2, 3),
        "body_is_a_tensor": _wired(LOOP, 0, 2, 2, 3),
        "nothing_carried": _wired(LOOP, 0, 1),
        "one_input": _wired(LOOP, 0),
        "no_inputs": _wired(LOOP),
        "input_removed": _wired(LOOP, 0, 1, 2),
        "input_added": _wired(LOOP, 0, 1, 2, 3, 3),
    }
    for name, model in wrong.items():
        yield broken("P6", name, model, shape, since=since)
    none = with_operand(with_operations(LOOP, Operation(_Op.WHILE, (0, 1, 2, 3), ())), 4, lifetime=INPUT)
    yield broken("P6", "no_outputs", none, shape, since=since)
    verdicts = {
        "of_two": within(LOOP, 0, 2, dimensions=(2,)),
        "of_unknown_size": within(LOOP, 0, 2, dimensions=(0,)),
        "of_unknown_rank": within(LOOP, 0, 2, dimensions=()),
        "twice": replace(LOOP, referenced=(_two_verdicts(condition), body)),
        "type": replace(LOOP, referenced=(body, body)),
    }
    for name, model in verdicts.items():
        yield broken("P6", f"verdict_{name}", model, "CONTROLFLOW-007", since=since)
    for name, graphs in {"condition": (_longer(condition), body), "body": (condition, _longer(body))}.items():
        model = replace(LOOP, referenced=graphs)
        yield broken("P6", f"{name}_takes_more", model, shape, since=since)
    two = with_operations(
        beside(tensor(dimensions=[1], lifetime=OUTPUT), LOOP), Operation(_Op.WHILE, (0, 1, 2, 3), (4, 5))
    )
    results = "CONTROLFLOW-008"
    yield broken("P6", "body_gives_less", two, results, since=since)
    pair, triple = _results(body, 1), _results(body, 2)
    yield sound("P6", "two_outputs", replace(two, referenced=(condition, pair)), results, since=since)
    yield sound("P6", "state", replace(LOOP, referenced=(condition, pair)), results, since=since)
    yield broken("P6", "body_gives_more", replace(LOOP, referenced=(condition, triple)), results, since=since)


def _longer(subgraph: Subgraph) -> Subgraph:
    return graph([*subgraph.operands, tensor(dimensions=[1], lifetime=INPUT)], subgraph.operations)


def _two_verdicts(condition: Subgraph) -> Subgraph:
    operands = [*condition.operands, tensor(_T.TENSOR_BOOL8, [1], OUTPUT)]
    return graph(operands, [*condition.operations, Operation(_Op.LESS, (1, 0), (3,))])


def _results(body: Subgraph, more: int) -> Subgraph:
    """The body with more results, each twice the second input."""
    operands, operations = list(body.operands), list(body.operations)
    for _ in range(more):
        operations.append(Operation(_Op.ADD, (1, 1, 2), (len(operands),)))
        operands.append(tensor(dimensions=[1], lifetime=OUTPUT))
    return graph(operands, operations)


def _quantised() -> Model:
    """The IF in quantised values."""
    fields = {"type": _T.TENSOR_QUANT8_ASYMM, "scale": 0.5}
    model = with_operand(with_operand(BRANCHES, 3, **fields), 4, **fields)
    for number, index in ((0, 0), (0, 1), (1, 0), (1, 1)):
        model = within(model, number, index, **fields)
    return model


def _per_channel(inner: float) -> Model:
    """An IF that also takes a per-channel operand, whose second scale in the else branch is given."""
    kind = _T.TENSOR_QUANT8_SYMM_PER_CHANNEL

    def extra(last: float) -> OperandExtraParams:
        return OperandExtraParams(SymmPerChannelQuantParams((0.5, last), 0))

    outer = beside(tensor(kind, lifetime=INPUT, extra_params=extra(0.25)), BRANCHES)
    graphs = tuple(
        graph([*branch.operands, tensor(kind, lifetime=INPUT, extra_params=extra(last))], branch.operations)
        for branch, last in zip(BRANCHES.referenced, (0.25, inner), strict=True)
    )
    return replace(_wired(outer, 0, 1, 2, 3, 5), referenced=graphs)


def _with_scalar() -> Model:
    """The loop with a scalar that every round is given and none uses."""
    scalar = tensor(_T.INT32, (), INPUT)
    graphs = tuple(graph([*one.operands, scalar], one.operations) for one in LOOP.referenced)
    return replace(_wired(beside(scalar, LOOP), 0, 1, 2, 3, 5), referenced=graphs)


def _borders() -> Iterator[Row]:
    since, equal, size = _V.V1_3, "CONTROLFLOW-009", "CONTROLFLOW-010"
    wrong = {
        "size_in_then": within(BRANCHES, 0, 0, dimensions=(3,)),
        "rank_in_else": within(BRANCHES, 1, 0, dimensions=(2, 1)),
        "size_of_result_in_else": within(BRANCHES, 1, 1, dimensions=(3,)),
        "size_of_result_in_then": within(BRANCHES, 0, 1, dimensions=(3,)),
        "type": with_operand(_quantised(), 3, type=_T.TENSOR_FLOAT32, scale=0.0),
        "scale": within(_quantised(), 1, 0, scale=0.25),
        "zero_point": within(_quantised(), 0, 0, zero_point=1),
        "channel_scales": _per_channel(0.125),
        "size_in_loop": within(LOOP, 0, 0, dimensions=(3,)),
        "size_in_body": within(LOOP, 1, 1, dimensions=(3,)),
        "size_after_a_round": within(LOOP, 1, 3, dimensions=(3,)),
        "size_of_loop_result": with_operand(LOOP, 4, dimensions=(3,)),
    }
    for name, model in wrong.items():
        yield broken("P7", name, model, equal, since=since)
    legal = {
        "quantised": _quantised(),
        "per_channel": _per_channel(0.25),
        "unknown_rank_inside": within(BRANCHES, 0, 0, dimensions=()),
        "unknown_size_inside": within(BRANCHES, 1, 0, dimensions=(0,)),
        "unknown_size_outside": with_operand(BRANCHES, 3, dimensions=(0,)),
        "unknown_rank_outside": with_operand(BRANCHES, 4, dimensions=()),
    }
    for name, model in legal.items():
        yield sound("P7", name, model, equal, since=since)
    yield sound("P8", "scalar", _with_scalar(), size, since=since)
    for dimensions, what in (((0,), "size"), ((), "rank")):
        places = {
            "carried": with_operand(LOOP, 2, dimensions=dimensions),
            "result": with_operand(LOOP, 4, dimensions=dimensions),
            "in_condition": within(LOOP, 0, 1, dimensions=dimensions),
            "in_body": within(LOOP, 1, 0, dimensions=dimensions),
            "of_body": within(LOOP, 1, 3, dimensions=dimensions),
        }
        for name, model in places.items():
            yield broken("P8", f"unknown_{what}_{name}", model, size, since=since)
