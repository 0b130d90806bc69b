"""Models with IF and WHILE over matrices of float32."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.corpus.vector_types import Graph, VectorOperand, VectorOperation
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.cts.lib.runtime.nets import MATRIX, Net, NetBuilder, net_of
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.versions import NEWEST

CONDITION = VectorOperand(OperandType.TENSOR_BOOL8, (1,))
COUNT = VectorOperand(OperandType.TENSOR_INT32, (1,))
_COUNTED = (COUNT, MATRIX, COUNT, MATRIX)
_CROSSING = (COUNT, MATRIX, MATRIX, COUNT)


def branch(*operations: str) -> Graph:
    """A graph of two matrices: a chain of operations, each on the one before and the second matrix."""
    builder = NetBuilder()
    last, second = builder.input(), builder.input()
    for operation in operations:
        last = builder.binary(operation, last, second)
    return builder.graph(last)


def if_net(then: tuple[str, ...], otherwise: tuple[str, ...], *, before: tuple[str, ...] = ()) -> Net:
    """IF of a condition that is a model input. before: operations that make the first matrix of the branches."""
    builder = NetBuilder((branch(*then), branch(*otherwise)))
    condition, first, second = builder.input(CONDITION), builder.input(), builder.input()
    for operation in before:
        first = builder.binary(operation, first, second)
    return builder.net(_apply_if(builder, condition, first, second))


def if_of_unknown_size(then: tuple[str, ...], otherwise: tuple[str, ...]) -> Net:
    """IF of which the first branch says nothing of the rows of what its operations hand on."""
    first = branch(*then)
    opened = {
        name: replace(operand, dimensions=(0, *operand.dimensions[1:]))
        if operand.type == MATRIX.type and name not in (*first.inputs, *first.outputs)
        else operand
        for name, operand in first.operands.items()
    }
    builder = NetBuilder((replace(first, operands=opened), branch(*otherwise)))
    return builder.net(_apply_if(builder, *(builder.input(kind) for kind in (CONDITION, MATRIX, MATRIX))))


def if_of_open_output(then: tuple[str, ...], otherwise: tuple[str, ...]) -> Net:
    """IF whose branches say the rows of what they give, of which the model itself says nothing."""
    vector = if_net(then, otherwise).vector
    (output,) = vector.outputs
    opened = replace(vector.operands[output], dimensions=(0, *MATRIX.dimensions[1:]))
    return net_of(replace(vector, operands={**vector.operands, output: opened}))


def if_of_constant_condition(*, condition: bool) -> Net:
    """IF of a constant condition and of a constant matrix: ADD where it is true, else MUL and SUB."""
    builder = NetBuilder((branch("ADD"), branch("MUL", "SUB")))
    decided = builder.constant(CONDITION, int(condition))
    return builder.net(_apply_if(builder, decided, builder.input(), builder.constant()))


def if_of_computed_condition(then: tuple[str, ...], otherwise: tuple[str, ...]) -> Net:
    """IF of whether one number is less than another, which is the case."""
    builder = NetBuilder((branch(*then), branch(*otherwise)))
    low, high = builder.input(COUNT), builder.constant(COUNT, 5)
    condition = builder.apply("LESS", low, high, result=CONDITION)
    return builder.net(_apply_if(builder, condition, builder.input(), builder.input()))


def while_of_constants(rounds: int) -> Net:
    """WHILE of so many rounds, all inputs of which but the first matrix are constants."""
    builder = NetBuilder((_condition(*_COUNTED), _body("SUB")))
    count, bound = builder.constant(COUNT, 0), builder.constant(COUNT, rounds)
    graphs = builder.builder.reference(0), builder.builder.reference(1)
    inputs = count, builder.input(), bound, builder.constant()
    results = builder.builder.apply("WHILE", (*graphs, *inputs), [COUNT, MATRIX])
    return builder.net(results[1])


def if_of_constants(create_pool: Callable[[bytes], Memory]) -> Net:
    """IF behind an operation with a constant; constants are dealt to three pools, of each graph in another order."""
    builder = NetBuilder([_scaled(3, 2), _scaled(5)])
    condition, first, second = builder.input(CONDITION), builder.input(), builder.input()
    first = builder.binary("SUB", first, builder.constant())
    vector = builder.net(_apply_if(builder, condition, first, second)).vector
    return Net(vector, build_model(vector, NEWEST, create_pool=create_pool, constants="three_pools").model)


def _scaled(*firsts: int) -> Graph:
    """A graph of two matrices: the first by constants that begin with these numbers, and the second added."""
    builder = NetBuilder()
    result, second = builder.input(), builder.input()
    for first in firsts:
        result = builder.binary("MUL", result, builder.constant(first=first))
    return builder.graph(builder.binary("ADD", result, second))


def two_ifs(*graphs: tuple[str, ...]) -> Net:
    """Two IFs, one on the result of the other: graphs 0 and 1 are the branches of the first, 2 and 3 of the second."""
    builder = NetBuilder([branch(*operations) for operations in graphs])
    condition, last, second = builder.input(CONDITION), builder.input(), builder.input()
    for then in (0, 2):
        last = _apply_if(builder, condition, last, second, then=then)
    return builder.net(last)


def ifs_of_the_same_graphs() -> Net:
    """Three IFs, each on the result of the one before, whose branches are the same two graphs in either order.

    Their result is multiplied, which is behind all of them.
    """
    builder = NetBuilder([branch("ADD"), branch("SUB", "ADD", "ADD", "ADD")])
    condition, last, second = builder.input(CONDITION), builder.input(), builder.input()
    for then in (0, 1, 0):
        last = _apply_if(builder, condition, last, second, then=then, otherwise=1 - then)
    return builder.net(builder.binary("MUL", last, second))


def _apply_if(
    builder: NetBuilder, condition: str, first: str, second: str, *, then: int = 0, otherwise: int | None = None
) -> str:
    """IF of two matrices. then, otherwise: numbers of its two graphs; the other one is the next where it is None."""
    other = then + 1 if otherwise is None else otherwise
    graphs = builder.builder.reference(then), builder.builder.reference(other)
    (result,) = builder.builder.apply("IF", (condition, *graphs, first, second), [MATRIX])
    return result


def ifs_side_by_side(*branches: tuple[Graph, Graph]) -> Net:
    """IFs of the same condition and the same two matrices, each with branches of its own."""
    builder = NetBuilder([graph for pair in branches for graph in pair])
    operands = builder.input(CONDITION), builder.input(), builder.input()
    return builder.net(*(_apply_if(builder, *operands, then=2 * number) for number in range(len(branches))))


def while_net(body: tuple[str, ...] = ("ADD",), *, before: tuple[str, ...] = ()) -> Net:
    """WHILE of a counter below a bound: both are model inputs, and so are two matrices. Output: the first matrix.

    before: operations that make the first matrix.
    """
    builder = NetBuilder((_condition(*_COUNTED), _body(*body)))
    count, first, bound, second = (builder.input(kind) for kind in _COUNTED)
    for operation in before:
        first = builder.binary(operation, first, second)
    graphs = builder.builder.reference(0), builder.builder.reference(1)
    results = builder.builder.apply("WHILE", (*graphs, count, first, bound, second), [COUNT, MATRIX])
    return builder.net(results[1])


def crossing_while_net() -> Net:
    """WHILE whose body makes the sum and the difference of two matrices. Inputs: a counter, both, the bound."""
    body = NetBuilder()
    count, first, second, _ = (body.input(kind) for kind in _CROSSING)
    counted = body.binary("ADD", count, body.ints(1))
    graph = body.graph(counted, body.binary("ADD", first, second), body.binary("SUB", first, second))
    builder = NetBuilder((_condition(*_CROSSING), graph))
    inputs = [builder.input(kind) for kind in _CROSSING]
    graphs = builder.builder.reference(0), builder.builder.reference(1)
    results = builder.builder.apply("WHILE", (*graphs, *inputs), [COUNT, MATRIX, MATRIX])
    return builder.net(*results[1:])


def while_of_hidden_matrix() -> Net:
    """The same WHILE, which does not give the difference: only its rounds see it."""
    vector = crossing_while_net().vector
    (loop,) = vector.operations
    *kept, hidden = loop.outputs
    operands = {name: operand for name, operand in vector.operands.items() if name != hidden}
    shorter = replace(loop, outputs=tuple(kept))
    return net_of(replace(vector, operands=operands, operations=(shorter,), outputs=(kept[-1],)))


def while_of_hidden_counter() -> Net:
    """WHILE whose rounds hand on a matrix and a counter, and which gives the matrix. Inputs: both, and two more."""
    kinds = MATRIX, COUNT, COUNT, MATRIX
    body = NetBuilder()
    first, count, _, second = (body.input(kind) for kind in kinds)
    graph = body.graph(body.binary("SUB", first, second), body.binary("ADD", count, body.ints(1)))
    builder = NetBuilder((_condition(*kinds), graph))
    graphs = builder.builder.reference(0), builder.builder.reference(1)
    arguments = [builder.input(kind) for kind in kinds]
    return builder.net(*builder.builder.apply("WHILE", (*graphs, *arguments), [MATRIX]))


def two_loops(*between: str) -> Net:
    """WHILE, operations of what it gives and the second matrix, and another WHILE.

    Inputs as those of `while_net`, and the bound of the second loop.
    """
    builder = NetBuilder((_condition(*_COUNTED), _body("ADD")))
    count, last, bound, second, later_bound = (builder.input(kind) for kind in (*_COUNTED, COUNT))
    graphs = builder.builder.reference(0), builder.builder.reference(1)
    last = builder.builder.apply("WHILE", (*graphs, count, last, bound, second), [COUNT, MATRIX])[1]
    for operation in between:
        last = builder.binary(operation, last, second)
    return builder.net(builder.builder.apply("WHILE", (*graphs, count, last, later_bound, second), [COUNT, MATRIX])[1])


def opened_inside(net: Net, graph: int, side: str) -> Net:
    """The net with the rows of all matrices open that one of its inner graphs takes or gives. side: inputs, outputs."""
    vector = net.vector
    inner = vector.referenced[graph]
    names = inner.inputs if side == "inputs" else inner.outputs
    opened = {
        name: replace(inner.operands[name], dimensions=(0, *MATRIX.dimensions[1:]))
        for name in names
        if inner.operands[name].type == MATRIX.type
    }
    referenced = list(vector.referenced)
    referenced[graph] = replace(inner, operands={**inner.operands, **opened})
    return net_of(replace(vector, referenced=tuple(referenced)))


def flow_in_branch(inner: Net) -> Net:
    """IF whose first branch is the main graph of a net of IF or WHILE, and gives the sum of its inputs else.

    Inputs: the condition, and then those of the inner net, of which the last two matrices are added.
    """
    vector = inner.vector
    kinds = [vector.operands[name] for name in vector.inputs]
    other = NetBuilder()
    given = [other.input(kind) for kind in kinds]
    *_, first, second = (name for name, kind in zip(given, kinds, strict=True) if kind.type == MATRIX.type)
    graphs = [*vector.referenced, vector.main, other.graph(other.binary("ADD", first, second))]
    builder = NetBuilder(graphs)
    condition = builder.input(CONDITION)
    arguments = [builder.input(kind) for kind in kinds]
    branches = builder.builder.reference(len(graphs) - 2), builder.builder.reference(len(graphs) - 1)
    return builder.net(*builder.builder.apply("IF", (condition, *branches, *arguments), [MATRIX]))


def negated_beside(net: Net, name: str) -> Net:
    """The net with one more output, in front: LOGICAL_NOT of an operand that is there."""
    return _beside(net, VectorOperation("LOGICAL_NOT", (name,), ("beside",)))


def doubled_beside(net: Net, name: str) -> Net:
    """The net with one more output, in front: an operand that is there, added to itself."""
    return _beside(net, VectorOperation("ADD", (name, name, "none"), ("beside",)))


def _beside(net: Net, operation: VectorOperation) -> Net:
    import numpy

    vector = net.vector
    kind = vector.operands[operation.inputs[0]]
    none = VectorOperand(OperandType.INT32, value=numpy.array(0, numpy.int32))
    added = {"beside": kind, **({"none": none} if "none" in operation.inputs else {})}
    operands, operations = {**vector.operands, **added}, (*vector.operations, operation)
    return net_of(replace(vector, operands=operands, operations=operations, outputs=("beside", *vector.outputs)))


def while_around_if(inner: Net) -> Net:
    """WHILE of two rounds at most, whose body is the main graph of a net of IF of two matrices.

    Inputs: the counter, the condition of the IF, both matrices; each round gives the first one anew.
    """
    kinds = COUNT, CONDITION, MATRIX, MATRIX
    vector = inner.vector
    less = NetBuilder()
    count, *_ = (less.input(kind) for kind in kinds)
    graphs = [*vector.referenced, less.graph(less.apply("LESS", count, less.ints(2), result=CONDITION))]
    body = NetBuilder(vector.referenced)
    count, condition, first, second = (body.input(kind) for kind in kinds)
    negated = body.apply("LOGICAL_NOT", condition, result=CONDITION)
    branches = body.builder.reference(0), body.builder.reference(1)
    (result,) = body.builder.apply("IF", (condition, *branches, first, second), [MATRIX])
    graphs.append(body.graph(body.binary("ADD", count, body.ints(1)), negated, result))
    builder = NetBuilder(graphs)
    references = builder.builder.reference(len(graphs) - 2), builder.builder.reference(len(graphs) - 1)
    arguments = [builder.input(kind) for kind in kinds]
    results = builder.builder.apply("WHILE", (*references, *arguments), [COUNT, CONDITION, MATRIX])
    return builder.net(results[-1])


def ifs_of_the_same_numbers() -> Net:
    """IF in IF in the main graph, each with a sum in front, which is multiplied with its result behind it.

    The operands of the main graph and of the branch have the same numbers: who tells them apart by these mixes them.
    Inputs: the condition of both, and two matrices.
    """
    graphs = [_behind_condition("MUL"), _behind_condition("SUB")]
    inside = NetBuilder(graphs)
    graphs += [inside.graph(_around_if(inside, 0)), _behind_condition("ADD")]
    builder = NetBuilder(graphs)
    return builder.net(_around_if(builder, 2))


def _behind_condition(operation: str) -> Graph:
    """A graph of a condition, which it does not read, and two matrices."""
    builder = NetBuilder()
    _, first, second = (builder.input(kind) for kind in (CONDITION, MATRIX, MATRIX))
    return builder.graph(builder.binary(operation, first, second))


def _around_if(builder: NetBuilder, then: int) -> str:
    """The sum of two matrices, IF of it and the second one, and the product of both. then: see `_apply_if`."""
    condition, first, second = (builder.input(kind) for kind in (CONDITION, MATRIX, MATRIX))
    total = builder.binary("ADD", first, second)
    graphs = builder.builder.reference(then), builder.builder.reference(then + 1)
    (result,) = builder.builder.apply("IF", (condition, *graphs, condition, total, second), [MATRIX])
    return builder.binary("MUL", result, total)


def nested_while_net() -> Net:
    """WHILE in WHILE, each of a counter and a matrix. Inputs: the outer counter, the matrix, the bound, a second one.

    The inner loop runs twice in each outer round; what it gives is added to the matrix that the outer one had before.
    """
    body = NetBuilder((_condition(*_COUNTED), _body("SUB")))
    count, first, _, second = (body.input(kind) for kind in _COUNTED)
    zero, two = body.constant(COUNT, 0), body.constant(COUNT, 2)
    graphs = body.builder.reference(0), body.builder.reference(1)
    _, inner = body.builder.apply("WHILE", (*graphs, zero, first, two, second), [COUNT, MATRIX])
    counted = body.binary("ADD", count, body.ints(1))
    graph = body.graph(counted, body.binary("ADD", inner, first))
    builder = NetBuilder((_condition(*_COUNTED), _body("SUB"), graph))
    inputs = [builder.input(kind) for kind in _COUNTED]
    outer = builder.builder.reference(0), builder.builder.reference(2)
    return builder.net(builder.builder.apply("WHILE", (*outer, *inputs), [COUNT, MATRIX])[1])


def _condition(*kinds: VectorOperand) -> Graph:
    """The counter, which comes first, is less than the bound, the other one of its kind."""
    builder = NetBuilder()
    names = [builder.input(kind) for kind in kinds]
    count, bound = (name for name, kind in zip(names, kinds, strict=True) if kind is COUNT)
    return builder.graph(builder.apply("LESS", count, bound, result=VectorOperand(OperandType.TENSOR_BOOL8)))


def _body(*operations: str) -> Graph:
    builder = NetBuilder()
    count, first, _, second = (builder.input(kind) for kind in _COUNTED)
    counted = builder.binary("ADD", count, builder.ints(1))
    for operation in operations:
        first = builder.binary(operation, first, second)
    return builder.graph(counted, first)
