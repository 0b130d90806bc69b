"""WHILE."""

from collections.abc import Callable, Sequence

from npu_conformance.reference.device.tensors import Array, Routine


def while_(graphs: tuple[Routine, Routine], values: Sequence[Array], next_round: Callable[[], None]) -> list[Array]:
    """As long as condition(values): values = body(values), of which the last ones may not have another value."""
    (condition, body), values = graphs, list(values)
    while condition(values)[0].item():
        next_round()
        changed = body(values)
        values[: len(changed)] = changed
    return values
