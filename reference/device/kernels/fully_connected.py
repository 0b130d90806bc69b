"""FULLY_CONNECTED."""

from npu_conformance.reference.device.activation import activate, activation_of
from npu_conformance.reference.device.products import products_of
from npu_conformance.reference.device.quantization import store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def fully_connected(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[b, u] = activation(bias[u] + sum over k of input[b, k] * weights[u, k]), input flattened to rows."""
    products = products_of(required(inputs[0]), required(inputs[1]), required(inputs[2]))
    rows = products.data.reshape(-1, products.weights.shape[1])
    sums = (rows @ products.weights.T + products.bias) * products.scale
    return (store(activate(sums, activation_of(inputs[3])), outputs[0]),)
