"""The NNAPI C API as an interface: one method for each function, named as in the header, in snake_case.

Objects are handles and pointers are explicit (`types`), so that a test can pass null, freed and foreign ones. The
feature level of a runtime is a Version: 1.0 to 1.3 stand for the levels 1 to 4, with which these HALs came. What
NeuralNetworks.h says of a function is not repeated here; which misuse gives which code is checked by cts.misuse.
"""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.runtime.compilations import CompilationFunctions
from npu_conformance.specs.neuralnetworks.runtime.devices import DeviceFunctions
from npu_conformance.specs.neuralnetworks.runtime.executions import ExecutionFunctions
from npu_conformance.specs.neuralnetworks.runtime.memories import MemoryFunctions
from npu_conformance.specs.neuralnetworks.runtime.models import ModelFunctions


class Runtime(DeviceFunctions, ModelFunctions, CompilationFunctions, ExecutionFunctions, MemoryFunctions):
    """An NNAPI runtime, as an app sees it."""
