"""Which extensions there are, which codes their types have, and what drivers get of them."""

from __future__ import annotations

from typing import Any

from npu_conformance.cts.lib.runtime.fixture import CPU, VECTOR
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, both, driver
from npu_conformance.cts.lib.runtime.vendor import (
    COUNT_TYPE,
    ECHO,
    ECHO_TYPE,
    FIBONACCI,
    NUMBERS_OPERATION,
    NUMBERS_TYPE,
    PREFIX_BITS,
    TYPES,
    FibonacciModel,
    branching_model,
    is_usable,
    lists,
    operation_code,
    type_code,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, SupportedOperation
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.neuralnetworks.types import Extension, ExtensionOperandTypeInformation
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.extensions.discovery", interface="runtime", since=Version.V1_2)

_ECHO_TYPES = (ExtensionOperandTypeInformation(ECHO_TYPE, is_tensor=True, byte_size=1),)
_OEM = (SupportedOperation(int(OperationType.OEM_OPERATION)),)
_LIKE_FIBONACCI = (
    FIBONACCI[:-1], FIBONACCI[1:], f"{FIBONACCI}2", f"x{FIBONACCI}", FIBONACCI.upper(), f"{FIBONACCI} ",
    FIBONACCI.rpartition(".")[0], FIBONACCI.rpartition(".")[2],
)  # fmt: skip
"""Names that are not the one that the driver lists."""


def _with_both(name: str, **fields: Any) -> DriverScript:
    extensions = (Extension(FIBONACCI, TYPES), Extension(ECHO, _ECHO_TYPES))
    return DriverScript(name, extensions=extensions, exec_time=FAST, **fields)


@cases.case("support", "FW-EXT-011", scope=Scope.SMOKE)
def support(context: CaseContext) -> None:
    """A device supports the extensions that its driver lists; the CPU supports none."""
    app = ScriptedApp(context, lists("one"), _with_both("two"), driver("three"))
    expected = {"one": (True, False), "two": (True, True), "three": (False, False), CPU: (False, False)}
    for name, answers in expected.items():
        (device,) = app.named(name)
        found = tuple(
            app.succeed("device_get_extension_support", device, extension, True).value
            for extension in (FIBONACCI, ECHO)
        )
        checks.equal(found, answers, f"extensions that {name} supports")


@cases.case("unknown_name", "FW-EXT-011")
def unknown_name(context: CaseContext) -> None:
    """An extension that no driver lists is not supported, and cannot be used; nor one with a name that is like it."""
    app = ScriptedApp(context, lists("one"))
    (device,) = app.named("one")
    for name in ("com.example.nobody", *_LIKE_FIBONACCI):
        found = app.succeed("device_get_extension_support", device, name, True).value
        checks.equal(found, False, f"support for {name!r}")
        checks.equal(is_usable(app, name), False, f"whether {name!r} can be used")


@cases.case("codes", "FW-EXT-003")
def codes(context: CaseContext) -> None:
    """A code is the prefix of the extension, from 1 on, times 65,536 plus the number of the type."""
    app = ScriptedApp(context, _with_both("one"))
    model = app.empty_model()
    found = {
        type_code(app, model, COUNT_TYPE) - COUNT_TYPE,
        type_code(app, model, NUMBERS_TYPE) - NUMBERS_TYPE,
        operation_code(app, model, NUMBERS_OPERATION) - NUMBERS_OPERATION,
    }
    checks.equal(len(found), 1, f"prefix of the extension, times 65,536, among {sorted(found)}")
    (base,) = found
    checks.equal(base % (1 << PREFIX_BITS), 0, "rest of a prefix divided by 65,536")
    checks.that(base >> PREFIX_BITS > 0, f"prefix: expected more than 0, found {base >> PREFIX_BITS}")
    other = type_code(app, model, ECHO_TYPE, ECHO) >> PREFIX_BITS
    checks.that(other not in (0, base >> PREFIX_BITS), f"prefix of the other extension: found {other}, which is taken")


@cases.case("codes_stay", "FW-EXT-003")
def codes_stay(context: CaseContext) -> None:
    """The codes are the same for every model of a process."""
    app = ScriptedApp(context, _with_both("one"))
    first, second = app.empty_model(), app.empty_model()
    before = type_code(app, first, NUMBERS_TYPE)
    type_code(app, second, ECHO_TYPE, ECHO)
    checks.equal(type_code(app, second, NUMBERS_TYPE), before, "code of a type for another model")


@cases.case("prefixes_of_model", "FW-EXT-005", "FW-EXT-011")
def prefixes_of_model(context: CaseContext) -> None:
    """A driver gets a model with the prefix of each extension in it, and of none that is not."""
    app = ScriptedApp(context, _with_both("one"))
    type_code(app, app.empty_model(), ECHO_TYPE, ECHO)
    compilation = app.compilation(FibonacciModel(app).built())
    app.succeed("compilation_finish", compilation)
    for call in app.calls("one"):
        if call.model is not None:
            names = [one.name for one in call.model.extension_name_to_prefix]
            checks.equal(names, [FIBONACCI], f"extensions of the model in {call.method}")
            prefixes = {operation.type >> PREFIX_BITS for operation in call.model.main.operations}
            prefix = checks.single(prefixes, "prefixes of the operations")
            checks.equal(call.model.extension_name_to_prefix[0].prefix, prefix, "prefix of the operations")


@cases.case("prefixes_of_branch", "FW-EXT-005", since=Version.V1_3)
def prefixes_of_branch(context: CaseContext) -> None:
    """An extension that is used in a branch alone belongs to the model, too."""
    app = ScriptedApp(context, _with_both("one", if_performance=both(FAST)))
    compilation = app.compilation(branching_model(app), app.named("one"))
    app.succeed("compilation_finish", compilation)
    checks.that(app.prepared("one") != [], "the driver that the app named has prepared nothing")
    for model in app.prepared("one"):
        names = [one.name for one in model.extension_name_to_prefix]
        checks.equal(names, [FIBONACCI], "extensions of a model that uses one in a branch")


@cases.case("prefixes_of_operands", "FW-EXT-005")
def prefixes_of_operands(context: CaseContext) -> None:
    """An extension of which a model has an operand type alone belongs to the model, too."""
    app = ScriptedApp(context, _with_both("one"))
    model = app.operands_of_add()
    app.succeed("model_add_operand", model, OperandDescription(type_code(app, model, NUMBERS_TYPE), 1, (2,)))
    app.succeed("model_add_operation", model, OperationType.ADD, (0, 1, 2), (3,))
    app.succeed("model_identify_inputs_and_outputs", model, (0, 1, 4), (3,))
    app.succeed("model_finish", model)
    app.succeed("compilation_finish", app.compilation(model, app.named("one")))
    found = app.prepared_once("one")
    names = [one.name for one in found.extension_name_to_prefix]
    checks.equal(names, [FIBONACCI], "extensions of a model with an input of their type")


@cases.case("prefixes_of_a_part", "FW-EXT-005", "FW-PRT-006")
def prefixes_of_a_part(context: CaseContext) -> None:
    """A part of a model names the extension of its operand's type, and the other part names none."""
    app = ScriptedApp(context, _with_both("one", operations=_OEM), driver("adds", "ADD", exec_time=FAST))
    model = app.operands_of_add()
    app.succeed("model_add_operand", model, OperandDescription(type_code(app, model, ECHO_TYPE, ECHO), 1, (2,)))
    app.succeed("model_add_operand", model, VECTOR)
    app.succeed("model_add_operation", model, OperationType.ADD, (0, 1, 2), (3,))
    app.succeed("model_add_operation", model, OperationType.OEM_OPERATION, (4,), (5,))
    app.succeed("model_set_operand_value", model, 2, place(app.memory, bytes(4)), 4)
    app.succeed("model_identify_inputs_and_outputs", model, (0, 1, 4), (3, 5))
    app.succeed("model_finish", model)
    app.succeed("compilation_finish", app.compilation(model, app.named("one", "adds")))
    for name, expected in (("one", [ECHO]), ("adds", [])):
        found = [one.name for one in app.prepared_once(name).extension_name_to_prefix]
        checks.equal(found, expected, f"extensions of the part of {name}")


@cases.case("no_prefixes", "FW-EXT-005")
def no_prefixes(context: CaseContext) -> None:
    """A model without extensions has no prefixes."""
    from npu_conformance.cts.lib.runtime.nets import add

    app = ScriptedApp(context, _with_both("one"))
    type_code(app, app.empty_model(), ECHO_TYPE, ECHO)
    app.computes_rightly(app.compiled(add(), "one"))
    model = app.prepared_once("one")
    checks.equal(model.extension_name_to_prefix, (), "prefixes of a model without extensions")


@cases.case("disagreement", "FW-EXT-004")
def disagreement(context: CaseContext) -> None:
    """Two drivers that describe an extension differently make it unusable, in whichever order."""
    other = ExtensionOperandTypeInformation(NUMBERS_TYPE, is_tensor=True, byte_size=4)
    for scripts in (
        (lists("one"), lists("two", TYPES[0], other)),
        (lists("one", TYPES[0], other), lists("two")),
        (lists("one"), lists("two", TYPES[0])),
        (lists("one", TYPES[0]), lists("two"), lists("three")),
        (lists("one"), lists("two", TYPES[0]), lists("three")),
        (lists("one"), lists("two"), lists("three", TYPES[0])),
    ):
        app = ScriptedApp(context, *scripts)
        checks.equal(is_usable(app), False, "whether an extension can be used that drivers describe differently")
        app.close()


@cases.case("agreement", "FW-EXT-004", "FW-EXT-011")
def agreement(context: CaseContext) -> None:
    """Drivers that describe it alike may do so in any order of types, and the faster one gets the work."""
    app = ScriptedApp(context, lists("one"), lists("two", *reversed(TYPES)))
    checks.equal(is_usable(app), True, "whether an extension can be used that drivers describe alike")


@cases.case("disagreement_is_of_one", "FW-EXT-004")
def disagreement_is_of_one(context: CaseContext) -> None:
    """An extension on which drivers disagree is no obstacle to another."""
    app = ScriptedApp(context, _with_both("one"), lists("two", TYPES[0]))
    checks.equal(is_usable(app, FIBONACCI), False, "whether the disputed extension can be used")
    model = app.empty_model()
    checks.that(type_code(app, model, ECHO_TYPE, ECHO) > 0, "expected a code of the other extension")
