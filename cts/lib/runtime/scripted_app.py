"""An app of a runtime whose drivers the case has written: it also reads what drivers got.

Everything a case made is freed, and the runtime gets its own drivers back, when the case ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.net_app import NetApp
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverCall, DriverScript, RuntimeControl
from npu_conformance.specs.neuralnetworks.types import Model, Operation
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.neuralnetworks.violations import is_about_vendor
from npu_conformance.specs.versions import HIDL_LAST

_STRUCTURE = "MODEL."
"""The rules of all models, whatever their operations. Those of operations are for the app to keep."""


class ScriptedApp(NetApp):
    """An app of the runtime under test, with drivers of the case's own. NotApplicable where nobody can set them."""

    def __init__(self, context: CaseContext, *scripts: DriverScript) -> None:
        self.control: RuntimeControl = context.present(context.subject.interfaces.runtime_control, "runtime_control")
        context.close_later(_Reset(self.control))
        super().__init__(context)
        self.set_drivers(*scripts)

    def set_drivers(self, *scripts: DriverScript) -> None:
        """Let these be the drivers in place of those before, whose calls are forgotten."""
        known = tuple(map(self.known, scripts))
        self.driver_names = tuple(script.name for script in known)
        self._versions = {script.name: script.hal for script in known}
        self._judged: dict[str, int] = {}
        self.control.set_drivers(known)

    def known(self, script: DriverScript) -> DriverScript:
        """A script as this runtime can have it: one of feature level 4 or less knows no AIDL."""
        return script if self.level.is_aidl else replace(script, hal=min(script.hal, HIDL_LAST))

    def needs_room(self, function: str, result: int) -> None:
        """A scripted driver has room, unless the case says otherwise."""

    # What drivers were asked

    def calls(self, name: str, method: str = "") -> list[DriverCall]:
        """Calls that a driver got, in order; of methods whose names begin so."""
        return [call for call in self._driver_calls(name) if call.method.startswith(method)]

    def executions(self, name: str) -> list[DriverCall]:
        """Executions that a driver was asked for, in every way."""
        return [call for call in self._driver_calls(name) if "execute" in call.method]

    def _driver_calls(self, name: str) -> list[DriverCall]:
        """All calls that a driver got, in order. Failed for a model that its HAL has to reject (FW-VER-001)."""
        calls = list(self.control.driver_calls(name))
        for call in calls[self._judged.get(name, 0) :]:
            if call.model is not None:
                self._require_sound(name, call.model)
        self._judged[name] = len(calls)
        return calls

    def _require_sound(self, name: str, model: Model) -> None:
        version = self._versions[name]
        wrong = [
            str(one)
            for one in validate_model(model, version)
            if one.clause.startswith(_STRUCTURE) and not is_about_vendor(one, model)
        ]
        with checks.about("FW-VER-001"):
            checks.equal(wrong, [], f"rules of HAL {version} that a model breaks which driver {name} got")

    def asked_about(self, name: str) -> list[Model]:
        """The models of which a driver was asked what it supports; fails where it was not. How often is not said."""
        found = [call.model for call in self.calls(name, "get_supported_operations") if call.model is not None]
        checks.that(bool(found), f"models of which driver {name} was asked what it supports: expected some, found none")
        return found

    def prepared(self, name: str) -> list[Model]:
        """The models that a driver was told to prepare."""
        return [call.model for call in self.calls(name, "prepare_model") if call.model is not None]

    def prepared_once(self, name: str) -> Model:
        """The one model that a driver was told to prepare; fails where there is none, or more than one."""
        return checks.single(self.prepared(name), f"models that driver {name} was told to prepare")

    def prepared_with(self, name: str, operation: OperationType) -> Model:
        """The one model with an operation in its main graph that a driver was told to prepare; fails as above."""
        found = [model for model in self.prepared(name) if operation in {one.type for one in model.main.operations}]
        return checks.single(found, f"models with {operation.name} that driver {name} was told to prepare")

    def called_once(self, name: str, method: str) -> DriverCall:
        """The one call of such methods that a driver got; fails where there is none, or more than one."""
        return checks.single(self.calls(name, method), f"calls of {method} to driver {name}")

    def last_call(self, name: str, method: str) -> DriverCall:
        """The newest of a driver's calls with this beginning; fails where there is none."""
        found = self.calls(name, method)
        checks.that(bool(found), f"calls of {method} that driver {name} got: expected one at least, found none")
        return found[-1]

    def executed_once(self, name: str, behind: int = 0) -> DriverCall:
        """The one execution that a driver was asked for, after the first so many; fails otherwise."""
        return checks.single(self.executions(name)[behind:], f"executions that driver {name} was asked for")

    def operations(self, name: str) -> list[str]:
        """The names of the operations of all models that a driver was told to prepare, sorted."""
        return sorted(name for model in self.prepared(name) for name in names_of(model.main.operations))

    def gets(self, **operations: Sequence[str]) -> None:
        """Check which operations each driver was given; in any order, in as many models as the runtime likes."""
        for name, expected in operations.items():
            checks.equal(self.operations(name), sorted(expected), f"operations given to driver {name}")


class _Reset:
    def __init__(self, control: RuntimeControl) -> None:
        self._control = control

    def close(self) -> None:
        """Give the runtime its own drivers, properties and process back."""
        self._control.reset()


def names_of(operations: Sequence[Operation]) -> list[str]:
    """Names of operations; the number where it has none."""
    known = set(OperationType)
    return [OperationType(each.type).name if each.type in known else str(each.type) for each in operations]
