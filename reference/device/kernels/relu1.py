"""RELU1."""

from npu_conformance.reference.device.activation import activate
from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required
from npu_conformance.specs.neuralnetworks.enums import FusedActivation


def relu1(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = min(1, max(-1, input))."""
    return (store(activate(real(required(inputs[0])), FusedActivation.RELU1), outputs[0]),)
