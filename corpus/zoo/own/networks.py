"""The project's own convolutional nets, which tell digits apart."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy

from npu_conformance.corpus.zoo.own import digits
from npu_conformance.corpus.zoo.own.growing import GrowingNet
from npu_conformance.corpus.zoo.own.quantizing import Scheme, quantized
from npu_conformance.specs.neuralnetworks.enums import FusedActivation
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array, Vector

INPUT = "picture"
_TRAINING, _TRAINING_SEED = 800, 1
_CALIBRATION = 200
_RIDGE = 0.005
_SURE = 8.0
"""How far apart the scores of the right digit and of the others are meant to be, before the softmax."""


@functools.cache
def convolutional() -> Vector:
    """Two convolutions with a pool behind each, a fully connected layer, a softmax: HAL 1.0."""
    net, targets = _begun(Version.V1_0, seed=11)
    layer = net.convolution(INPUT, 16, 5, 2, activation=FusedActivation.RELU)
    layer = net.pool("MAX_POOL_2D", layer, 2)
    layer = net.convolution(layer, 48, 3, activation=FusedActivation.RELU6)
    layer = net.pool("AVERAGE_POOL_2D", layer, 2)
    return _ended(net, layer, targets, "digits_conv")


@functools.cache
def separable() -> Vector:
    """An inverted residual block as in MobileNet v2 (expand, filter each channel, project, add); HAL 1.0."""
    net, targets = _begun(Version.V1_0, seed=12)
    layer = net.convolution(INPUT, 16, 3, 2, FusedActivation.RELU6)
    layer = net.pool("AVERAGE_POOL_2D", _block(net, layer), 2)
    layer = net.convolution(layer, 48, 1, activation=FusedActivation.RELU6)
    return _ended(net, layer, targets, "digits_separable")


@functools.cache
def twin(of: str, scheme: Scheme) -> Vector:
    """The quantised twin of a net, whose name says how."""
    source = {"digits_conv": convolutional, "digits_separable": separable}[of]()
    pictures, _ = digits.pictures(_CALIBRATION, _TRAINING_SEED)
    suffix = "int8" if scheme.limits[0] else "uint8"
    return quantized(source, {INPUT: pictures}, scheme, f"{of}_{suffix}")


def _block(net: GrowingNet, source: str) -> str:
    channels = net.values[source].shape[3]
    layer = net.convolution(source, 3 * channels, 1, activation=FusedActivation.RELU6)
    layer = net.depthwise(layer, 3, 1, FusedActivation.RELU6)
    return net.add(source, net.convolution(layer, channels, 1))


def _begun(version: Version, seed: int) -> tuple[GrowingNet, Array]:
    pictures, labels = digits.pictures(_TRAINING, _TRAINING_SEED)
    net = GrowingNet(version, seed)
    net.input(pictures, INPUT)
    return net, _SURE * numpy.eye(digits.CLASSES)[labels]


def _ended(net: GrowingNet, layer: str, targets: Array, name: str) -> Vector:
    return net.vector(name, [net.softmax(net.fit(layer, targets, _RIDGE))])
