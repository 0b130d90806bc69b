"""Races: files that change while the device writes or reads them give the right model, or none.

By message every read and write passes the harness, which changes the files at the worst moments, always the same ones:
a device that looks twice is found out for certain. By descriptor or path a thread writes as fast as it can.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from npu_conformance.harness.run.caching import Cache
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.files import CacheFile, Watch
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.caching.chains import STEP, Chain
from npu_conformance.vts.lib.caching.client import OTHER_TOKEN, Client, chain_of, client

cases = CaseGroup("vts.caching", group=Group.EXECUTION)
_MOMENTS = range(1, 5)
_ROUNDS, _ROUNDS_OF_AOSP = 12, 100
_LENGTH, _OTHER_LENGTH = 40, 20
"""Lengths of the models that race: long enough that reading them takes a while."""


@cases.case("races.read_twice", "NNHAL-CACHE-021", since=Version.V1_2)
def read_twice(context: CaseContext) -> None:
    """The model cache becomes another model's as the device reads it: the right model is restored, or none."""
    caching, (cache, chain, other) = client(context), _pair(context)
    for place, name in enumerate(("each_read", *(f"after_{moment}" for moment in _MOMENTS))):
        with context.configuration(name):
            moment = None if place == 0 else _MOMENTS[place - 1]
            with _replaced(cache, other, "read", moment):
                restored = caching.restore(cache.handles(), transport="message")
            caching.right_or_rejected(chain, restored, "prepareModelFromCache of files that change between reads")


@cases.case("races.written_meanwhile", "NNHAL-CACHE-021", since=Version.V1_2)
def written_meanwhile(context: CaseContext) -> None:
    """After a write of the device the model cache becomes another model's, which it must not take for its own."""
    caching, (_, chain, other) = client(context), _pair(context)
    for moment in _MOMENTS:
        with context.configuration(f"after_{moment}"):
            cache = caching.cache()
            with _replaced(cache, other, "write", moment):
                preparation = caching.save(chain.model(), cache.handles(), transport="message")
            caching.prepared_right(chain, preparation, "prepareModel with files that somebody else writes to")
            restored = caching.restore(cache.handles(), transport="message")
            caching.right_or_rejected(chain, restored, "prepareModelFromCache of what was written meanwhile")


@cases.case("races.restoring", "NNHAL-CACHE-021", since=Version.V1_2)
def restoring(context: CaseContext) -> None:
    """While a model is restored, another one's model cache is copied over its own: the right model, or none."""
    caching, (cache, chain, other) = client(context), _pair(context)
    right = [file.read() for file in cache.model]
    for _ in range(_rounds(context)):
        for file, content in zip(cache.model, right, strict=True):
            file.write(content)
        with _rewriting(cache, right, other):
            restored = caching.restore(cache.handles())
        caching.right_or_rejected(chain, restored, "prepareModelFromCache of files that are rewritten")


@cases.case("races.saving", "NNHAL-CACHE-021", since=Version.V1_2)
def saving(context: CaseContext) -> None:
    """While a model is saved, another one's model cache is copied over its own: the right model, or none."""
    caching, (_, chain, other) = client(context), _pair(context)
    for _ in range(_rounds(context)):
        cache = caching.cache()
        with _rewriting(cache, other, other):
            preparation = caching.save(chain.model(), cache.handles())
        caching.prepared_right(chain, preparation, "prepareModel with files that are rewritten")
        restored = caching.restore(cache.handles())
        caching.right_or_rejected(chain, restored, "prepareModelFromCache of what was rewritten")


def _pair(context: CaseContext) -> tuple[Cache, Chain, list[bytes]]:
    """A saved model, and the contents of the model cache of another one, which was saved under another token."""
    caching = Client(context)
    chain = replace(chain_of(context), length=_LENGTH, constant=STEP)
    other = caching.saved(replace(chain, length=_OTHER_LENGTH), OTHER_TOKEN)
    return caching.saved(chain), chain, [file.read() for file in other.model]


def _rounds(context: CaseContext) -> int:
    return _ROUNDS_OF_AOSP if context.scope is Scope.FULL else _ROUNDS


@contextmanager
def _replaced(cache: Cache, other: list[bytes], access: str, moment: int | None) -> Iterator[None]:
    """Replace each model-cache file behind the given access to it; None: of what was read, the bytes, at once."""

    def watch_of(file: CacheFile, content: bytes) -> Watch:
        seen = 0

        def watch(kind: str, offset: int, length: int) -> None:
            nonlocal seen
            seen += kind == access
            if kind == access and moment is None:
                os.pwrite(file.descriptor, content[offset : offset + length], offset)
            elif kind == access and seen == moment:
                file.write(content)

        return watch

    saved = [file.read() for file in cache.model]
    for file, content in zip(cache.model, other, strict=True):
        file.watch = watch_of(file, content)
    try:
        yield
    finally:
        for file, content in zip(cache.model, saved, strict=True):
            file.watch = None
            if access == "read":
                file.write(content)


@contextmanager
def _rewriting(cache: Cache, first: list[bytes], second: list[bytes]) -> Iterator[None]:
    """Copy both contents over the model cache in turn, from a thread, until the block ends."""
    done, begun = threading.Event(), threading.Event()

    def rewrite() -> None:
        while not done.is_set():
            for contents in (first, second):
                for file, content in zip(cache.model, contents, strict=True):
                    file.write(content)
            begun.set()

    thread = threading.Thread(target=rewrite, daemon=True)
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        done.set()
        thread.join()
