"""The token under which drivers cache: it changes with all that a compiled model depends on.

What the app gives is hashed with the device, the options and the part of the model (FW-CAC-004).
"""

from __future__ import annotations

import itertools

from npu_conformance.cts.lib.runtime.cache_folder import CacheFolder
from npu_conformance.cts.lib.runtime.control_flow_nets import if_net
from npu_conformance.cts.lib.runtime.net_app import NetApp, Options
from npu_conformance.cts.lib.runtime.nets import Net, NetBuilder, chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.runtime.result_codes import BYTE_SIZE_OF_CACHE_TOKEN, RuntimePriority
from npu_conformance.specs.neuralnetworks.types import NumberOfCacheFiles
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.caching.tokens", interface="runtime", since=Version.V1_2)

_FILES = NumberOfCacheFiles(1, 1)
_TOKEN = bytes(range(BYTE_SIZE_OF_CACHE_TOKEN))
_OTHER = _TOKEN[::-1]
_BINARY = ("ADD", "MUL", "SUB")


def _caching(name: str = "one", *operations: str, version: str = "1") -> DriverScript:
    return driver(name, *operations, version_string=version, exec_time=FAST, cache_files=_FILES)


def _tokens(
    context: CaseContext,
    script: DriverScript,
    net: Net,
    *,
    token: bytes = _TOKEN,
    preference: int = ExecutionPreference.FAST_SINGLE_ANSWER,
    priority: int | None = None,
    devices: tuple[str, ...] = (),
) -> list[bytes]:
    """The tokens that a driver gets in one compilation, one for each part."""
    app = ScriptedApp(context, script)
    cache = (CacheFolder(context).argument, token)
    app.compiled(net, *devices, options=Options(int(preference), priority, cache=cache))
    tokens = [call.token for call in app.calls(script.name, "prepare_model")]
    app.close()
    for one in tokens:
        checks.equal(len(one), BYTE_SIZE_OF_CACHE_TOKEN, "bytes of a token that a driver got")
    return tokens


def _token(context: CaseContext, script: DriverScript | None = None, **options: object) -> bytes:
    tokens = _tokens(context, script or _caching(), chain("ADD", "MUL"), **options)  # type: ignore[arg-type]
    return checks.single(tokens, "tokens that the driver got")


def _different(tokens: dict[str, bytes]) -> None:
    """Check that no two of them are equal."""
    seen: dict[bytes, str] = {}
    for name, token in tokens.items():
        if token in seen:
            checks.fail("tokens", f"another one for {name} than for {seen[token]}", token.hex())
        seen[token] = name


@cases.case("stable", "FW-CAC-004", scope=Scope.SMOKE)
def stable(context: CaseContext) -> None:
    """The same compilation has the same token, in another folder and among other drivers too."""
    checks.equal(_token(context), _token(context), "token of the same compilation")


@cases.case("user_token", "FW-CAC-004")
def user_token(context: CaseContext) -> None:
    """Each bit of the app's token counts."""
    flipped = {f"byte {place}": _flipped(place) for place in (0, 1, 15, 30, 31)}
    tokens = {name: _token(context, token=token) for name, token in flipped.items()}
    _different({"the token": _token(context), "its reverse": _token(context, token=_OTHER), **tokens})


def _flipped(place: int) -> bytes:
    return _TOKEN[:place] + bytes([_TOKEN[place] ^ 1]) + _TOKEN[place + 1 :]


@cases.case("of_two_models", "FW-CAC-004", "FW-GEN-002")
def of_two_models(context: CaseContext) -> None:
    """Two models in one folder, with tokens that differ in a bit, compute what is theirs, the second time as well."""
    app, net, other = NetApp(context), chain("ADD"), chain("MUL")
    for device, names in {"default": (), **app.able(net, other)}.items():
        for place in (0, 15, 31):
            with context.configuration(f"{device}.byte_{place}"):
                folder = CacheFolder(context).argument
                for each, token in ((net, _TOKEN), (other, _flipped(place))) * 2:
                    app.computes_rightly(app.compiled(each, *names, options=Options(cache=(folder, token))))


@cases.case("not_the_app_s", "FW-CAC-004")
def not_the_app_s(context: CaseContext) -> None:
    """A driver does not get the app's token itself."""
    checks.that(_token(context) != _TOKEN, "expected another token than the app's, found the app's")


@cases.case("device_name", "FW-CAC-004")
def device_name(context: CaseContext) -> None:
    """The name of the device counts."""
    _different({name: _token(context, _caching(name)) for name in ("one", "two", "on")})


@cases.case("device_version", "FW-CAC-004")
def device_version(context: CaseContext) -> None:
    """The version string of the device counts: after an update nothing old is used."""
    _different({version: _token(context, _caching(version=version)) for version in ("1", "2", "1.0")})


