"""The liar: the reference, of which some answers are any other value of the right type.

Whatever a subject says, the suite has to judge it: a suite-error is a bug of the suite's own. It is a plug-in:

    npu-conformance run --plugin npu_conformance.faults.liar:plugin --plugin-option seed=3 --plugin-option one_in=20
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import random
from collections.abc import Mapping
from typing import Any

import msgspec

from npu_conformance.faults.guard import Guard, Life
from npu_conformance.faults.made_up import made_up
from npu_conformance.faults.wrapper import forwarding
from npu_conformance.harness.subject.plugin_loading import load_plugin
from npu_conformance.specs.interfaces import Method, describe
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import INTERFACES, Context, Plugin, Subject

_OPTIONS = {
    "seed": "of what is made up (default: 1)",
    "one_in": "of so many answers and arguments of callbacks one is made up, on average (default: 20)",
}
_STEERING = {"runtime_control", "manager_control", "scheduling_control"}
"""What belongs to the test and not to the implementation tells the truth."""


class Liar(Life):
    """Makes up what the implementation answers, and what it tells callbacks."""

    def __init__(self, seed: int, one_in: int) -> None:
        super().__init__()
        self._random = random.Random(seed)
        self._one_in = one_in

    def told(self, hint: Any, truth: Any) -> Any:
        """The truth, or another value of the type."""
        return made_up(self._random, hint, truth) if self._random.randrange(self._one_in) == 0 else truth

    def stand_in(self, interface: type) -> type[Guard]:
        """See Life."""
        return _lying_class(interface)


class _Lying(Guard):
    """Stands for an object on either side."""

    life: Liar
    methods: Mapping[str, Method]

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method: the implementation's objects lie in what they answer, and to callbacks in what they say."""
        method = self.methods[name]
        if self.is_of_implementation:
            return self.life.told(method.result, super().call(name, *arguments))
        hints = [hint for _, hint in method.parameters]
        return super().call(name, *map(self.life.told, hints, arguments))


@functools.cache
def _lying_class(interface: type) -> type[_Lying]:
    made = type(f"Lying{interface.__name__}", (_Lying, interface), {"methods": describe(interface)})
    return forwarding(interface)(made)


def _manifest(options: Mapping[str, str]) -> Manifest:
    said = load_plugin("reference").describe(_of_reference(options))
    return msgspec.structs.replace(said, name="liar", options={**said.options, **_OPTIONS})


def _of_reference(options: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in options.items() if name not in _OPTIONS}


_instances = itertools.count()
"""Of this process: the second one of a run tells other lies than the first."""


def _create(context: Context) -> Subject:
    options = context.options
    liar = Liar(int(options.get("seed", "1")) + 1000 * next(_instances), int(options.get("one_in", "20")))
    watched = liar.watch(dataclasses.replace(context, options=_of_reference(options)))
    subject = load_plugin("reference").create(watched)
    truthful = {name: getattr(subject, name) for name in INTERFACES if name in _STEERING}
    lying: dict[str, Any] = {
        name: liar.guard(kind, getattr(subject, name)) for name, kind in INTERFACES.items() if name not in _STEERING
    }
    return Subject(**truthful, **lying)


plugin = Plugin(_manifest, _create)
"""The liar."""
