"""Histories of one cache folder: compilations, drivers that change, and files that somebody else changes.

Everything follows from a chance: nets with and without IF, several drivers with as many files as each wants, of which
some die or refuse as they restore or prepare, tokens, preferences and priorities of the app, files that are gone,
spoilt or no files. See cache_model for what must hold; what is computed is the oracles' throughout.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from npu_conformance.cts.lib.runtime.cache_folder import CacheFolder
from npu_conformance.cts.lib.runtime.cache_model import DEATHS, FROM_CACHE, PREPARE, CacheModel, Files, Numbered
from npu_conformance.cts.lib.runtime.control_flow_nets import if_net, two_ifs
from npu_conformance.cts.lib.runtime.net_app import Options
from npu_conformance.cts.lib.runtime.nets import Net, NetBuilder
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, MIDDLING, driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import BYTE_SIZE_OF_CACHE_TOKEN, RuntimePriority
from npu_conformance.specs.neuralnetworks.types import NumberOfCacheFiles
from npu_conformance.specs.versions import Version

_OPERATIONS = ("ADD", "MUL", "SUB")
_COUNTS = ((1, 0), (1, 1), (1, 2), (2, 1), (2, 3))
_HALS = (Version.V1_2, Version.V1_3, Version.FL8)
_IDENTITIES = (("one", "1"), ("one", "11"), ("one1", "1"), ("on", "e1"))
"""Names and versions, some of which read alike behind each other."""
_LONGEST = 6
_FAILURES = ("status", "callback", "null", *DEATHS)
_SELDOM, _OFTEN, _MOSTLY = 0.3, 0.5, 0.7


def _operations(chance: random.Random) -> tuple[str, ...]:
    return tuple(chance.choice(_OPERATIONS) for _ in range(chance.randint(1, _LONGEST)))


def _net(chance: random.Random) -> Net:
    """Operations side by side and behind each other; or an IF or two, whose branches are often like each other."""
    kind = chance.choice((None, None, if_net, two_ifs))
    if kind is None:
        return _bush(chance)
    alike = _operations(chance)[:3]
    graphs = [alike if chance.random() < _OFTEN else _operations(chance)[:3] for _ in range(4)]
    return if_net(*graphs[:2], before=alike) if kind is if_net else two_ifs(*graphs)


def _bush(chance: random.Random) -> Net:
    """Operations of inputs or of the last results: which of them are a part is not told by its ends."""
    builder = NetBuilder()
    known = [builder.input(), builder.input()]
    read = set()
    for operation in _operations(chance):
        first = chance.choice(known[:2] if chance.random() < _OFTEN else known[-2:])
        read.add(first)
        known.append(builder.binary(operation, first, known[1]))
    return builder.net(*(name for name in known[2:] if name not in read))


class CacheHistory:
    """One folder and what becomes of it."""

    def __init__(self, context: CaseContext, chance: random.Random) -> None:
        self._chance, self._model = chance, CacheModel()
        self._app = ScriptedApp(context)
        self._folder = CacheFolder(context)
        self._nets = [_net(chance) for _ in range(2)]
        self._expected = [net.expected() for net in self._nets]
        self._counts = [chance.choice(_COUNTS) for _ in range(2)]
        self._groups: list[tuple[list[Path], list[bytes]]] = []
        """Files that came with one compilation, and the tokens to which they belong."""
        self._said: tuple[int, int, int, int] | None = None
        """Of the last compilation: the net, which token, preference and priority."""
        self._tokens: dict[object, list[bytes]] = {}
        self._names = chance.choice(_IDENTITIES), ("two", "1")
        self._set_drivers()

    def run(self, steps: int) -> None:
        """Compile so many times; between compilations something happens, or nothing."""
        happens: tuple[Callable[[], None], ...] = (
            self._set_drivers,
            self._lose_file,
            self._spoil_file,
            self._block_file,
        )
        for _ in range(steps):
            if self._chance.random() < _MOSTLY:
                self._chance.choice(happens)()
            self._compile()

    # Drivers

    def _set_drivers(self) -> None:
        """Other versions of the drivers, or the same ones anew, which may support something else."""
        if self._chance.random() < _SELDOM:
            self._names = self._chance.choice(_IDENTITIES), ("two", self._chance.choice("12"))
        self._scripts = [
            self._app.known(self._script(number, *identity)) for number, identity in enumerate(self._names)
        ]
        self._app.set_drivers(*self._scripts)
        self._watches = [Numbered(script) for script in self._scripts]

    def _script(self, number: int, name: str, version: str) -> DriverScript:
        chance = self._chance
        supported = chance.sample(_OPERATIONS, chance.randint(1, len(_OPERATIONS)))
        return driver(
            name, *supported, version_string=version, exec_time=(FAST, MIDDLING)[number], restarts=True,
            hal=_HALS[len(name + version) % len(_HALS)], cache_files=NumberOfCacheFiles(*self._counts[number]),
            misbehaviours=self._misbehaviours(),
        )  # fmt: skip

    def _misbehaviours(self) -> tuple[Misbehaviour, ...]:
        """A driver may refuse or die as it restores, and die as it prepares; it is back at once."""
        chance = self._chance
        restores = [chance.randint(1, 2), chance.randint(4, 6)] if chance.random() < _OFTEN else []
        prepares = [chance.randint(1, 3)] if chance.random() < _OFTEN else []
        return (
            *(Misbehaviour(FROM_CACHE, chance.choice(_FAILURES), first=first, count=1) for first in restores),
            *(Misbehaviour(PREPARE, chance.choice(DEATHS), first=first, count=1) for first in prepares),
        )

    # Files

    def _any_group(self) -> tuple[list[Path], list[bytes]] | None:
        known = [group for group in self._groups if all(path.exists() for path in group[0])]
        return self._chance.choice(known) if known else None

    def _change(self, change: Callable[[Path], None], becomes: Files) -> None:
        """Change a file; where it is not known of which token, nothing is known of those that it may be of."""
        group = self._any_group()
        if group is None:
            return
        files, tokens = group
        change(self._chance.choice(files))
        for token in tokens:
            self._model.entries[token].files = becomes if len(tokens) == 1 else Files.UNKNOWN

    def _lose_file(self) -> None:
        self._change(Path.unlink, Files.MISSING)

    def _spoil_file(self) -> None:
        def spoil(path: Path) -> None:
            content = path.read_bytes()
            path.write_bytes(self._chance.choice((b"", content[: len(content) // 2], b"\x40" + content[1:])))

        self._change(spoil, Files.SPOILT)

    def _block_file(self) -> None:
        """A folder in place of a file: it can not be opened. It is gone behind the next compilation."""

        def block(path: Path) -> None:
            path.unlink()
            path.mkdir()

        self._change(block, Files.UNKNOWN)

    def _unblock(self) -> None:
        for path in self._folder.files():
            if path.is_dir():
                shutil.rmtree(path)

    # Compilations

    def _compile(self) -> None:
        """Compile and compute. Every second compilation says what the one before said."""
        chance = self._chance
        if self._said is None or chance.random() < _OFTEN:
            self._said = (
                chance.randrange(len(self._nets)),
                chance.choice((0, 0, 1)),
                int(chance.choice(list(ExecutionPreference))),
                int(chance.choice(list(RuntimePriority))),
            )
        number, user, preference, priority = self._said
        token = bytes([number, user]) * (BYTE_SIZE_OF_CACHE_TOKEN // 2)
        tokens = set(self._model.entries)
        options = Options(preference, priority, cache=(self._folder.argument, token))
        # In the runtime's own order, which may decide how it divides the model.
        devices = self._app.names() if chance.random() < _OFTEN else ()
        compiled = self._app.compiled(self._nets[number], *devices, options=options)
        has_died = self._judge(self._said)
        computed = self._app.compute_net(compiled)
        if not has_died:
            self._app.expect("execution_compute", computed.result)
        self._app.judge(compiled.net, computed.outputs, self._expected[number])
        self._unblock()
        known = {file for files, _ in self._groups for file in files}
        if new := sorted(set(self._folder.files()) - known):
            self._groups.append((new, sorted(set(self._model.entries) - tokens)))

    def _judge(self, said: tuple[int, ...]) -> bool:
        """Judge the calls of each driver; the same compilation over the same drivers has the same tokens.

        Returns whether one died: what it had prepared before is of no use then.
        """
        has_died = False
        drivers = tuple((script.name, script.version_string, script.operations) for script in self._scripts)
        for watch, script in zip(self._watches, self._scripts, strict=True):
            asked = watch.new(self._app.calls(script.name))
            has_died = has_died or any(one.has_died for one in asked)
            tokens = self._model.judge(script, (script.name, script.version_string, *said), asked)
            known = self._tokens.setdefault((script.name, drivers, said), tokens)
            with checks.about("FW-CAC-004"):
                checks.equal(tokens, known, "tokens of a compilation that was made before")
        return has_died
