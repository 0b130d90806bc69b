"""ANeuralNetworksCompilation_* and ANeuralNetworksBurst_*, called in the library."""

from __future__ import annotations

from npu_conformance.adapters.nnapi_c.arguments import Written, cache_token, numbers, text
from npu_conformance.adapters.nnapi_c.caller import Caller
from npu_conformance.specs.neuralnetworks.runtime.compilations import CompilationFunctions
from npu_conformance.specs.neuralnetworks.runtime.types import Handle, Number, Pointer


class Compilations(Caller, CompilationFunctions):
    """See CompilationFunctions: every method calls the C function of its name, and does nothing else."""

    def compilation_create(self, model: int, compilation: bool) -> Handle:
        handle = Written("Handle", compilation)
        made = Handle(self._call("compilation_create", model, handle), handle.value())
        self._begin(made.handle)
        return made

    def compilation_create_for_devices(self, model: int, devices: tuple[int, ...] | None, compilation: bool) -> Handle:
        handle = Written("Handle", compilation)
        arguments = model, numbers(devices, "Handle"), len(devices or ()), handle
        made = Handle(self._call("compilation_create_for_devices", *arguments), handle.value())
        self._begin(made.handle)
        return made

    def compilation_free(self, compilation: int) -> None:
        self._call("compilation_free", compilation)
        self._end(compilation)

    def compilation_set_preference(self, compilation: int, preference: int) -> int:
        return int(self._call("compilation_set_preference", compilation, preference))

    def compilation_set_caching(self, compilation: int, cache_dir: str | None, token: bytes | None) -> int:
        return int(self._call("compilation_set_caching", compilation, text(cache_dir), cache_token(token)))

    def compilation_set_priority(self, compilation: int, priority: int) -> int:
        return int(self._call("compilation_set_priority", compilation, priority))

    def compilation_set_timeout(self, compilation: int, duration: int) -> int:
        return int(self._call("compilation_set_timeout", compilation, duration))

    def compilation_add_extension_attribute(
        self,
        compilation: int,
        extension_name: str | None,
        attribute_code_within_extension: int,
        data: Pointer | None,
        length: int,
    ) -> int:
        value = self._address(compilation, data)
        arguments = compilation, text(extension_name), attribute_code_within_extension, value, length
        return int(self._call("compilation_add_extension_attribute", *arguments))

    def compilation_finish(self, compilation: int) -> int:
        return int(self._call("compilation_finish", compilation))

    def compilation_get_preferred_memory_alignment_for_input(
        self, compilation: int, index: int, alignment: bool
    ) -> Number:
        return self._preferred("compilation_get_preferred_memory_alignment_for_input", compilation, index, alignment)

    def compilation_get_preferred_memory_padding_for_input(self, compilation: int, index: int, padding: bool) -> Number:
        return self._preferred("compilation_get_preferred_memory_padding_for_input", compilation, index, padding)

    def compilation_get_preferred_memory_alignment_for_output(
        self, compilation: int, index: int, alignment: bool
    ) -> Number:
        return self._preferred("compilation_get_preferred_memory_alignment_for_output", compilation, index, alignment)

    def compilation_get_preferred_memory_padding_for_output(
        self, compilation: int, index: int, padding: bool
    ) -> Number:
        return self._preferred("compilation_get_preferred_memory_padding_for_output", compilation, index, padding)

    def _preferred(self, method: str, compilation: int, index: int, wanted: bool) -> Number:
        found = Written("uint32_t", wanted)
        return Number(self._call(method, compilation, index, found), found.value())

    def burst_create(self, compilation: int, burst: bool) -> Handle:
        handle = Written("Handle", burst)
        return Handle(self._call("burst_create", compilation, handle), handle.value())

    def burst_free(self, burst: int) -> None:
        self._call("burst_free", burst)
