"""The target whose inputs are histories of compilation caches: files that are saved to, damaged, mixed and restored.

After each history every cache is restored once more: what an earlier step has broken shows then at the latest.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from msgspec import structs

from npu_conformance.fuzz.lib.cache_judge import Presented, judge_restored, judge_saved
from npu_conformance.fuzz.lib.cache_ledger import Contents, Ledger, edited
from npu_conformance.fuzz.lib.cache_models import OPERATIONS, CachedModels
from npu_conformance.fuzz.lib.cache_steps import (
    ACCESSES,
    CACHES,
    NAMES,
    TOKENS,
    Copy,
    Damage,
    Renew,
    Restore,
    Save,
    Step,
    Swap,
    histories_of,
    is_sendable,
    seeds_of,
)
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.histories import HistoryTarget, Traces
from npu_conformance.fuzz.lib.model_judge import guarded
from npu_conformance.harness.judge.verdicts import Failed, NotApplicable, NotSupported
from npu_conformance.harness.run.caching import Cache, CacheClient, Handle, Handles, Opening, files_needed
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.files import CacheFile, Watch
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.versions import Version

_LATE_SECONDS = 0.2
"""How long the first saving is watched, and how long the files of a device must be quiet that writes late."""

_LONGEST_SECONDS = 5.0
"""How long they are waited for in all."""


class _Header:
    """A history of the fuzzer, as a case."""

    id, description, requirements = "fuzz.cache.short.runs", "One history of caches.", ("FUZ-001",)


class Patience:
    """Waits for devices that write their caches behind the notification, as they may; the first saving tells."""

    def __init__(self, subject: SubjectHandle) -> None:
        self._subject = subject
        self._is_late: bool | None = None

    def settled(self, read: Callable[[], Contents]) -> Contents:
        """What is in the files once the device has done with them; NotApplicable where it never has. read: looks."""
        found, end = read(), time.monotonic() + _LONGEST_SECONDS * self._subject.manifest.time_scale
        while self._is_late is not False:
            if time.monotonic() > end:
                raise NotApplicable("the device writes its cache files on and on, so that nobody knows what they hold")
            later = self._after(found, read)
            self._is_late = self._is_late or later != found
            if later == found:
                break
            found = later
        return found

    def _after(self, found: Contents, read: Callable[[], Contents]) -> Contents:
        """What is there after a time, or as soon as something has changed."""
        self._subject.wait_until(lambda: read() != found, _LATE_SECONDS * self._subject.manifest.time_scale)
        return read()


class CacheTarget(HistoryTarget[Step]):
    """Inputs are histories. See Target."""

    name = "cache"

    def __init__(self, subject: SubjectHandle) -> None:
        if subject.version < Version.V1_2:
            raise NotApplicable("there are no compilation caches before HAL 1.2")
        _require_files(subject)
        self._models, self._patience = CachedModels(subject), Patience(subject)
        super().__init__(subject, histories_of(self._models.first_names), seeds_of(self._models.first_names))

    def _possible(self, step: Step, choices: Choices) -> Step:
        if not isinstance(step, Save):
            return step
        return structs.replace(step, model=self._models.instead(step.model, choices))

    def _play(self, steps: list[Step]) -> tuple[str, ...]:
        context = CaseContext(_Header(), self._subject)
        try:
            return _Play(context, self._models, self._patience).run(steps)
        finally:
            context.close()

    def _require(self) -> None:
        if not self._models.are_there():
            raise NotApplicable(
                f"the device prepares no model of those that are cached, of any type: ADD, {', '.join(OPERATIONS)}"
            )

    def forget(self) -> None:
        """Forget the models that were prepared."""
        self._models.clear()


def _require_files(subject: SubjectHandle) -> None:
    """Raise NotApplicable where the device wants no cache files, or nobody can ask for them, as behind the C API."""
    device = subject.interfaces.device
    assert device is not None
    try:
        needed = guarded("getNumberOfCacheFilesNeeded", lambda: files_needed(device))
    except NotSupported as error:
        raise NotApplicable(str(error)) from None
    except Failed:  # of which each history tells
        return
    if not needed.num_model_cache and not needed.num_data_cache:
        raise NotApplicable("the device caches no compilation: getNumberOfCacheFilesNeeded says 0 and 0")


class _Play:
    """One history."""

    def __init__(self, context: CaseContext, models: CachedModels, patience: Patience) -> None:
        self._context, self._models, self._patience = context, models, patience
        self._client = CacheClient(context)
        self._ledger = Ledger()
        self._caches = [self._client.cache() for _ in range(CACHES)]
        self._cached: set[str] = set()
        self._seen: set[str] = set()

    def run(self, steps: Sequence[Step]) -> tuple[str, ...]:
        """Let it happen; returns what was seen."""
        traces = Traces(NAMES)
        for step in steps:
            if is_sendable(step, self._context.version):
                self._seen.update(traces.features(step, self._perform(step)))
        for number in range(CACHES):
            if any(self._caches[number].contents()):
                self._restore(Restore(number))
        return tuple(self._seen)

    def _perform(self, step: Step) -> str:
        match step:
            case Save():
                return self._save(step)
            case Restore():
                return self._restore(step)
            case Damage():
                return self._damage(step)
            case Copy():
                return self._copy(step)
            case Swap():
                return self._swap(step)
            case Renew(cache):
                self._caches[cache % CACHES] = self._client.cache()
                return ""

    def _save(self, step: Save) -> str:
        found, token, cache = self._models.get(step.model), TOKENS[step.token % len(TOKENS)], self._cache(step.cache)
        if found is None:
            return "nothing"
        before, handles = self._contents(cache), self._handles(step, cache)
        with self._rewritten(step, "write", cache):
            transport = "message" if step.moment > 0 else ""
            saved = guarded("prepareModel", lambda: self._client.save(found.model, handles, token, transport=transport))
        judge_saved(self._models, step.model, saved, token)
        is_right = not step.odd and step.access % len(ACCESSES) == 0 and step.moment <= 0
        after = self._patience.settled(lambda: self._contents(cache))
        self._ledger.note(before, after, step.model, token, is_right=is_right)
        return f"{saved.status} {step.odd} {step.moment > 0} {before == after}"

    def _restore(self, step: Restore) -> str:
        token, cache = TOKENS[step.token % len(TOKENS)], self._mixed(step)
        access = ACCESSES[step.access % len(ACCESSES)]
        handles = self._handles(step, cache)
        is_odd = handles != cache.handles(access, step.offset)
        presented = Presented(self._contents(cache), token, step.odd if is_odd else "", access)
        with self._rewritten(step, "read", cache):
            transport = "message" if step.moment > 0 else ""
            restored = guarded(
                "prepareModelFromCache", lambda: self._client.restore(handles, token, transport=transport)
            )
        if step.moment > 0:
            other = self._contents(self._cache(step.other))
            presented = replace(presented, becomes=replace(other, data=presented.contents.data))
        return judge_restored(self._context, self._models, self._ledger, self._cached, presented, restored)

    def _cache(self, number: int) -> Cache:
        return self._caches[number % CACHES]

    def _contents(self, cache: Cache) -> Contents:
        return Contents(tuple(file.read() for file in cache.model), tuple(file.read() for file in cache.data))

    def _mixed(self, step: Restore) -> Cache:
        """The cache of a step, with some files of another one."""
        own, other = self._cache(step.cache), self._cache(step.other)
        pairs = list(zip(own.files, other.files, strict=True))
        files = [theirs if place in step.mixed else mine for place, (mine, theirs) in enumerate(pairs)]
        return Cache(tuple(files[: len(own.model)]), tuple(files[len(own.model) :]))

    def _handles(self, step: Save | Restore, cache: Cache) -> Handles:
        right = cache.handles(ACCESSES[step.access % len(ACCESSES)], step.offset)
        more: Handle = (
            (Opening(self._context.cache_file()),) if step.odd.startswith("more") or step.odd == "two" else ()
        )
        first = right.model[0] if right.model else ()
        changed: dict[str, Callable[[], Handles]] = {
            "more_model": lambda: replace(right, model=(*right.model, more)),
            "less_model": lambda: replace(right, model=right.model[:-1]),
            "more_data": lambda: replace(right, data=(*right.data, more)),
            "less_data": lambda: replace(right, data=right.data[:-1]),
            "two": lambda: replace(right, model=((*first, *more), *right.model[1:])),
            "none": lambda: replace(right, model=((), *right.model[1:])),
        }
        return changed.get(step.odd, lambda: right)()

    @contextmanager
    def _rewritten(self, step: Save | Restore, access: str, cache: Cache) -> Iterator[None]:
        """Let the model-cache files become those of another cache behind an access by message."""
        if step.moment > 0:
            for file, content in zip(cache.model, self._contents(self._cache(step.other)).model, strict=True):
                file.watch = _watch(file, content, access, step.moment)
        try:
            yield
        finally:
            for file in cache.model:
                file.watch = None

    def _damage(self, step: Damage) -> str:
        files = self._cache(step.cache).files
        if not files:
            return "nothing"
        file = files[step.file % len(files)]
        file.write(edited(file.read(), step.edit, step.at, step.value))
        return step.edit

    def _copy(self, step: Copy) -> str:
        sources, targets = self._cache(step.source).files, self._cache(step.target).files
        contents = [file.read() for file in sources]
        for place, (file, content) in enumerate(zip(targets, contents, strict=True)):
            if step.file < 0 or place == step.file:
                file.write(content)
        return str(step.file < 0)

    def _swap(self, step: Swap) -> str:
        files = self._cache(step.cache).files
        if not files:
            return "nothing"
        one, other = files[step.one % len(files)], files[step.other % len(files)]
        contents = one.read(), other.read()
        one.write(contents[1])
        other.write(contents[0])
        return ""


def _watch(file: CacheFile, content: bytes, access: str, moment: int) -> Watch:
    seen = 0

    def watch(kind: str, offset: int, length: int) -> None:
        nonlocal seen
        seen += kind == access
        if kind == access and seen == moment:
            os.ftruncate(file.descriptor, 0)
            os.pwrite(file.descriptor, content, 0)

    return watch
