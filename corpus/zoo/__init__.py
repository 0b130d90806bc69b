"""The zoo: models with data and metrics: the project's own, those that are fetched, and those that a user has added.

`names` and `entry` read the manifest and do not import numpy; `load` makes or reads a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_conformance.corpus.zoo import added, manifest
from npu_conformance.corpus.zoo.cache import NOT_FETCHED, NotFetched
from npu_conformance.specs.documents.zoo import ZooEntry
from npu_conformance.specs.suggestions import did_you_mean

if TYPE_CHECKING:
    from npu_conformance.corpus.zoo.types import Samples as Samples
    from npu_conformance.corpus.zoo.types import State as State
    from npu_conformance.corpus.zoo.types import ZooModel as ZooModel

__all__ = ["NOT_FETCHED", "NotFetched", "Samples", "State", "ZooModel", "entries", "entry", "is_own", "load", "names"]


def entries() -> tuple[ZooEntry, ...]:
    """All models: first the project's own, which need no file, last what a user has added."""
    return (*manifest.entries(), *added.entries())


def names() -> tuple[str, ...]:
    """Names of all models, in the same order."""
    return tuple(each.name for each in entries())


def entry(name: str) -> ZooEntry:
    """What the manifest says of a model; LookupError where there is none of that name."""
    for each in entries():
        if each.name == name:
            return each
    raise LookupError(f"there is no model {name!r} in the zoo{did_you_mean(name, names())}")


def is_own(model: ZooEntry) -> bool:
    """True for a model that is made at run time and needs no file."""
    return model.file is None


def load(name: str) -> ZooModel:
    """A model by name. Raises LookupError, and NotFetched where its file is not in the cache."""
    found = entry(name)
    if is_own(found):
        from npu_conformance.corpus.zoo import own

        return own.load(found)
    from npu_conformance.corpus.zoo import fetched

    return fetched.load(found)
