"""What must hold of the calls that a driver gets for a compilation with a token, one after the other.

A part whose files are all there is asked for from its cache. Where that fails the model is prepared with the same token
and all files. Who dies in either is asked once more. Tokens stand for all that a prepared model depends on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import msgspec

from npu_conformance.harness.judge import checks
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import DriverCall, DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import BYTE_SIZE_OF_CACHE_TOKEN

FROM_CACHE, PREPARE = "prepare_model_from_cache", "prepare_model"
DEATHS = ("dies", "dies_later")


class Files(Enum):
    """What is known of the files of a token: all there, none or some missing, all there and spoilt, or nothing."""

    COMPLETE = "complete"
    MISSING = "missing"
    SPOILT = "spoilt"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Preparation:
    """A call that prepares. found: how it was to misbehave."""

    call: DriverCall
    found: Misbehaviour | None

    @property
    def is_from_cache(self) -> bool:
        """Whether it is from the cache."""
        return self.call.method == FROM_CACHE

    @property
    def has_died(self) -> bool:
        """Whether the driver died in it."""
        return self.found is not None and self.found.kind in DEATHS


@dataclass
class Numbered:
    """Reads what a driver was asked to prepare since the last time, with how each call was to misbehave."""

    script: DriverScript
    _seen: int = 0
    _counts: dict[str, int] = field(default_factory=dict)

    def new(self, calls: Sequence[DriverCall]) -> list[Preparation]:
        """The new ones. A call that found the process dead was not made."""
        news, self._seen = calls[self._seen :], len(calls)
        found = [self._numbered(call) for call in news if call.method.startswith(PREPARE)]
        return [one for one in found if one is not None]

    def _numbered(self, call: DriverCall) -> Preparation | None:
        method = FROM_CACHE if call.method == FROM_CACHE else PREPARE
        number = self._counts.get(method, 0) + 1
        found = next((one for one in self.script.misbehaviours if _is(one, method, number)), None)
        if call.status == ErrorStatus.DEVICE_UNAVAILABLE and found is None:
            return None
        self._counts[method] = number
        return Preparation(call, found)


def _is(one: Misbehaviour, method: str, number: int) -> bool:
    return one.method == method and one.first <= number < one.first + one.count


@dataclass
class Entry:
    """What is known of a token: of which compilation and of which model it is, and of its files."""

    about: object
    model: bytes | None = None
    files: Files = Files.MISSING


@dataclass
class CacheModel:
    """What is cached, by token."""

    entries: dict[bytes, Entry] = field(default_factory=dict)

    def judge(self, script: DriverScript, about: object, asked: Sequence[Preparation]) -> list[bytes]:
        """Judge what a driver was asked in one compilation; returns the tokens of its parts, in order.

        about: all that a token stands for but the part: who asks for the same again gets the same.
        """
        left, tokens = list(asked), []
        while left:
            token = left[0].call.token
            with checks.about("FW-CAC-004"):
                checks.equal(len(token), BYTE_SIZE_OF_CACHE_TOKEN, "bytes of a token")
                checks.that(token not in tokens, "expected a token for each part, found one for two of them")
            entry = self.entries.setdefault(token, Entry(about))
            with checks.about("FW-CAC-004"):
                checks.equal(entry.about, about, "what the token was used for before")
            _judge_part(script, entry, left, token)
            tokens.append(token)
        return tokens


def _judge_part(script: DriverScript, entry: Entry, left: list[Preparation], token: bytes) -> None:
    """Take the calls for one part from what is left."""
    first = left[0]
    if entry.files in (Files.COMPLETE, Files.MISSING):
        with checks.about("FW-CAC-003"):
            expected = entry.files is Files.COMPLETE
            checks.equal(first.is_from_cache, expected, f"whether {script.name} is first asked for what it cached")
    if first.is_from_cache:
        last = _taken(script, left, token)
        if last.found is None and entry.files is Files.COMPLETE:
            return
        follows = bool(left) and left[0].call.token == token and not left[0].is_from_cache
        if last.found is None and not follows:
            return  # of no use or not, the driver says
        with checks.about("FW-CAC-003"):
            checks.that(follows, f"{script.name} could not use its cache: expected prepareModel with its token")
    last = _taken(script, left, token)
    _judge_model(entry, last.call)
    is_saved = last.call.model_cache + last.call.data_cache > 0 and last.found is None
    entry.files = Files.COMPLETE if is_saved else Files.UNKNOWN


def _taken(script: DriverScript, left: list[Preparation], token: bytes) -> Preparation:
    """The call that comes first; where the driver died in it that which asks once more."""
    first = left.pop(0)
    _judge_files(script, first.call)
    if not first.has_died:
        return first
    with checks.about("FW-VER-003"):
        is_again = bool(left) and left[0].call.token == token and left[0].is_from_cache == first.is_from_cache
        checks.that(
            is_again, f"{script.name} died in {first.call.method} and is back: expected the same call once more"
        )
        checks.equal(_files(left[0].call), _files(first.call), "cache files of the repeated call")
    return left.pop(0)


def _files(call: DriverCall) -> tuple[int, int]:
    return call.model_cache, call.data_cache


def _judge_files(script: DriverScript, call: DriverCall) -> None:
    wanted = script.cache_files.num_model_cache, script.cache_files.num_data_cache
    with checks.about("FW-CAC-005"):
        checks.member(_files(call), (wanted, (0, 0)), f"cache files that {script.name} gets")
        if call.method == FROM_CACHE:
            checks.equal(_files(call), wanted, f"cache files that {script.name} gets back")


def _judge_model(entry: Entry, call: DriverCall) -> None:
    """A token is of one model alone."""
    model = msgspec.json.encode(call.model)
    with checks.about("FW-CAC-004"):
        checks.that(entry.model in (None, model), "expected another token for another part of the model")
    entry.model = model
