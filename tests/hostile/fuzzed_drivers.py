"""Drivers with bugs that only unusual input finds. Option `bug` says which one."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from typing import Any

from npu_conformance.fuzz.lib.native_coverage import NativeCoverage
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import NotVisible, ServiceError
from npu_conformance.specs.manifest import Deadlines, Manifest
from npu_conformance.specs.neuralnetworks.types import Model, NumberOfCacheFiles
from npu_conformance.specs.plugin import Context, Plugin, Subject

BUGS = ("answers", "twice", "zero_point", "status", "accepts", "refuses")
"""The bugs that leave the process as it is; `kill`, `exit`, `exit-N`, `sanitizer`, `unprepared`, `uncounted`, `hang`
and `leak` do not.

`memory` is more than a fuzzer may have. `invisible` is none: what stands between cannot say everything to the driver.
`slow` is none, in the time that the manifest allows, and `nothing` is none: it prepares nothing. `fragile` raises once
and then ends the process. `unsettles` makes the fuzzer itself fail.
"""

DEADLINES = {
    "hang": Deadlines(prepare=0.3, execute=0.3, call=0.3),
    "slow": Deadlines(prepare=0.3, execute=0.3, call=0.3),
    "refusals": Deadlines(prepare=0.5, execute=0.5, call=0.5),
}
_REPORT = b"""\
==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x60
    #0 0x55 in match /src/driver.c:459:20

SUMMARY: AddressSanitizer: heap-use-after-free /src/driver.c:459:20 in match
Shadow byte legend
"""


def _unsettled(coverage: NativeCoverage) -> frozenset[int]:
    raise RuntimeError("the number of elements has changed")


class FuzzedDevice(ReferenceDevice):
    """The reference with a bug."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._bug = context.options.get("bug", "none")
        self._met = 0

    def get_supported_operations(self, model: Model) -> tuple[bool, ...]:
        if any(operand.zero_point == 6 for operand in model.main.operands):
            self._meet_six()
        answers = super().get_supported_operations(model)
        return answers[:-1] if self._bug == "answers" and len(answers) == 2 else answers

    def get_number_of_cache_files_needed(self) -> NumberOfCacheFiles:
        if self._bug == "uncounted":
            os._exit(3)
        return super().get_number_of_cache_files_needed()

    def prepare_model(self, model: Model, *arguments: Any) -> None:
        if self._bug == "unprepared":
            os._exit(3)
        is_quantised = any(operand.scale for operand in model.main.operands)
        if self._bug == "nothing" or (self._bug == "refusals" and is_quantised):
            self._refuse(arguments[-1])
        if self._bug == "twice" and model.relax_computation_float32_to_float16:
            super().prepare_model(model, *arguments)
        super().prepare_model(model, *arguments)

    def _refuse(self, callback: Any) -> None:
        if self._bug == "nothing":
            callback.notify(2, None)
        raise ServiceError(2)

    def _meet_six(self) -> None:
        if self._bug == "zero_point":
            raise ValueError("six")
        if self._bug == "escapes":
            raise ValueError("\x1b]0;six\x07\nsix")
        if self._bug == "status":
            raise ServiceError(99)
        if self._bug == "invisible":
            raise NotVisible("nobody can say six")
        if self._bug == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self._bug == "exit":
            os._exit(0)
        if self._bug.startswith("exit-"):
            os._exit(int(self._bug.removeprefix("exit-")))
        if self._bug == "sanitizer":
            os.write(2, _REPORT)
            os._exit(1)
        if self._bug == "fragile":
            self._met += 1
            if self._met == 1:
                raise ValueError("six")
            os._exit(4)
        if self._bug == "unsettles":
            NativeCoverage.features = _unsettled  # type: ignore[assignment]
        if self._bug == "slow":
            time.sleep(0.6)
        if self._bug == "hang":
            time.sleep(3600)
        if self._bug == "leak":
            os.dup(0)
        if self._bug == "memory":
            bytearray(3 << 30)

    def _check_model(self, model: Model) -> None:
        if self._bug == "accepts" and any(operand.zero_point > 255 for operand in model.main.operands):
            return
        if self._bug == "refuses" and any(5 in operand.dimensions for operand in model.main.operands):
            raise ServiceError(4, "five")
        super()._check_model(model)


def _manifest(options: Mapping[str, str]) -> Manifest:
    quick = DEADLINES.get(options.get("bug", ""), Deadlines())
    return Manifest(name="fuzzed", vendor="tests", version="1", deadlines=quick, options={"bug": "which one"})


def _create(context: Context) -> Subject:
    return Subject(device=FuzzedDevice(context))


plugin = Plugin(manifest=_manifest, create=_create)
