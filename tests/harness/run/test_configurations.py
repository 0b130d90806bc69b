"""The configurations of a case: each has a verdict, and the case the worst of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from npu_conformance.harness.judge.verdicts import Crashed, Failed, NotApplicable, NotSupported
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.engine import Engine, EngineOptions, Run
from npu_conformance.specs.outcomes import Outcome

MakeCase = Callable[..., Case]


def run(cases: list[Case], subject: Any, recorder: Any, **options: Any) -> Run:
    return Engine(cases, subject, recorder, EngineOptions(**options)).run()


def test_a_case_has_the_worst_of_its_configurations(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    def body(context: Any) -> None:
        with context.configuration("good"):
            pass
        with context.configuration("bad"):
            raise Failed("wrong", "1", "2")
        with context.configuration("elsewhere"):
            raise NotApplicable("not here")

    verdict = run([make_case("a", body)], subject, recorder).results[0]
    assert verdict.outcome is Outcome.FAIL
    assert verdict.own_outcome is Outcome.PASS
    found = {part.name: part.outcome for part in verdict.configurations}
    assert found == {"good": Outcome.PASS, "bad": Outcome.FAIL, "elsewhere": Outcome.NOT_APPLICABLE}
    assert (verdict.configurations[1].expected, verdict.configurations[1].found) == ("1", "2")


def test_a_case_passes_by_what_was_executed_where_the_driver_declines_the_rest(
    make_case: MakeCase, subject: Any, recorder: Any
) -> None:
    def body(context: Any) -> None:
        for name in ("specified", "unspecified"):
            with context.configuration(name):
                if name == "unspecified":
                    raise NotSupported("not supported: ADD")

    def nothing(context: Any) -> None:
        with context.configuration("unspecified"):
            raise NotSupported("not supported: ADD")

    def ends(context: Any) -> None:
        with context.configuration("specified"):
            pass
        raise NotSupported("the extension is not listed")

    cases = [make_case("a", body), make_case("b", nothing), make_case("c", ends)]
    found = run(cases, subject, recorder).results
    assert [one.outcome for one in found] == [Outcome.PASS, Outcome.NOT_SUPPORTED, Outcome.NOT_SUPPORTED]
    assert found[0].configurations[1].outcome is Outcome.NOT_SUPPORTED


def test_a_case_whose_configurations_do_not_apply_does_not_apply(
    make_case: MakeCase, subject: Any, recorder: Any
) -> None:
    def body(context: Any) -> None:
        with context.configuration("elsewhere"):
            raise NotApplicable("not here")

    assert run([make_case("a", body)], subject, recorder).results[0].outcome is Outcome.NOT_APPLICABLE


def test_a_crash_in_a_configuration_restarts_and_the_case_goes_on(
    make_case: MakeCase, subject: Any, recorder: Any
) -> None:
    def body(context: Any) -> None:
        with context.configuration("dies"):
            raise Crashed("died")
        assert context.restarts == 1
        with context.configuration("lives"):
            pass

    verdict = run([make_case("a", body)], subject, recorder).results[0]
    assert [part.outcome for part in verdict.configurations] == [Outcome.CRASH, Outcome.PASS]
    assert subject.restarts == 1


@pytest.mark.parametrize("names", [("same", "same"), ("not a name",)])
def test_a_configuration_needs_a_name_of_its_own(
    make_case: MakeCase, subject: Any, recorder: Any, names: tuple[str, ...]
) -> None:
    def body(context: Any) -> None:
        for name in names:
            with context.configuration(name):
                pass

    assert run([make_case("a", body)], subject, recorder).results[0].outcome is Outcome.SUITE_ERROR
