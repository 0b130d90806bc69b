"""Code in C tells the fuzzers what it reaches: in a library, and in a program elsewhere."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy
import pytest
from nnapi_libraries import NEEDED, TINY
from patience import SECONDS
from places import ROOT

from npu_conformance.fuzz.lib.campaign.documents import RoundJob, RoundResult
from npu_conformance.fuzz.lib.campaign.rounds import run_round
from npu_conformance.fuzz.lib.native_coverage import SIZE, VARIABLE, NativeCoverage

pytestmark = NEEDED

COUNTING = ROOT / "examples" / "native_coverage" / "npu_coverage.c"
BEHAVIOUR = 1 << 32
"""Features below it are what a subject answers; those from it on are ways through code."""

PROGRAM = """
int main(int count, char **words) {
    volatile int sum = 0;
    for (int number = 0; number < count; number++) sum += words[number][0] == 'x' ? 2 : 1;
    return sum != 0 ? 0 : 1;
}
"""


def build(folder: Path, source: Path, name: str, *flags: str) -> Path:
    """Compile a source as docs/fuzzing.md says."""
    subprocess.run(
        ["cc", "-c", "-fPIC", "-Wall", "-Wextra", "-Werror", str(COUNTING), "-o", "counting.o"],
        check=True,
        timeout=SECONDS,
        cwd=folder,
    )
    command = ["cc", "-fsanitize-coverage=trace-pc", *flags, "-o", name, str(source), "counting.o"]
    subprocess.run(command, check=True, timeout=SECONDS, cwd=folder)
    return folder / name


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.c").write_text(PROGRAM)
    return build(folder, folder / "program.c", "program")


@pytest.fixture
def coverage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NativeCoverage:
    monkeypatch.setenv(VARIABLE, "")
    return NativeCoverage(tmp_path / "coverage")


def ways(coverage: NativeCoverage, program: Path, *words: str) -> frozenset[int]:
    coverage.begin()
    subprocess.run([str(program), *words], check=True, timeout=SECONDS, env={**os.environ})
    return coverage.features()


def test_equal_inputs_take_equal_ways_in_each_process_and_others_other_ones(
    program: Path, coverage: NativeCoverage
) -> None:
    plain, again, other = (ways(coverage, program, *words) for words in (("a",), ("b",), ("x",)))
    assert plain
    assert plain == again
    assert other - plain


def test_how_often_a_way_is_taken_counts_roughly(program: Path, coverage: NativeCoverage) -> None:
    few, some, more = (ways(coverage, program, *["a"] * count) for count in (4, 5, 90))
    assert few == some
    assert few != more


def test_without_a_table_nothing_is_counted(program: Path, coverage: NativeCoverage) -> None:
    subprocess.run([str(program), "a"], check=True, timeout=SECONDS, env={**os.environ, VARIABLE: "/nowhere"})
    assert coverage.features() == frozenset()


def test_a_file_of_another_size_is_no_table(program: Path, tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(bytes(SIZE // 2))
    subprocess.run([str(program), "a"], check=True, timeout=SECONDS, env={VARIABLE: str(tmp_path / "short")})
    assert not any((tmp_path / "short").read_bytes())


def test_each_feature_names_its_way_and_its_bucket(coverage: NativeCoverage) -> None:
    table = numpy.frombuffer(coverage._map, numpy.uint8)
    table[[7, 8, 9]] = [1, 255, 4]
    assert sorted(feature - BEHAVIOUR for feature in coverage.features()) == [7 * 16 + 1, 8 * 16 + 8, 9 * 16 + 4]
    coverage.begin()
    assert coverage.features() == frozenset()


class Counting:
    """A table in which a process elsewhere counts while numpy looks at it."""

    def copy(self) -> numpy.ndarray:
        return numpy.array([0, 1], numpy.uint8)

    def nonzero(self) -> tuple[numpy.ndarray]:
        raise RuntimeError("number of non-zero array elements changed during function execution.")


def test_a_process_that_still_counts_does_no_harm(coverage: NativeCoverage) -> None:
    numpy.frombuffer(coverage._map, numpy.uint8)[1] = 1
    coverage._table = Counting()  # type: ignore[assignment]
    assert coverage.features() == {BEHAVIOUR + 1 * 16 + 1}


def covered(result: RoundResult) -> int:
    return len({feature for kept in result.kept for feature in kept.features if feature >= BEHAVIOUR})


@pytest.mark.parametrize(
    ("fuzzer", "source", "spec", "flags"),
    [
        ("runtime", TINY, "{}", ("-shared", "-fPIC")),
        ("models", ROOT / "examples" / "minimal_driver.c", "exec:{}", ()),
    ],
    ids=["library", "program"],
)
def test_what_code_reaches_guides_the_search(
    tmp_path: Path, fuzzer: str, source: Path, spec: str, flags: tuple[str, ...]
) -> None:
    plugin = spec.format(build(tmp_path, source, "covered.so", *flags))
    job = RoundJob(fuzzer=fuzzer, plugin=plugin, options={}, hal=None, engine="evolution", seed=0, runs=40)
    assert covered(run_round(job)) > 20
