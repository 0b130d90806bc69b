"""Compilations of the API (FW-CMP)."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.runtime.backend import CompileOptions, FinishedModel, Plan, RuntimeDevice
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.reference.runtime.objects.hints import Hints
from npu_conformance.reference.runtime.objects.operands import bad_data, bad_state
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference
from npu_conformance.specs.neuralnetworks.runtime.result_codes import BYTE_SIZE_OF_CACHE_TOKEN, RuntimePriority
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer
from npu_conformance.specs.neuralnetworks.types import Operand


class Compilation:
    """A compilation. devices: those that the app named; None for all, with fallback."""

    def __init__(
        self, environment: Environment, model: FinishedModel, devices: Sequence[RuntimeDevice] | None = None
    ) -> None:
        self.environment, self.model, self._devices = environment, model, devices
        self._preference = int(ExecutionPreference.FAST_SINGLE_ANSWER)
        self._priority = int(RuntimePriority.MEDIUM)
        self._timeout_ns = 0
        self._cache_dir: str | None = None
        self._cache_token = b""
        self._hints = Hints(environment)
        self._is_open = True
        self._plan: Plan | None = None

    @property
    def is_explicit(self) -> bool:
        """Whether the app named the devices, so that there is no fallback."""
        return self._devices is not None

    @property
    def has_one_device(self) -> bool:
        """Whether the app named exactly one device."""
        return self._devices is not None and len(self._devices) == 1

    def check_one_device(self) -> None:
        """Raise BAD_DATA for what only one explicit device can do (FW-CMP-007, FW-EXE-009)."""
        if not self.has_one_device:
            raise bad_data("the compilation is not for exactly one explicit device")

    @property
    def plan(self) -> Plan:
        """The plan. Raises BAD_STATE before finish, and where that failed (FW-EXE-001)."""
        if self._plan is None:
            raise bad_state("the compilation is not finished, or has failed")
        return self._plan

    @property
    def is_valid(self) -> bool:
        """Whether it has been finished well."""
        return self._plan is not None

    def _check_open(self) -> None:
        if not self._is_open:
            raise bad_state("the compilation has been finished")  # FW-CMP-003

    def set_preference(self, preference: int) -> None:
        """ANeuralNetworksCompilation_setPreference. A negative one is refused at finish (FW-CMP-004, -005)."""
        self._check_open()
        if preference > max(ExecutionPreference):
            raise bad_data(f"there is no preference {preference}")
        self._preference = preference

    def set_caching(self, cache_dir: str, token: bytes) -> None:
        """ANeuralNetworksCompilation_setCaching."""
        self._check_open()
        if len(token) < BYTE_SIZE_OF_CACHE_TOKEN:
            raise bad_data(f"a token of {len(token)} bytes")
        self._cache_dir = cache_dir if cache_dir.endswith("/") else f"{cache_dir}/"
        self._cache_token = token[:BYTE_SIZE_OF_CACHE_TOKEN]

    def set_priority(self, priority: int) -> None:
        """ANeuralNetworksCompilation_setPriority (FW-CMP-006)."""
        self._check_open()
        if priority not in list(RuntimePriority):
            raise bad_data(f"there is no priority {priority}")
        self._priority = priority

    def set_timeout(self, duration_ns: int) -> None:
        """ANeuralNetworksCompilation_setTimeout."""
        self._check_open()
        self.check_one_device()
        self._timeout_ns = duration_ns

    def add_hint(self, extension_name: str, code: int, data: Pointer | None, length: int) -> None:
        """ANeuralNetworksCompilation_addExtensionAttribute."""
        self._check_open()
        self.check_one_device()
        self._hints.add(extension_name, code, data, length)

    def finish(self) -> None:
        """ANeuralNetworksCompilation_finish. It is finished also where it fails."""
        self._check_open()
        self._is_open = False
        if self._preference < 0:
            raise bad_data(f"there is no preference {self._preference}")
        compiler = self.environment.compiler
        devices = compiler.devices if self._devices is None else self._devices
        self._plan = compiler.compile(self.model, devices, self._options())

    def _options(self) -> CompileOptions:
        return CompileOptions(
            self.is_explicit,
            self._preference,
            self._priority,
            self._timeout_ns,
            self._cache_dir,
            self._cache_token,
            self._hints.pairs(),
            self._hints.extensions(),
        )

    def operands(self, is_input: bool) -> list[Operand]:
        """The operands of the model's inputs or outputs."""
        main = self.model.wire.main
        return [main.operands[index] for index in (main.input_indexes if is_input else main.output_indexes)]

    def memory_preference(self, is_input: bool, index: int) -> tuple[int, int]:
        """Preferred alignment and padding of an argument, in bytes (FW-CMP-008, -009)."""
        plan = self.plan
        main = self.model.wire.main
        if not 0 <= index < len(main.input_indexes if is_input else main.output_indexes):
            raise bad_data(f"there is no argument {index}")
        return plan.memory_preference(is_input, index)
