"""Every rule that a manifest breaks is told, as msgspec words it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from npu_conformance.specs.documents.problems import problems
from npu_conformance.specs.manifest import Manifest

SOUND = {"name": "mine", "vendor": "v", "version": "1"}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, []),
        ({"name": 3, "time_scale": 0}, ["$.name: Expected `str`, got `int`", "$.time_scale: Expected `float` > 0.0"]),
        (
            {"interfaces": ["device", "devise"], "deadlines": {"call": -1, "prepar": 2}},
            [
                "$.interfaces[1]: Invalid enum value 'devise'; expected one of",
                "$.deadlines.call: Expected `float` > 0.0",
                "$.deadlines: Object contains unknown field `prepar` (did you mean prepare?)",
            ],
        ),
        (
            {"claims": [{}, {"operations": ["ADD"], "ranks": "4"}]},
            [
                "$.claims[0]: Object missing required field `operations`",
                "$.claims[1].ranks: Expected `array`, got `str`",
            ],
        ),
        ({"constants": {"A": "b"}, "claims": 3}, ["$.constants[...]: Expected `int`", "$.claims: Expected `array`"]),
    ],
)
def test_each_problem_has_its_path(wrong: dict[str, Any], told: list[str]) -> None:
    found = problems({**SOUND, **wrong}, Manifest)
    assert len(found.split("; $")) == max(1, len(told))
    assert all(line in found for line in told), found
    assert bool(found) == bool(told)


def test_what_is_missing_is_told_with_the_rest() -> None:
    found = problems({"vendor": 1}, Manifest)
    words = ("missing required field `name`", "$.vendor: Expected `str`", "missing required field `version`")
    assert all(each in found for each in words), found


def test_no_more_than_ten_have_words() -> None:
    found = problems({**SOUND, **{f"f{number}": 1 for number in range(13)}}, Manifest)
    assert found.count("unknown field") == 10
    assert found.endswith("; and 3 more")


def test_what_msgspec_takes_has_no_problem() -> None:
    full = msgspec.to_builtins(Manifest(name="mine", vendor="v", version="1", reset_command=("a", "b")))
    assert problems(msgspec.json.decode(msgspec.json.encode(full)), Manifest) == ""
