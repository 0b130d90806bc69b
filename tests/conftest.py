"""The project's own tests: the same in every run, however slow the machine is and however it was started."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest
import slow_tests
from edited_source import none_left
from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")

# What a shell starts in the background ignores SIGINT, what nohup starts SIGHUP; so would all that these tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare --slow."""
    parser.addoption("--slow", action="store_true", help="run the tests of tests/helpers/slow_tests.py, too")


@pytest.hookimpl(wrapper=True, tryfirst=True)  # around pytest-randomly's, which changes the order
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Leave the slow tests out, unless they are asked for: all of them by --slow, or one by its name."""
    if not config.option.slow and not any("::" in argument for argument in config.args):
        left_out = slow_tests.left_out(items)
        config.hook.pytest_deselected(items=left_out)
        unwanted = set(left_out)
        items[:] = [item for item in items if item not in unwanted]
    return (yield)


def pytest_collection() -> None:
    """Look for no garbage while tests are collected: all of it stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep what all tests are made of out of every later search for garbage, of which several tests have many."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Of `-n auto`: two for each processor, since many a test waits for processes that it has started."""
    return 2 * len(os.sched_getaffinity(0))


@pytest.fixture(autouse=True)
def extensions_of_one_test_alone() -> Iterator[None]:
    """Unregister what a test has registered: runtimes in this process register the reference's extensions."""
    from npu_conformance.specs.neuralnetworks.registered_extensions import all_registered, unregister

    before = set(all_registered())
    yield
    for extension in reversed([one for one in all_registered() if one not in before]):
        unregister(extension.listed.name)


@pytest.fixture(autouse=True)
def edits_of_one_test_alone() -> Iterator[None]:
    """Take back what a test has edited: the tests behind it meet the reference as it is."""
    with none_left():
        yield
