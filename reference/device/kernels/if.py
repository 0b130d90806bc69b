"""IF."""

from collections.abc import Callable, Sequence

from npu_conformance.reference.device.tensors import Array, Routine


def if_(graphs: tuple[Routine, Routine], values: Sequence[Array], next_round: Callable[[], None]) -> list[Array]:
    """outputs = then(inputs) where the condition is true, otherwise else(inputs)."""
    (then, otherwise), (condition, *inputs) = graphs, values
    return then(inputs) if condition.item() else otherwise(inputs)
