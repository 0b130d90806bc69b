"""ANeuralNetworksCompilation_* and ANeuralNetworksBurst_*."""

from __future__ import annotations

from npu_conformance.reference.runtime.api_base import ApiBase
from npu_conformance.reference.runtime.calls import answer, code, not_null
from npu_conformance.reference.runtime.objects.burst import Burst
from npu_conformance.reference.runtime.objects.compilation import Compilation
from npu_conformance.reference.runtime.objects.model import Model
from npu_conformance.specs.neuralnetworks.runtime.compilations import CompilationFunctions
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, Handle, Number, Pointer

_OK = ResultCode.NO_ERROR


def null(result: ResultCode) -> Handle:
    """The answer of a failure that leaves null in the out-parameter (FW-API-004)."""
    return Handle(result, NULL)


class CompilationApi(ApiBase, CompilationFunctions):
    """Compilations, and bursts over them. What each function does is said in CompilationFunctions."""

    def _compilation(self, handle: int) -> Compilation:
        return self.handles.get(Compilation, handle)

    @answer(Handle, null)
    def compilation_create(self, model: int, compilation: bool) -> Handle:
        """See CompilationFunctions."""
        not_null(model, compilation)
        finished = self.handles.get(Model, model).check_finished()
        return Handle(_OK, self.handles.add(Compilation(self.environment, finished)))

    @answer(Handle, null)
    def compilation_create_for_devices(self, model: int, devices: tuple[int, ...] | None, compilation: bool) -> Handle:
        """See CompilationFunctions."""
        not_null(model, devices, compilation)
        named = self.device_list(devices or ())
        finished = self.handles.get(Model, model).check_finished()
        return Handle(_OK, self.handles.add(Compilation(self.environment, finished, named)))

    def compilation_free(self, compilation: int) -> None:
        """See CompilationFunctions."""
        self.handles.free(Compilation, compilation)

    @code
    def compilation_set_preference(self, compilation: int, preference: int) -> None:
        """See CompilationFunctions."""
        self._compilation(compilation).set_preference(preference)

    @code
    def compilation_set_caching(self, compilation: int, cache_dir: str | None, token: bytes | None) -> None:
        """See CompilationFunctions."""
        not_null(compilation, cache_dir, token)
        assert cache_dir is not None
        assert token is not None
        self._compilation(compilation).set_caching(cache_dir, token)

    @code
    def compilation_set_priority(self, compilation: int, priority: int) -> None:
        """See CompilationFunctions."""
        self._compilation(compilation).set_priority(priority)

    @code
    def compilation_set_timeout(self, compilation: int, duration: int) -> None:
        """See CompilationFunctions."""
        self._compilation(compilation).set_timeout(duration)

    @code
    def compilation_add_extension_attribute(
        self,
        compilation: int,
        extension_name: str | None,
        attribute_code_within_extension: int,
        data: Pointer | None,
        length: int,
    ) -> None:
        """See CompilationFunctions."""
        not_null(compilation, extension_name, data or not length)
        assert extension_name is not None
        self._compilation(compilation).add_hint(extension_name, attribute_code_within_extension, data, length)

    @code
    def compilation_finish(self, compilation: int) -> None:
        """See CompilationFunctions."""
        self._compilation(compilation).finish()

    @answer(Number)
    def compilation_get_preferred_memory_alignment_for_input(
        self, compilation: int, index: int, alignment: bool
    ) -> Number:
        """See CompilationFunctions."""
        not_null(compilation, alignment)
        return Number(_OK, self._compilation(compilation).memory_preference(True, index)[0])

    @answer(Number)
    def compilation_get_preferred_memory_padding_for_input(self, compilation: int, index: int, padding: bool) -> Number:
        """See CompilationFunctions."""
        not_null(compilation, padding)
        return Number(_OK, self._compilation(compilation).memory_preference(True, index)[1])

    @answer(Number)
    def compilation_get_preferred_memory_alignment_for_output(
        self, compilation: int, index: int, alignment: bool
    ) -> Number:
        """See CompilationFunctions."""
        not_null(compilation, alignment)
        return Number(_OK, self._compilation(compilation).memory_preference(False, index)[0])

    @answer(Number)
    def compilation_get_preferred_memory_padding_for_output(
        self, compilation: int, index: int, padding: bool
    ) -> Number:
        """See CompilationFunctions."""
        not_null(compilation, padding)
        return Number(_OK, self._compilation(compilation).memory_preference(False, index)[1])

    @answer(Handle, null)
    def burst_create(self, compilation: int, burst: bool) -> Handle:
        """See CompilationFunctions."""
        not_null(compilation, burst)
        return Handle(_OK, self.handles.add(Burst(self._compilation(compilation))))

    def burst_free(self, burst: int) -> None:
        """See CompilationFunctions."""
        opened = self.handles.find(Burst, burst)
        if opened is not None:
            self.handles.free(Burst, burst)
            opened.close()
