"""Recipes of operations along axes: reductions, extrema, normalisations."""

from npu_conformance.corpus.generators.operands import boolean, int32, int32s, scalar
from npu_conformance.corpus.strategies.calls import Arguments, Call, Recipe
from npu_conformance.corpus.strategies.elementwise import fixed_result
from npu_conformance.specs.versions import Version

_REDUCTIONS = (
    "MEAN", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_SUM",
)  # fmt: skip
_OLD_RANKS = {"SOFTMAX": (2, 4)}


def _reduced(call: Call) -> Arguments:
    shape = call.shape("input")
    axes = [axis - len(shape) if call.flag() else axis for axis in call.axes(len(shape))]
    keep = int32(int(call.flag())) if call.form.operation == "MEAN" else boolean(call.flag())
    return {"input": call.tensor("input", shape), "axes": int32s(*axes), "keep_dims": keep}


def _extreme(call: Call) -> Arguments:
    shape = call.shape("input")
    return {"input": call.tensor("input", shape), "axis": int32(call.axis(len(shape)))}


def _largest(call: Call) -> Arguments:
    shape = call.shape("input")
    return {"input": call.tensor("input", shape), "k": int32(call.between(1, shape[-1]))}


def _normalised_shape(call: Call) -> tuple[int, ...]:
    old = _OLD_RANKS.get(call.form.operation, (4,))
    if call.version < Version.V1_2:
        return tuple(call.size() for _ in range(call.decisions.pick(old)))
    return call.shape("input")


def _softmax(call: Call) -> Arguments:
    shape = _normalised_shape(call) if call.form.operation == "SOFTMAX" else call.shape("input")
    fixed_result(call, 1 / 256, 0)
    return {
        "input": call.tensor("input", shape),
        "beta": scalar(call.kind("beta"), call.between(1, 8) / 4),
        "axis": int32(call.axis(len(shape))),
    }


def _l2(call: Call) -> Arguments:
    shape = _normalised_shape(call)
    fixed_result(call, 1 / 128, 128)
    return {"input": call.tensor("input", shape, nonzero=True), "axis": int32(call.axis(len(shape)))}


def _local_response(call: Call) -> Arguments:
    shape = _normalised_shape(call)
    values = {"bias": call.between(1, 4), "alpha": call.between(0, 4) / 4, "beta": call.between(1, 4) / 4}
    return {
        "input": call.tensor("input", shape),
        "radius": int32(call.between(0, 3)),
        **{name: scalar(call.kind(name), value) for name, value in values.items()},
        "axis": int32(call.axis(len(shape))),
    }


def _instance(call: Call) -> Arguments:
    nchw = call.layout()
    values = {"gamma": call.between(1, 8) / 4, "beta": call.between(0, 8) / 4, "epsilon": call.between(1, 4) / 16}
    return {
        "input": call.tensor("input", call.image(nchw, call.size(), call.size(), call.size())),
        **{name: scalar(call.kind(name), value) for name, value in values.items()},
        "nchw_layout": boolean(nchw),
    }


RECIPES: dict[str, Recipe] = {
    **dict.fromkeys(_REDUCTIONS, _reduced),
    **dict.fromkeys(("ARGMAX", "ARGMIN"), _extreme),
    **dict.fromkeys(("SOFTMAX", "LOG_SOFTMAX"), _softmax),
    "TOPK_V2": _largest,
    "L2_NORMALIZATION": _l2,
    "LOCAL_RESPONSE_NORMALIZATION": _local_response,
    "INSTANCE_NORMALIZATION": _instance,
}
