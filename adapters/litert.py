"""The plug-in `litert`: the real LiteRT runtime, presented as a vendor's driver.

It shows what a vendor sees that maps NNAPI to its own engine: docs/findings.md says where the two differ.
LiteRT is imported when it is first needed; `pip install npu-conformance[litert]` brings it.
"""

from __future__ import annotations

from collections.abc import Mapping

from npu_conformance.adapters.engine import HAL_OPTION, create, hal_version
from npu_conformance.adapters.litert_runtime import KERNELS, runtime_version
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import Context, Plugin, Subject

DEFAULT_KERNELS = "optimized"


def _kernels(options: Mapping[str, str]) -> str:
    kernels = options.get("kernels", DEFAULT_KERNELS)
    if kernels not in KERNELS:
        raise ValueError(f"unknown kernels {kernels!r}: expected one of {' '.join(KERNELS)}")
    return kernels


def _manifest(options: Mapping[str, str]) -> Manifest:
    return Manifest(
        name=f"litert-{_kernels(options)}",
        vendor="Google LiteRT",
        version=runtime_version(),
        interfaces=("device",),
        hal_version=hal_version(options),
        instance="litert-cpu",
        options={
            "hal": HAL_OPTION,
            "kernels": f"which of LiteRT's kernels: {', '.join(KERNELS)} (default: {DEFAULT_KERNELS})",
        },
    )


def _create(context: Context) -> Subject:
    from npu_conformance.adapters.litert_engine import LiteRtEngine

    return create(context, LiteRtEngine(_kernels(context.options)))


plugin = Plugin(manifest=_manifest, create=_create)
"""LiteRT. Options: `hal`, the version it serves; `kernels`, a key of litert_runtime.KERNELS."""
