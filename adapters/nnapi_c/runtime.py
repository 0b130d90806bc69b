"""A shared library with functions of the NNAPI as a Runtime: one method, one C function."""

from __future__ import annotations

from npu_conformance.adapters.nnapi_c.compilations import Compilations
from npu_conformance.adapters.nnapi_c.devices import Devices
from npu_conformance.adapters.nnapi_c.executions import Executions
from npu_conformance.adapters.nnapi_c.memories import Memories
from npu_conformance.adapters.nnapi_c.models import Models
from npu_conformance.specs.neuralnetworks.runtime import Runtime


class LibraryRuntime(Devices, Models, Compilations, Executions, Memories, Runtime):
    """Handles are the raw pointers. Nothing is checked, repaired or remembered on the library's behalf."""
