"""The pages of the wire protocol against the code: messages decode, names exist, codes are the code's."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest
from places import ROOT

from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.binding import bound_methods, find_method
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.hal import Device, PreparedModel
from npu_conformance.specs.versions import Version

PAGES = ("wire-protocol.md", "wire-protocol-memory.md", "wire-protocol-npu.md")
TEXT = "\n".join((ROOT / "docs" / page).read_text() for page in PAGES)
BUILTINS: dict[str, type[msgspec.Struct]] = {
    "initialize": protocol.Initialize,
    "ping": protocol.Nothing,
    "object.release": protocol.Release,
    "fence.state": protocol.FenceNews,
    "memory.attach": protocol.Attach,
    "memory.detach": protocol.Detach,
    "memory.write": protocol.MemoryWrite,
    "memory.read": protocol.MemoryRead,
    "control.ticket": protocol.TicketRequest,
    "file.attach": protocol.FileAttach,
    "file.detach": protocol.FileToken,
    "file.size": protocol.FileToken,
    "file.read": protocol.FileRead,
    "file.write": protocol.FileWrite,
    "file.truncate": protocol.FileTruncate,
    "file.duplicate": protocol.FileToken,
    "file.close": protocol.FileToken,
}


def documented_messages() -> list[dict[str, Any]]:
    """Every JSON-RPC message of the pages, `{...}` as an empty object; those shortened otherwise are left out."""
    found = []
    decoder = json.JSONDecoder()
    text = re.sub(r"\n\s*", "", TEXT).replace("{...}", "{}")
    for match in re.finditer(r'\{"jsonrpc"', text):
        try:
            found.append(decoder.raw_decode(text, match.start())[0])
        except json.JSONDecodeError:
            continue
    return found


def documented_block(start: str) -> Any:
    """The JSON in code that begins with `start`."""
    return json.JSONDecoder().raw_decode(TEXT, TEXT.index(start))[0]


def test_requests_have_the_documented_params() -> None:
    checked = set()
    for message in documented_messages():
        name = message.get("method")
        if name in BUILTINS:
            fields = {field.encode_name for field in msgspec.structs.fields(BUILTINS[name])}
            assert set(message["params"]) <= fields, name
            msgspec.convert(message["params"], BUILTINS[name], strict=True)
            checked.add(name)
        elif name is not None:
            found = find_method(name)
            assert found is not None, name
            assert set(message["params"]) <= {field.encode_name for field in msgspec.structs.fields(found[1].params)}
    assert checked == set(BUILTINS)


def test_the_calls_of_feature_level_8_are_shown() -> None:
    shown = {message["method"]: message["params"] for message in documented_messages() if "method" in message}
    for name in (
        "device.prepareModelWithConfig",
        "preparedModel.configureExecutionBurst",
        "burst.executeSynchronously",
        "burst.releaseMemoryResource",
        "preparedModel.createReusableExecution",
        "execution.executeSynchronously",
        "execution.executeFenced",
    ):
        found = find_method(name)
        assert found is not None
        assert set(shown[name]) == {field.encode_name for field in msgspec.structs.fields(found[1].params)}, name
    msgspec.convert(shown["device.prepareModelWithConfig"]["config"], types.PrepareModelConfig, strict=True)
    msgspec.convert(shown["preparedModel.createReusableExecution"]["config"], types.ExecutionConfig, strict=True)


def test_answers_are_messages() -> None:
    answers = [message for message in documented_messages() if "method" not in message]
    assert len(answers) >= 5
    for answer in answers:
        assert ("result" in answer) != ("error" in answer)
    handshake = next(answer["result"] for answer in answers if "protocolVersion" in str(answer.get("result")))
    assert msgspec.convert(handshake, protocol.Initialized).manifest.hal_version == Version.V1_2


def test_the_model_and_the_request_decode() -> None:
    model = msgspec.convert(documented_block('{"main":{"operands":['), types.Model)
    assert [operand.lifetime for operand in model.main.operands] == [1, 1, 3, 2]
    request = msgspec.convert(documented_block('{"inputs":[{"hasNoValue"'), types.Request)
    assert request.pools[1].pool == types.Memory("ashmem", 8, 72)


def test_every_method_of_a_1_2_device_is_documented() -> None:
    for interface in (Device, PreparedModel):
        for name, method in bound_methods(interface).items():
            mark = getattr(getattr(interface, method.name), "__interface_method__")  # noqa: B009
            if mark.since <= Version.V1_2 <= mark.until:
                assert f"`{name}`" in TEXT
                assert all(f"{field.encode_name}" in TEXT for field in msgspec.structs.fields(method.params))


@pytest.mark.parametrize("name", [name for name in vars(protocol) if isinstance(vars(protocol)[name], int)])
def test_numbers_are_documented(name: str) -> None:
    value = vars(protocol)[name]
    documented = {
        protocol.LINE_LIMIT: "67,108,864",
        protocol.DATA_LIMIT: "16 MiB",
        protocol.PROTOCOL_VERSION: "1",
        protocol.LONGEST_WORDS: "4,000 characters",
    }
    assert documented.get(value, f"| {value} |") in TEXT
