"""Which calls a driver gets for a compilation with a token, by what it caches and what there is already."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.cache_folder import CacheFolder
from npu_conformance.cts.lib.runtime.fixture import CPU
from npu_conformance.cts.lib.runtime.net_app import Options
from npu_conformance.cts.lib.runtime.nets import add, chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.types import NumberOfCacheFiles
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.caching.calls", interface="runtime", since=Version.V1_2)

_COUNTS = ((1, 0), (1, 1), (2, 3), (32, 32))
_FROM_CACHE = "prepare_model_from_cache"
_TOKEN = bytes(32)
_HOUR = 3_600_000_000_000
_TOKENS = 32
"""So many that two of them very likely begin alike, hashed or not."""
_FAILURES = {
    "general_failure": Misbehaviour(_FROM_CACHE, "status", int(ErrorStatus.GENERAL_FAILURE)),
    "invalid_argument": Misbehaviour(_FROM_CACHE, "status", int(ErrorStatus.INVALID_ARGUMENT)),
    "device_unavailable": Misbehaviour(_FROM_CACHE, "callback", int(ErrorStatus.DEVICE_UNAVAILABLE)),
    "null": Misbehaviour(_FROM_CACHE, "null"),
}


class _Cached:
    """A runtime with one driver, and a folder for its cache."""

    def __init__(self, context: CaseContext, *scripts: DriverScript) -> None:
        self.app = ScriptedApp(context, *scripts)
        self.folder = CacheFolder(context)
        self._seen = 0

    def compile(self, *devices: str, token: bytes = _TOKEN) -> None:
        """Compile an ADD with the cache, and compute it rightly."""
        options = Options(cache=(self.folder.argument, token))
        self.app.computes_rightly(self.app.compiled(add(), *devices, options=options))

    def calls(self) -> list[tuple[str, int, int]]:
        """Preparations that the driver was asked for since the last time, with the numbers of files."""
        found = self.app.calls("one", "prepare_model")
        new, self._seen = found[self._seen :], len(found)
        return [(_plain(call.method), call.model_cache, call.data_cache) for call in new]


def _plain(method: str) -> str:
    """Newer HALs have a second method to prepare a model."""
    return "prepare_model" if method == "prepare_model_with_config" else method


def _script(models: int, data: int, *misbehaviours: Misbehaviour, hal: Version = Version.FL8) -> DriverScript:
    files = NumberOfCacheFiles(models, data)
    return driver("one", hal=hal, exec_time=FAST, cache_files=files, misbehaviours=misbehaviours)


def _declare_counts(models: int, data: int) -> None:
    @cases.case(
        f"files_{models}_{data}",
        "FW-CAC-003",
        "FW-CAC-005",
        scope=Scope.SMOKE if models == data == 1 else Scope.DEFAULT,
    )
    def with_files(context: CaseContext) -> None:
        """First the model is prepared with as many files as the driver wants; then it comes from the cache alone."""
        cached = _Cached(context, _script(models, data))
        cached.compile()
        checks.equal(cached.calls(), [("prepare_model", models, data)], "calls for a cache that is empty")
        checks.equal(len(cached.folder.files()), models + data, "files of the cache")
        cached.compile()
        checks.equal(cached.calls(), [(_FROM_CACHE, models, data)], "calls for a cache that is complete")


for _models, _data in _COUNTS:
    _declare_counts(_models, _data)


@cases.case("files_0_1", "FW-CAC-003", "FW-CAC-005")
def data_files_only(context: CaseContext) -> None:
    """A driver that wants data files alone gets those, and is asked for what it cached; that may be too little."""
    cached = _Cached(context, _script(0, 1))
    for expected in ("prepare_model", _FROM_CACHE):
        cached.compile()
        checks.equal(cached.calls()[:1], [(expected, 0, 1)], "first call for a cache of data files")


def _declare_failure(name: str, misbehaviour: Misbehaviour) -> None:
    @cases.case(f"from_cache_fails.{name}", "FW-CAC-003", "FW-CAC-005")
    def from_cache_fails(context: CaseContext) -> None:
        """Where the driver cannot use what was cached the model is prepared anew, with the files."""
        cached = _Cached(context, _script(1, 2, misbehaviour))
        cached.compile()
        cached.calls()
        for devices in ((), ("one",)):
            cached.compile(*devices)
            checks.equal(cached.calls(), [(_FROM_CACHE, 1, 2), ("prepare_model", 1, 2)], "calls for a cache of no use")


for _name, _misbehaviour in _FAILURES.items():
    _declare_failure(_name, _misbehaviour)


@cases.case("from_cache_dies", "FW-CAC-003", "FW-VER-003")
def from_cache_dies(context: CaseContext) -> None:
    """A driver that dies each time that it is to use its cache, and is back at once, prepares the model anew."""
    script = replace(_script(1, 2, Misbehaviour(_FROM_CACHE, "dies", count=2)), restarts=True)
    for devices in ((), ("one",)):
        cached = _Cached(context, script)
        cached.compile()
        cached.calls()
        cached.compile(*devices)
        found = cached.calls()
        checks.equal(found[:1], [(_FROM_CACHE, 1, 2)], "first call for a cache that kills")
        checks.equal(found[-1:], [("prepare_model", 1, 2)], "last call for a cache that kills")
        cached.app.close()


@cases.case("from_cache_fails_in_one_part", "FW-CAC-003", "FW-CAC-004", "FW-PRT-006")
def from_cache_fails_in_one_part(context: CaseContext) -> None:
    """Where a part cannot be had from the cache the others still are; it is prepared with the token of before."""
    files = NumberOfCacheFiles(1, 1)
    for misbehaviour in (_FAILURES["general_failure"], _FAILURES["null"]):
        broken = driver(
            "one", "ADD", exec_time=FAST, cache_files=files, misbehaviours=(replace(misbehaviour, count=1),)
        )
        app, folder = (
            ScriptedApp(context, broken, driver("two", "MUL", exec_time=FAST, cache_files=files)),
            CacheFolder(context),
        )
        for turn in range(2):
            seen = {name: len(app.calls(name, "prepare_model")) for name in app.driver_names}
            options = Options(cache=(folder.argument, _TOKEN))
            app.computes_rightly(app.compiled(chain("ADD", "MUL", "ADD", "MUL"), options=options))
            new = {name: app.calls(name, "prepare_model")[seen[name] :] for name in app.driver_names}
            if turn:
                asked, tokens = [_plain(one.method) for one in new["one"]], [one.token for one in new["one"]]
                checks.equal(asked, [_FROM_CACHE, "prepare_model", _FROM_CACHE], "calls of the driver that fails once")
                checks.equal(tokens[0], tokens[1], "token of the part whose cache was of no use")
                checks.equal([_plain(one.method) for one in new["two"]], [_FROM_CACHE] * 2, "calls of the other driver")
        app.close()


@cases.case("no_caching", "FW-CAC-002", "FW-CAC-005")
def no_caching(context: CaseContext) -> None:
    """A driver that wants no files gets none, and makes none."""
    cached = _Cached(context, _script(0, 0))
    for _ in range(2):
        cached.compile()
        checks.equal(cached.calls(), [("prepare_model", 0, 0)], "calls for a driver without caching")
    checks.equal(cached.folder.files(), [], "files of the cache")


@cases.case("every_version", "FW-CAC-003", "FW-VER-001")
def every_version(context: CaseContext) -> None:
    """Drivers of HAL 1.2 and later cache; before there are no files."""
    for hal in Version:
        cached = _Cached(context, _script(1, 1, hal=hal))
        has_files = hal >= Version.V1_2
        for expected in ("prepare_model", _FROM_CACHE if has_files else "prepare_model"):
            cached.compile()
            count = 1 if has_files else 0
            checks.equal(cached.calls(), [(expected, count, count)], f"calls for a driver of {hal}")
        cached.app.close()


def _declare_missing(models: int, data: int, missing: int) -> None:
    @cases.case(f"missing.{models}_{data}_{missing}", "FW-CAC-003")
    def missing_file(context: CaseContext) -> None:
        """Where one file is missing the driver is not asked to use the others: the model is prepared with all."""
        cached = _Cached(context, _script(models, data))
        cached.compile()
        cached.calls()
        files = cached.folder.files()
        checks.equal(len(files), models + data, "files of the cache")
        files[missing].unlink()
        cached.compile()
        checks.equal(cached.calls(), [("prepare_model", models, data)], "calls for a cache that lacks a file")
        cached.compile()
        checks.equal(cached.calls(), [(_FROM_CACHE, models, data)], "calls for a cache that is complete again")


for _place in range(3):
    _declare_missing(2, 1, _place)


@cases.case("other_token", "FW-CAC-003", "FW-CAC-004")
def other_token(context: CaseContext) -> None:
    """Another token finds nothing of the first, and has files of its own."""
    cached = _Cached(context, _script(1, 1))
    for token in (_TOKEN, b"\x01" * 32):
        cached.compile(token=token)
        checks.equal(cached.calls(), [("prepare_model", 1, 1)], "calls for a token that is new")
    checks.equal(len(cached.folder.files()), 4, "files of the cache for two tokens")


@cases.case("cpu", "FW-CAC-002")
def cpu(context: CaseContext) -> None:
    """The CPU caches nothing, and a token for it does no harm."""
    cached = _Cached(context, _script(1, 1))
    for _ in range(2):
        cached.compile(CPU)
    checks.equal((cached.calls(), cached.folder.files()), ([], []), "calls of the driver, and files of the cache")


@cases.case("in_parts", "FW-CAC-003", "FW-CAC-004", "FW-PRT-006")
def in_parts(context: CaseContext) -> None:
    """Parts of a model come from the cache each, and fit together again."""
    files = NumberOfCacheFiles(1, 1)
    one = driver("one", "ADD", exec_time=FAST, cache_files=files)
    app, folder = ScriptedApp(context, one, driver("two", "MUL", exec_time=FAST)), CacheFolder(context)
    for method in ("prepare_model", _FROM_CACHE):
        before = len(app.calls("one", "prepare_model"))
        options = Options(cache=(folder.argument, _TOKEN))
        app.computes_rightly(app.compiled(chain("ADD", "MUL", "ADD", "SUB"), options=options))
        found = [_plain(call.method) for call in app.calls("one", "prepare_model")[before:]]
        checks.equal(found, [method] * 2, "calls for the two parts of the driver")


@cases.case("deadline", "FW-QOS-001", "FW-CAC-003", since=Version.V1_3)
def deadline(context: CaseContext) -> None:
    """The time by which a compilation has to end is told to a driver that takes the model from its cache, too."""
    app, folder = ScriptedApp(context, _script(1, 1)), CacheFolder(context)
    options = Options(timeout_ns=_HOUR, cache=(folder.argument, _TOKEN))
    for _ in range(2):
        app.computes_rightly(app.compiled(add(), "one", options=options))
    checks.equal(_plain(app.last_call("one", "prepare_model").method), _FROM_CACHE, "the last preparation")
    for call in app.calls("one", "prepare_model"):
        checks.that(0 < call.deadline_ns < 2**63, f"deadline in {call.method}: expected one, found {call.deadline_ns}")


@cases.case("many_tokens", "FW-CAC-004", "FW-CAC-006")
def many_tokens(context: CaseContext) -> None:
    """What was cached for a token is still there when many others were used: no two have files in common."""
    app, folder = ScriptedApp(context, _script(1, 1)), CacheFolder(context)
    for expected in ("prepare_model", _FROM_CACHE):
        before = len(app.calls("one", "prepare_model"))
        for number in range(_TOKENS):
            options = Options(cache=(folder.argument, bytes(31) + bytes([number])))
            app.compiled(add(), "one", options=options)
        asked = {_plain(call.method) for call in app.calls("one", "prepare_model")[before:]}
        checks.equal(asked, {expected}, f"calls for {_TOKENS} tokens, one after the other")
