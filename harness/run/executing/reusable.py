"""Makes reusable executions, of which a device may have no more than a few at once."""

from __future__ import annotations

from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.busy import vagueness
from npu_conformance.harness.run.executing.execution import Surroundings
from npu_conformance.harness.run.living import REUSABLE_EXECUTIONS
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import busy
from npu_conformance.specs.neuralnetworks.hal import Execution, PreparedModel
from npu_conformance.specs.neuralnetworks.types import ExecutionConfig, Request
from npu_conformance.specs.versions import Version

_SINCE = Version.FL8


def reusable_execution(
    context: Surroundings, prepared_model: PreparedModel, request: Request, config: ExecutionConfig
) -> Execution:
    """Call createReusableExecution; raises ServiceError where the request is refused.

    NotApplicable where there is no room for one more beside others, as there need not be: which of its statuses of a
    busy device createReusableExecution returns says nothing of an execution.
    """
    try:
        made = prepared_model.create_reusable_execution(request, config)
    except ServiceError as error:
        others = REUSABLE_EXECUTIONS.count(context.subject)
        if not others or error.status not in busy(_SINCE):
            raise
        full = f"the device has no room for one more reusable execution beside {others}"
        raise NotApplicable(full, vagueness(error.status, _SINCE)) from None
    REUSABLE_EXECUTIONS.add(context.subject, made)
    return made
