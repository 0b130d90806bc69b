"""pytest, started in the checkout: the light collector of the suites, and rewriting of the asserts in test helpers."""

pytest_plugins = ["npu_conformance.harness.pytest_adapter"]
