"""A vendor's own extension with its test side: the oracles and the vectors of the folder, beside what a driver knows.

The oracles and vectors of a registered extension are found by `corpus.oracles` and `corpus.vectors`; here the whole
folder is checked against its rules before it is registered. A bad one raises DocumentError, `file: path: rule` in one
line, and leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from npu_conformance.corpus import oracles
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import extensions, registered_extensions
from npu_conformance.specs.neuralnetworks.registered_extensions import RegisteredExtension


@contextmanager
def registered(folders: Iterable[Path]) -> Iterator[tuple[RegisteredExtension, ...]]:
    """Register the extensions of these folders for a while; one that is registered already stays so afterwards.

    A folder may build on types of those before it. Raises DocumentError.
    """
    with ExitStack() as unregistering:
        yield tuple([_register(folder, unregistering) for folder in folders])


def _register(folder: Path, unregistering: ExitStack) -> RegisteredExtension:
    known = extensions.find(folder)
    if known is not None:
        return known
    extension = extensions.read(folder)
    for problem in extensions.problems_of(extension, oracles.of_extension):
        raise problem
    registered_extensions.register(extension)
    unregistering.callback(registered_extensions.unregister, extension.name)
    return extension


def examine(folder: Path) -> list[DocumentError]:
    """Every rule that tables, rules and oracles of a folder break. `checking` looks at its vectors."""
    extension, problems = extensions.examine(folder)
    return problems if extension is None else [*problems, *extensions.problems_of(extension, oracles.of_extension)]
