"""The first answer and the manifest in it: kinds of `handshakes.py`, a driver in a process of its own."""

from __future__ import annotations

from typing import Any

from rooms.kind import START, Start, Verdict

_HUGE = 10**400
_CALL_BACK = (
    '{"method": "preparedModelCallback.notify", "params": {"object": -1, "status": 0, "preparedModel": null}}\n'
)


def _acts(name: str, does: str, says: str, verdict: Verdict = "refused", **told: Any) -> Start:
    waits = told.get("do") in ("sleep", "stop")
    return Start(name, does, verdict, says, told, START if waits else 3600.0)


def _wrong(name: str, says: str, /, **manifest: Any) -> Start:
    """A manifest that breaks a rule: its one line names the field."""
    return Start(name, f"says {next(iter(manifest))} wrongly", "refused", says, {"manifest": manifest})


def _deadlines(name: str, /, **deadlines: Any) -> Start:
    return _wrong(name, "deadlines", deadlines=deadlines)


HANDSHAKES = (
    _acts("exit", "ends", "exited with status 7", do="exit"),
    _acts("abort", "aborts", "SIGABRT", do="abort"),
    _acts("fault", "faults", "SIGSEGV", do="fault"),
    _acts("sleep", "sleeps", "no answer within", do="sleep"),
    _acts("stop", "stops itself", "no answer within", do="stop"),
    _acts("child_and_exit", "leaves a child, and ends", "exited with status 0", do="child_and_exit"),
    _acts("print", "prints 20 MB first", "", "pass", do="print"),
    _acts("exit_after", "answers, and ends", "exited with status 7", "crash", after="exit"),
    _acts("greeting", "greets", "not JSON", raw="Welcome\n"),
    _acts("garbage", "sends garbage", "not JSON", raw="\xff\x00\n"),
    _acts(
        "ask_first",
        "asks for a file before it answers",
        "no method file.read",
        raw='{"id": 1, "method": "file.read", "params": {"token": 1, "offset": 0, "length": 1}}\n',
    ),
    _acts(
        "ask_exec_first",
        "asks for what there is not",
        "no method harness.exec",
        raw='{"id": 1, "method": "harness.exec"}\n',
    ),
    _acts(
        "call_back_first",
        "calls back before it answers",
        "was never given",
        raw=_CALL_BACK,
    ),
    _acts("id_wrong", "answers another request", "not outstanding", id=99),
    _acts("id_words", "answers words", "not a message", id="one"),
    _acts("error", "refuses", "no board", error={"code": -32603, "message": "no board"}),
    _acts(
        "error_for_terminals",
        "refuses with what a terminal obeys",
        "\\x1b[2J",
        error={"code": -32603, "message": "\x1b[2J\n\x00"},
    ),
    _acts(
        "error_of_100_kb",
        "refuses with 100 kB of words",
        "characters more",
        error={"code": 1, "message": "x" * 100_000},
    ),
    _acts("error_words", "refuses by words alone", "not a message", error="no"),
    _acts("version_2", "speaks another version", "protocol version 2", answer={"protocolVersion": 2}),
    _acts("version_words", "says its version in words", "protocolVersion", answer={"protocolVersion": "1"}),
    _acts("objects_null", "has null for objects", "objects", answer={"objects": None}),
    _acts(
        "objects_unknown",
        "has an object of no interface",
        "expected positive numbers",
        answer={"objects": {"gpu": 1}},
    ),
    _acts(
        "objects_shared",
        "has two interfaces of one number",
        "object 1 is no ",
        answer={"objects": {"device": 1, "manager": 1}},
    ),
    _acts("objects_zero", "has object 0", "expected positive numbers", answer={"objects": {"device": 0}}),
    _acts(
        "objects_negative",
        "has an object of the harness",
        "expected positive numbers",
        answer={"objects": {"device": -1}},
    ),
    _acts("objects_words", "has words for an object", "objects", answer={"objects": {"device": "one"}}),
    _acts("objects_huge", "has an object of 400 digits", "", "pass", answer={"objects": {"device": _HUGE}}),
    _acts(
        "objects_none",
        "has no object, though its manifest says so",
        "device, which its manifest names",
        "fail",
        answer={"objects": {}},
    ),
    _acts(
        "transports_unknown",
        "has transports that do not exist",
        "memory cannot be shared",
        "fail",
        answer={"transports": ["pigeon"]},
    ),
    _acts("transports_none", "has no transports", "memory cannot be shared", "fail", answer={"transports": []}),
    _acts("transports_words", "has a word for its transports", "transports", answer={"transports": "path"}),
    _acts("identity_words", "has words for a truth", "identity", answer={"identity": "yes"}),
    _acts("manifest_null", "has no manifest", "manifest", whole_manifest=None),
    _acts("manifest_list", "has a list for a manifest", "manifest", whole_manifest=[]),
    _acts("manifest_empty", "has an empty manifest", "manifest", whole_manifest={}),
)

