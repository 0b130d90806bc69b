"""The NNAPI C API: compilations, and bursts over them."""

from __future__ import annotations

from npu_conformance.specs.interfaces import Interface, method, refuse
from npu_conformance.specs.neuralnetworks.runtime.types import Handle, Number, Pointer
from npu_conformance.specs.versions import Version


class CompilationFunctions(Interface):
    """ANeuralNetworksCompilation_* and ANeuralNetworksBurst_*."""

    @method()
    def compilation_create(self, model: int, compilation: bool) -> Handle:
        """Begin to compile for all devices, with fallback to the CPU."""
        raise refuse("Runtime.compilationCreate")

    @method(since=Version.V1_2)
    def compilation_create_for_devices(self, model: int, devices: tuple[int, ...] | None, compilation: bool) -> Handle:
        """Begin to compile for these devices alone, without fallback. devices: None is a null pointer."""
        raise refuse("Runtime.compilationCreateForDevices")

    @method()
    def compilation_free(self, compilation: int) -> None:
        """Destroy a compilation; null is ignored. Executions made from it live on."""
        raise refuse("Runtime.compilationFree")

    @method()
    def compilation_set_preference(self, compilation: int, preference: int) -> int:
        """preference: an ExecutionPreference."""
        raise refuse("Runtime.compilationSetPreference")

    @method(since=Version.V1_2)
    def compilation_set_caching(self, compilation: int, cache_dir: str | None, token: bytes | None) -> int:
        """Cache what is compiled in a folder of the runtime's machine, under a token of 32 bytes."""
        raise refuse("Runtime.compilationSetCaching")

    @method(since=Version.V1_3)
    def compilation_set_priority(self, compilation: int, priority: int) -> int:
        """priority: a RuntimePriority."""
        raise refuse("Runtime.compilationSetPriority")

    @method(since=Version.V1_3)
    def compilation_set_timeout(self, compilation: int, duration: int) -> int:
        """duration: nanoseconds that finish may take, 0 for any."""
        raise refuse("Runtime.compilationSetTimeout")

    @method(since=Version.FL8)
    def compilation_add_extension_attribute(
        self,
        compilation: int,
        extension_name: str | None,
        attribute_code_within_extension: int,
        data: Pointer | None,
        length: int,
    ) -> int:
        """Give a vendor's hint to the preparation."""
        raise refuse("Runtime.compilationAddExtensionAttribute")

    @method()
    def compilation_finish(self, compilation: int) -> int:
        """Partition the model and have the devices prepare their parts."""
        raise refuse("Runtime.compilationFinish")

    @method(since=Version.FL5)
    def compilation_get_preferred_memory_alignment_for_input(
        self, compilation: int, index: int, alignment: bool
    ) -> Number:
        """Bytes to which memory of an input should be aligned; a power of two."""
        raise refuse("Runtime.compilationGetPreferredMemoryAlignmentForInput")

    @method(since=Version.FL5)
    def compilation_get_preferred_memory_padding_for_input(self, compilation: int, index: int, padding: bool) -> Number:
        """Bytes to a multiple of which memory of an input should be padded; a power of two."""
        raise refuse("Runtime.compilationGetPreferredMemoryPaddingForInput")

    @method(since=Version.FL5)
    def compilation_get_preferred_memory_alignment_for_output(
        self, compilation: int, index: int, alignment: bool
    ) -> Number:
        """As for an input."""
        raise refuse("Runtime.compilationGetPreferredMemoryAlignmentForOutput")

    @method(since=Version.FL5)
    def compilation_get_preferred_memory_padding_for_output(
        self, compilation: int, index: int, padding: bool
    ) -> Number:
        """As for an input."""
        raise refuse("Runtime.compilationGetPreferredMemoryPaddingForOutput")

    @method(since=Version.V1_2)
    def burst_create(self, compilation: int, burst: bool) -> Handle:
        """Open a burst: executions of one compilation, one after the other."""
        raise refuse("Runtime.burstCreate")

    @method(since=Version.V1_2)
    def burst_free(self, burst: int) -> None:
        """Destroy a burst; null is ignored."""
        raise refuse("Runtime.burstFree")
