"""Selects the modules to mutate, traces which lines cases reach, and installs mutants."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

from npu_conformance.faults import code_swap
from npu_conformance.faults.code_swap import Swap
from npu_conformance.faults.mutants.operators import Mutant

_ROOT = Path(__file__).parent.parent.parent
_DRIVER = {"executor", "shortage"}
"""The modules of the device that belong to the driver: they run kernels, and are no part of one."""

_NEITHER = {"registry", "tensors"}
"""The modules of the device that are bookkeeping of both."""

_FREE = {"compute_unit", "device_work"}
"""Modules that the HAL, which prescribes no order of service, hardly binds; they have tests of their own."""

_NPU = (
    "reference/hal/scheduling*.py",
    "reference/device/scheduler.py",
    "reference/manager/*.py",
    "reference/npu_buffers/*.py",
)
"""The files of the npu scheduling HAL, and of the NPU Manager with its buffers."""

_WITH_TESTS_OF_THEIR_OWN = {"sorted_keys", "real_delivery", "heaps", "worker", "snapshot"}
"""Those of them that are left out: a collection, which a test compares with a plain list; delivery in real time, which
no virtual clock reaches; which buffers go where memory runs short, and how long an allocation takes, which nothing
published binds; and what only people look at."""

_KERNELS, _RULES = "reference.device.kernels", "specs.neuralnetworks.rules"

_RUNTIME = "reference.runtime"
_NOT_OF_RUNTIME = f"{_RUNTIME}.scripted."
"""Drivers that a script makes misbehave: a tool of the cases, which no case judges."""

DRIVER, NPU, RUNTIME = "driver", "npu", "runtime"
PARTS = ("kernels", "rules", "shared kernels", "shared rules", "validator", DRIVER, NPU, RUNTIME)
"""The parts of the reference. driver: the HAL's objects, and what runs a model on the device. npu: the npu scheduling
HAL and the NPU Manager; runtime: the NNAPI runtime. These have witnesses of their own and are mutated by themselves."""

Lines = set[tuple[str, int]]
"""A module and a line of it."""


def modules(operation: str = "", part_name: str = "") -> list[str]:
    """The names below npu_conformance of modules to mutate: an operation's own, one of the parts, or all but NPU
    and RUNTIME.
    """
    if operation:
        pattern = f"{operation.lower()}.py"
        return [_name(file) for folder in (_KERNELS, _RULES) for file in sorted(_folder(folder).glob(pattern))]
    folders = (_KERNELS, _RULES, "reference.device", f"{_RULES}.common", "reference.hal")
    files = [file for folder in folders for file in sorted(_folder(folder).glob("*.py"))]
    files += sorted(_folder("specs.neuralnetworks").glob("validate*.py"))
    npu = _npu()
    names = [_name(file) for file in files if file.stem not in {"__init__", *_NEITHER, *_FREE}]
    if part_name == NPU:
        return npu
    if part_name == RUNTIME:
        return _runtime()
    return [name for name in names if name not in npu and part_name in ("", part(name))]


def _npu() -> list[str]:
    files = [file for pattern in _NPU for file in sorted(_ROOT.glob(pattern))]
    return [_name(file) for file in files if file.stem not in {"__init__", *_WITH_TESTS_OF_THEIR_OWN}]


def _runtime() -> list[str]:
    names = [_name(file) for file in sorted(_folder(_RUNTIME).rglob("*.py")) if file.stem != "__init__"]
    return [name for name in names if not name.startswith(_NOT_OF_RUNTIME)]


def _folder(name: str) -> Path:
    return _ROOT.joinpath(*name.split("."))


def _name(file: Path) -> str:
    return ".".join(file.relative_to(_ROOT).with_suffix("").parts)


def operation(name: str) -> str:
    """The operation whose own module it is; empty for a module that several share."""
    folder, _, stem = name.rpartition(".")
    return stem.upper() if folder in (_KERNELS, _RULES) and stem != "clause" else ""


def part(name: str) -> str:
    """The part of the reference to which a module belongs."""
    folder, _, stem = name.rpartition(".")
    if name in _npu():
        return NPU
    if name.startswith(f"{_RUNTIME}."):
        return RUNTIME
    if operation(name):
        return "kernels" if folder == _KERNELS else "rules"
    if folder == "reference.hal" or (folder == "reference.device" and stem in _DRIVER):
        return DRIVER
    if folder == "specs.neuralnetworks":
        return "validator"
    return "shared kernels" if folder.startswith("reference") else "shared rules"


def load(name: str) -> ModuleType:
    """Import a module by its name below npu_conformance."""
    return importlib.import_module(f"npu_conformance.{name}")


class Tracer:
    """Notes which lines of the modules are executed between `start` and `stop`, by threads that begin then as well."""

    def __init__(self, names: list[str]) -> None:
        self._modules = {code_swap.file_of(load(name)): name for name in names}
        self._seen: dict[str, set[int]] = {}

    def start(self) -> None:
        """Start with an empty set."""
        self._seen = {file: set() for file in self._modules}
        threading.settrace(self._enter)
        sys.settrace(self._enter)

    def stop(self) -> Lines:
        """End, and return the lines."""
        sys.settrace(None)
        threading.settrace(None)
        return {(self._modules[file], line) for file, lines in self._seen.items() for line in lines}

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        seen = self._seen.get(frame.f_code.co_filename)
        if seen is None:
            return None
        note = seen.add

        def step(inner: FrameType, kind: str, _: Any) -> Any:
            note(inner.f_lineno)
            return step

        return step

    def at_import(self) -> Lines:
        """The lines in functions that run when a module is imported: no swap can change their effects."""
        found: Lines = set()
        for file, name in self._modules.items():
            code = compile(code_swap.source_of(load(name)), file, "exec", dont_inherit=True)
            self.start()
            try:
                exec(code, {"__name__": f"npu_conformance.{name}", "__file__": file})
            finally:
                found |= self.stop()
        return found


def install(mutant: Mutant) -> None:
    """Let the mutant take the place of the original in every living function. Raises SwapError."""
    module = load(mutant.module)
    file = code_swap.file_of(module)
    original = compile(code_swap.source_of(module), file, "exec", dont_inherit=True)
    edited = compile(mutant.tree(), file, "exec", dont_inherit=True)
    living = code_swap.live_functions(file)
    swaps: list[Swap] = []
    for before, after in _pairs(original, edited):
        if before != after:
            swaps += [(target, after) for target in living.get((before.co_qualname, before.co_firstlineno), ())]
    if not swaps:
        raise code_swap.SwapError(f"{mutant.id}: nothing living has this code")
    code_swap.swap(swaps)
    code_swap.clear_caches(module)


def _pairs(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    yield from zip(code_swap.nested(before), code_swap.nested(after), strict=True)