MANIFESTS = (
    _wrong("name_empty", "name", name=""),
    _wrong("name_upper", "name", name="Vendor"),
    _wrong("name_folder", "name", name="../../etc"),
    _wrong("name_line", "name", name="vendor\n"),
    _wrong("name_long", "name", name="x" * 65),
    _wrong("name_number", "name", name=5),
    _wrong("vendor_for_terminals", "vendor", vendor="\x1b[2J"),
    _wrong("vendor_long", "vendor", vendor="x" * 201),
    _wrong("vendor_empty", "vendor", vendor=""),
    _wrong("version_number", "version", version=1),
    _wrong("hal_unknown", "hal_version", hal_version="9.9"),
    _wrong("hal_null", "hal_version", hal_version=None),
    _wrong("scale_zero", "time_scale", time_scale=0),
    _wrong("scale_negative", "time_scale", time_scale=-1),
    _wrong("scale_endless", "time_scale", time_scale=1e308),
    _wrong("scale_words", "time_scale", time_scale="fast"),
    _deadlines("deadline_zero", call=0),
    _deadlines("deadline_negative", call=-5),
    _deadlines("deadline_endless", call=1e308),
    _deadlines("deadline_words", call="soon"),
    _deadlines("deadline_unknown", sleep=5),
    _wrong("deadlines_list", "deadlines", deadlines=[1, 2]),
    _wrong("instances_zero", "max_instances", max_instances=0),
    _wrong("calls_zero", "concurrent_calls", concurrent_calls=0),
    _wrong("restart_unknown", "restart", restart="never"),
    _wrong("memory_zero", "memory_limit", memory_limit=0),
    _wrong("memory_beyond_64_bits", "memory_limit", memory_limit=1 << 70),
    _wrong("transports_unknown", "memory_transports", memory_transports=["pigeon"]),
    _wrong("interfaces_unknown", "interfaces", interfaces=["gpu"]),
    _wrong("options_list", "options", options=["a"]),
    _wrong("constants_words", "constants", constants={"X": "y"}),
    _wrong("claims_words", "claims", claims="all"),
    _wrong("claims_rank_words", "claims", claims=[{"operations": ["ADD"], "ranks": ["one"]}]),
    _wrong("profile_unknown", "npu_profile", npu_profile="mine"),
    _wrong("checkpoint_zero", "npu_checkpoint_ms", npu_checkpoint_ms=0),
    _wrong("reset_negative", "reset_seconds", reset_seconds=-1),
    _wrong("tool_empty", "inference_tool", inference_tool={"command": []}),
    _wrong("field_unknown", "colour", colour="red"),
    Start("tool_ignored", "names a command for the harness to run", "pass", "",
          {"manifest": {"inference_tool": {"command": ["touch", "npu-hostile-ran"], "uid": 0}}}),
    Start("reset_ignored", "names a command for a reset", "pass", "",
          {"manifest": {"reset_command": ["touch", "npu-hostile-ran"]}}),
    Start("instances_endless", "says that it has 2^62 instances", "pass", "", {"manifest": {"max_instances": 1 << 62}}),
    Start("options_many", "has 1,000 options", "pass", "",
          {"manifest": {"options": {f"o{i}": "" for i in range(1000)}}}),
)  # fmt: skip


def starts() -> dict[str, Start]:
    """The kinds of this room."""
    rooms = (("handshake", HANDSHAKES), ("manifest", MANIFESTS))
    return {f"{room}.{start.name}": start for room, table in rooms for start in table}
