"""Cases that want a method that a driver does not have are not-supported, as docs/adapters.md promises."""

from __future__ import annotations

from contextlib import closing
from typing import NoReturn

import pytest

from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.suites import find
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.outcomes import Outcome


@pytest.mark.parametrize(
    ("case", "kind", "method"),
    [
        ("vts.queries.interface.methods_of_version", ReferenceDevice, "get_version_string"),
        ("vts.burst.configure.succeeds", ReferencePreparedModel, "configure_execution_burst"),
        ("vts.memory_domains.at_once.readers", ReferencePreparedModel, "execute_synchronously"),
        ("vts.memory_domains.tokens.of_bursts", ReferencePreparedModel, "configure_execution_burst"),
    ],
)
def test_a_method_that_is_missing_is_not_supported(
    case: str, kind: type, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> NoReturn:
        raise Unsupported(f"{kind.__name__}.{method} is not implemented")

    monkeypatch.setattr(kind, method, refused)
    with closing(open_subject("reference", isolation="inprocess")) as subject:
        context = CaseContext(find(case), subject)
        with context.configuration("whole"):
            find(case).run(context)
    assert context.configurations["whole"].details.outcome is Outcome.NOT_SUPPORTED
