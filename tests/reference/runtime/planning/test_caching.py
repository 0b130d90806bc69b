"""Compilation caching: tokens, names, and what drivers are asked (FW-CAC)."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from runtime_plans import Planning, chain, numbers, supporting

from npu_conformance.reference.runtime.planning.caching import effective_token, file_name
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode

ADD, MUL = OperationType.ADD, OperationType.MUL
TOKEN = bytes(range(32))
BASE: dict[str, Any] = {
    "token": TOKEN,
    "device": "driver",
    "version": "1",
    "preference": 1,
    "priority": 100,
    "operations": ((0, 0), (0, 1)),
}
CHANGES: dict[str, Any] = {
    "token": bytes(32),
    "device": "drive",
    "version": "r1",
    "preference": 0,
    "priority": 90,
    "operations": ((0, 1), (0, 0)),
}


def test_every_change_gives_another_token() -> None:
    variants = [BASE, *({**BASE, name: value} for name, value in CHANGES.items())]
    variants += [
        {**BASE, "operations": operations} for operations in ((), ((0, 0),), ((1, 0), (0, 1)), ((0, 0), (0, 2)))
    ]
    variants.append({**BASE, "device": "drive", "version": "r1"})
    found = [effective_token(**variant) for variant in variants]
    assert all(len(token) == 32 for token in found)
    assert all(one != other for one, other in itertools.combinations(found, 2))
    assert effective_token(**BASE) == found[0]


def test_without_token_there_is_none() -> None:
    assert effective_token(b"", "driver", "1", 1, 100) == b""


def test_names_of_files_spell_the_token_in_letters() -> None:
    name = file_name(bytes([0x1F, 0xA0]) + bytes(30), "1", 12)
    assert name == "PB" + "AK" + "A" * 60 + "112"


def compiled(planning: Planning, folder: Path, *explicit: str, **options: Any) -> None:
    plan = planning.compile(chain(ADD), *explicit, cache_dir=str(folder), cache_token=TOKEN, **options)
    outcome, found = planning.run(plan, [numbers()])
    assert outcome.result == ResultCode.NO_ERROR
    assert found[0].tolist() == [[2, 4, 6], [5, 7, 9]]


def calls(planning: Planning) -> list[tuple[str, int, int]]:
    recorded = planning.services["a"].calls
    return [(call.method, call.model_cache, call.data_cache) for call in recorded if call.method.startswith("prepare")]


@pytest.mark.parametrize("files", [(1, 0), (0, 1), (2, 3), (32, 32)])
def test_the_second_compilation_comes_from_the_cache(tmp_path: Path, files: tuple[int, int]) -> None:
    planning = Planning(DriverScript("a", cache_files=types.NumberOfCacheFiles(*files)))
    compiled(planning, tmp_path)
    compiled(planning, tmp_path, "a")
    assert calls(planning) == [("prepare_model", *files), ("prepare_model_from_cache", *files)]
    assert len(list(tmp_path.iterdir())) == sum(files)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_a_missing_file_is_a_cache_that_does_not_exist(tmp_path: Path) -> None:
    planning = Planning(DriverScript("a", cache_files=types.NumberOfCacheFiles(2, 1)))
    compiled(planning, tmp_path)
    next(tmp_path.iterdir()).unlink()
    compiled(planning, tmp_path)
    assert calls(planning) == [("prepare_model", 2, 1)] * 2


def test_a_driver_that_cannot_restore_prepares_again(tmp_path: Path) -> None:
    broken = (Misbehaviour("prepare_model_from_cache", status=ErrorStatus.GENERAL_FAILURE),)
    planning = Planning(DriverScript("a", cache_files=types.NumberOfCacheFiles(1, 1), misbehaviours=broken))
    compiled(planning, tmp_path)
    compiled(planning, tmp_path)
    assert calls(planning) == [
        ("prepare_model", 1, 1),
        ("prepare_model_from_cache", 1, 1),
        ("prepare_model", 1, 1),
    ]


def test_without_caching_there_are_no_handles(tmp_path: Path) -> None:
    planning = Planning(DriverScript("a"))
    compiled(planning, tmp_path)
    planning.compile(chain(ADD))
    assert calls(planning) == [("prepare_model", 0, 0)] * 2
    assert not list(tmp_path.iterdir())


def test_steps_have_tokens_of_their_own(tmp_path: Path) -> None:
    files = types.NumberOfCacheFiles(1, 0)
    planning = Planning(DriverScript("a", operations=supporting(ADD), cache_files=files))
    planning.compile(chain(ADD, MUL, ADD), cache_dir=str(tmp_path), cache_token=TOKEN)
    tokens = {call.token for call in planning.services["a"].calls if call.method == "prepare_model"}
    assert len(tokens) == 2


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    planning = Planning(DriverScript("a", cache_files=types.NumberOfCacheFiles(1, 1)))
    compiled(planning, tmp_path / "missing")
    assert calls(planning) == [("prepare_model", 0, 0)]
