"""Legal calls on memories and descriptors. Behind each the memory is made, and read or written by an execution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npu_conformance.cts.lib.runtime.fixture import ADDENDS, VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.legal.scene import MakeScene, Scene
from npu_conformance.harness.nnapi.caller_memory import place


def computes_with(app: RuntimeApp, memory: int) -> None:
    """Compute with the first addend in a memory."""
    execution = app.execution()
    app.succeed("execution_set_input_from_memory", execution, 0, None, memory, 0, VECTOR_BYTES)
    app.succeed("execution_set_input", execution, 1, None, place(app.memory, ADDENDS[1]), VECTOR_BYTES)
    app.set_output(execution)
    app.computes(execution)


def allocates(app: RuntimeApp, descriptor: int) -> None:
    """Make memory from a finished descriptor, and fill it, unless the runtime declines."""
    memory = app.memory_if_given(descriptor)
    if memory is None:
        return
    source, _ = app.shared_memory(VECTOR_BYTES, ADDENDS[0])
    app.succeed("memory_copy", source, memory)


def finish(app: RuntimeApp, descriptor: int) -> None:
    """Finish a descriptor, and make memory from it."""
    app.succeed("memory_desc_finish", descriptor)
    allocates(app, descriptor)


def _create_from_fd(app: RuntimeApp) -> Scene:
    pool = app.context.pool(VECTOR_BYTES)
    pool.write(0, ADDENDS[0])
    of_pool = {"size": pool.memory.size, "protect": pool.memory.prot, "fd": pool.memory, "offset": pool.memory.offset}

    def rest(answer: Any) -> None:
        computes_with(app, app.owns("memory_create_from_fd", answer.handle))

    return Scene({**of_pool, "memory": True}, rest)


def _create_from_hardware_buffer(app: RuntimeApp) -> Scene:
    pool = app.context.pool(VECTOR_BYTES, "hardware_buffer_blob")
    pool.write(0, ADDENDS[0])

    def rest(answer: Any) -> None:
        computes_with(app, app.owns("memory_create_from_a_hardware_buffer", answer.handle))

    return Scene({"ahwb": pool.memory, "memory": True}, rest)


def _desc_create(app: RuntimeApp) -> Scene:
    def rest(answer: Any) -> None:
        descriptor = app.owns("memory_desc_create", answer.handle)
        app.succeed("memory_desc_add_input_role", descriptor, app.finished_compilation(), 0, 1.0)
        finish(app, descriptor)

    return Scene({"desc": True}, rest)


def _add_role(app: RuntimeApp) -> Scene:
    descriptor = app.made("memory_desc_create", True)
    role = {"compilation": app.finished_compilation(), "index": 0, "frequency": 1.0}
    return Scene({"desc": descriptor, **role}, lambda answer: finish(app, descriptor))


def _set_dimensions(app: RuntimeApp) -> Scene:
    descriptor = app.descriptor()
    return Scene({"desc": descriptor, "rank": 1, "dimensions": (2,)}, lambda answer: finish(app, descriptor))


def _desc_finish(app: RuntimeApp) -> Scene:
    descriptor = app.descriptor()
    return Scene({"desc": descriptor}, lambda answer: allocates(app, descriptor))


def _create_from_desc(app: RuntimeApp) -> Scene:
    """A runtime may decline the legal call, so that it is made behind the scene."""
    descriptor = app.finished_descriptor()
    arguments = {"desc": descriptor, "memory": True}
    return Scene(arguments, lambda answer: allocates(app, descriptor), is_legal=False)


def _copy(app: RuntimeApp) -> Scene:
    source, _ = app.shared_memory(VECTOR_BYTES, ADDENDS[0])
    target, _ = app.shared_memory(VECTOR_BYTES)
    return Scene({"src": source, "dst": target}, lambda answer: computes_with(app, target))


SCENES: Mapping[str, MakeScene] = {
    "memory_create_from_fd": _create_from_fd,
    "memory_create_from_a_hardware_buffer": _create_from_hardware_buffer,
    "memory_desc_create": _desc_create,
    "memory_desc_add_input_role": _add_role,
    "memory_desc_add_output_role": _add_role,
    "memory_desc_set_dimensions": _set_dimensions,
    "memory_desc_finish": _desc_finish,
    "memory_create_from_desc": _create_from_desc,
    "memory_copy": _copy,
}
