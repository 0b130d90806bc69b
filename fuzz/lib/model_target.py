"""The target whose inputs are models: each is handed to the device, whose answers are judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from npu_conformance.fuzz.lib import model_mutator
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.inputs import UNREADABLE, indented
from npu_conformance.fuzz.lib.model_judge import judge
from npu_conformance.fuzz.lib.model_pieces import pieces
from npu_conformance.fuzz.lib.sendable import is_sendable
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.neuralnetworks.types import Memory, Model, Subgraph
from npu_conformance.specs.versions import Version

_DECODER = msgspec.json.Decoder(Model)
_POOL_SIZE = 4096


class ModelTarget:
    """Inputs are models as JSON. See Target."""

    name = "models"

    def __init__(self, subject: SubjectHandle, *, one_each: bool = False) -> None:
        """one_each: start from one model for each operation only, which takes less time to load."""
        self._subject = subject
        self.seeds: Sequence[bytes] = model_mutator.seeds(subject.version, one_each=one_each)

    def mutate(self, data: bytes, choices: Choices, max_size: int) -> bytes:
        """Change fields, drop and copy elements, join two models."""
        return model_mutator.mutate(data, choices, self.seeds, max_size)

    def run(self, data: bytes) -> tuple[str, ...]:
        """Judge the device's answers to the model; what is no model at all could not be sent to a device."""
        try:
            model = _as_of(_DECODER.decode(data), self._subject.version)
        except UNREADABLE:
            return ()
        if not is_sendable(model, self._subject.version):
            return ("not sendable",)
        if not model.pools:
            return judge(self._subject, model)
        pool = self._subject.memory.create("ashmem", _POOL_SIZE)
        try:
            pools = tuple(_in(pool.memory, wanted) for wanted in model.pools)
            return judge(self._subject, replace(model, pools=pools))
        finally:
            pool.close()

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """See model_pieces."""
        return pieces(data)

    def readable(self, data: bytes) -> bytes:
        """The JSON, indented."""
        return indented(data)

    def forget(self) -> None:
        """Each input prepares its own model."""


def _as_of(model: Model, version: Version) -> Model:
    """The model without the fields that a device of the version cannot be sent."""
    if version >= Version.V1_3:
        return model
    return replace(
        model,
        main=_graph_as_of(model.main, version),
        referenced=(),
        relax_computation_float32_to_float16=model.relax_computation_float32_to_float16 and version >= Version.V1_1,
        extension_name_to_prefix=model.extension_name_to_prefix if version >= Version.V1_2 else (),
    )


def _graph_as_of(graph: Subgraph, version: Version) -> Subgraph:
    if version >= Version.V1_2:
        return graph
    return replace(graph, operands=tuple(replace(operand, extra_params=None) for operand in graph.operands))


def _in(pool: Memory, wanted: Memory) -> Memory:
    """The wanted memory over a pool that exists, where it names any memory and fits; else as it is."""
    fits = wanted.token != 0 and 0 <= wanted.offset <= wanted.offset + wanted.size <= pool.size
    return replace(wanted, token=pool.token) if fits else wanted