@cases.case("preference", "FW-CAC-004")
def preference(context: CaseContext) -> None:
    """The preference counts."""
    _different({one.name: _token(context, preference=one, devices=("one",)) for one in ExecutionPreference})


@cases.case("priority", "FW-CAC-004", since=Version.V1_3)
def priority(context: CaseContext) -> None:
    """The priority counts; not to set it is to set MEDIUM."""
    tokens = {one.name: _token(context, priority=int(one)) for one in RuntimePriority}
    _different(tokens)
    checks.equal(_token(context), tokens["MEDIUM"], "token without a priority")


@cases.case("priority_unseen", "FW-CAC-004", since=Version.V1_3)
def priority_unseen(context: CaseContext) -> None:
    """The priority counts for a driver of HAL 1.2 too, which does not see it."""
    old = driver("one", hal=Version.V1_2, exec_time=FAST, cache_files=_FILES)
    _different({one.name: _token(context, old, priority=int(one)) for one in RuntimePriority})


@cases.case("pairs", "FW-CAC-004", since=Version.V1_3)
def pairs(context: CaseContext) -> None:
    """Any two compilations that differ in any of these have different tokens."""
    tokens = {}
    for name in ("one", "two"):
        for version in ("1", "2"):
            for user in (_TOKEN, _OTHER):
                for choice in (ExecutionPreference.LOW_POWER, ExecutionPreference.SUSTAINED_SPEED):
                    for importance in (RuntimePriority.LOW, RuntimePriority.HIGH):
                        key = f"{name} {version} {user[:1].hex()} {choice.name} {importance.name}"
                        script = _caching(name, version=version)
                        tokens[key] = _token(
                            context, script, token=user, preference=choice, priority=int(importance), devices=(name,)
                        )
    _different(tokens)


@cases.case("parts", "FW-CAC-004")
def parts(context: CaseContext) -> None:
    """Each of several parts of one model has a token of its own."""
    tokens = _tokens(context, _caching("one", "ADD"), chain("ADD", "MUL", "ADD", "MUL", "ADD"))
    checks.equal(len(tokens), 3, "parts that the driver got")
    _different({f"part {number}": token for number, token in enumerate(tokens)})


@cases.case("parts_and_whole", "FW-CAC-004")
def parts_and_whole(context: CaseContext) -> None:
    """A part that has other operations of the model has another token, and the whole model another again.

    A runtime may make several parts of what one driver computes: then it is their tokens together that differ.
    """
    builder = NetBuilder()
    first, second = builder.input(), builder.input()
    net = builder.net(
        *(builder.binary(name, first, second) for name in _BINARY), builder.apply("MAXIMUM", first, second)
    )
    tokens = {}
    for count in range(1, 5):
        for operations in itertools.combinations((*_BINARY, "MAXIMUM"), count):
            found = _tokens(context, _caching("one", *operations), net)
            checks.that(bool(found), "tokens that the driver got: expected one at least, found none")
            tokens[" ".join(operations)] = b"".join(sorted(found))
    _different(tokens)


@cases.case("parts_stable", "FW-CAC-004")
def parts_stable(context: CaseContext) -> None:
    """A part has the same token when the same model is compiled again."""
    net = chain("ADD", "MUL", "ADD")
    first, second = (_tokens(context, _caching("one", "ADD"), net) for _ in range(2))
    checks.equal(sorted(first), sorted(second), "tokens of the parts")


@cases.case("branches", "FW-CAC-004", since=Version.V1_3)
def branches(context: CaseContext) -> None:
    """The operations at the same place of the branches of an IF have tokens of their own."""
    tokens = _tokens(context, _caching("one", "ADD"), if_net(("ADD", "MUL"), ("ADD", "SUB")))
    checks.equal(len(tokens), 2, "parts that the driver got")
    _different({f"branch {number}": token for number, token in enumerate(tokens)})


@cases.case("none", "FW-CAC-002", scope=Scope.SMOKE)
def none(context: CaseContext) -> None:
    """Without a token from the app a driver gets none, and no files; it is not asked for what was cached."""
    app = ScriptedApp(context, _caching())
    for net in (chain("ADD"), chain("ADD", "MUL")):
        app.computes_rightly(app.compiled(net))
    found = [
        (call.method, call.token.strip(b"\0"), call.model_cache, call.data_cache)
        for call in app.calls("one", "prepare")
    ]
    expected = [(name, b"", 0, 0) for name, *_ in found]
    checks.equal(found, expected, "preparations without a token")
    checks.that(all("from_cache" not in call.method for call in app.calls("one")), "expected no preparation from cache")
