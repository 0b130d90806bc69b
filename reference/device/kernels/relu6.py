"""RELU6."""

from npu_conformance.reference.device.activation import activate
from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required
from npu_conformance.specs.neuralnetworks.enums import FusedActivation


def relu6(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = min(6, max(0, input))."""
    return (store(activate(real(required(inputs[0])), FusedActivation.RELU6), outputs[0]),)
