"""hal.Device of the reference: one class for every version of the HAL."""

from __future__ import annotations

from npu_conformance.reference.device.compute_unit import Apps, ComputeUnit, Preemption, strategy
from npu_conformance.reference.device.executor import Executor, Runnable
from npu_conformance.reference.device.registry import has_kernel
from npu_conformance.reference.extensions import hints
from npu_conformance.reference.hal import timing
from npu_conformance.reference.hal.buffers import Buffers
from npu_conformance.reference.hal.cache import CacheFiles, CompilationCache, Compiled, files_needed
from npu_conformance.reference.hal.capabilities import capabilities
from npu_conformance.reference.hal.execution import Prepared
from npu_conformance.reference.hal.memory import mapped
from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.reference.hal.roles import plan_of
from npu_conformance.specs.diagnostics import trace, vlog
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, model_text, rules, types
from npu_conformance.specs.neuralnetworks.catalogue import operation
from npu_conformance.specs.neuralnetworks.enums import (
    BYTE_SIZE_OF_CACHE_TOKEN,
    DeviceStatus,
    DeviceType,
    ErrorStatus,
    ExecutionPreference,
    OperandType,
    OperationType,
    Priority,
)
from npu_conformance.specs.neuralnetworks.extension_codes import is_registered
from npu_conformance.specs.neuralnetworks.extension_prefixes import with_registered_codes
from npu_conformance.specs.neuralnetworks.operation_view import view_of
from npu_conformance.specs.neuralnetworks.registered_extensions import RegisteredExtension
from npu_conformance.specs.neuralnetworks.validate import check_operation, validate_model
from npu_conformance.specs.neuralnetworks.violations import Violation
from npu_conformance.specs.plugin import Context
from npu_conformance.specs.versions import NEWEST, Version

CACHE_FILES = "2+2"
"""Model-cache and data-cache files, unless option `cache_files` says otherwise."""


class ReferenceDevice(hal.Device):
    """The reference driver at one version. Models, executions and callers do not know of each other."""

    def __init__(
        self,
        context: Context,
        version: Version = NEWEST,
        extensions: tuple[RegisteredExtension, ...] = (),
        apps: Apps | None = None,
    ) -> None:
        """extensions: registered ones, listed and with kernels. apps: decides which app is first; None for turns."""
        self.version = version
        self._extensions = extensions
        self._context = context
        self._buffers = Buffers(context)
        preemption = strategy(context.options.get("preemption", Preemption.RESUME.value))
        self._unit = ComputeUnit(context.clock, preemption, apps=apps)
        wanted = files_needed(context.options.get("cache_files", CACHE_FILES))
        self._cache = CompilationCache(context.files, wanted)
        self._known: tuple[types.Model, str] | None = None
        self._asked: tuple[types.Model, list[str | None]] | None = None

    def get_capabilities(self) -> types.Capabilities:
        """The performance of the CPU for everything."""
        return capabilities(self.version)

    def get_status(self) -> int:
        """Always AVAILABLE."""
        return DeviceStatus.AVAILABLE

    def get_version_string(self) -> str:
        """Name and version of this implementation."""
        return "npu-conformance-reference-1"

    def get_type(self) -> int:
        """ACCELERATOR: the device simulates an NPU."""
        return DeviceType.ACCELERATOR

    def get_supported_extensions(self) -> tuple[types.Extension, ...]:
        """The extensions that the device was made with."""
        return tuple(extension.listed for extension in self._extensions)

    def get_number_of_cache_files_needed(self) -> types.NumberOfCacheFiles:
        """As option `cache_files` says; 0 and 0: compilation caching is not supported."""
        return self._cache.wanted

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        """True where there is a kernel and the model breaks no rule of the operation (NNHAL-SUPPORT-*)."""
        self._check_model(model)
        model = with_registered_codes(model)
        count = len(model.main.operations)
        try:
            with mapped(self._context.memory, model.pools) as pools:
                obstacles = [self._obstacle(model, index, pools) for index in range(count)]
            # Pools may have other contents when the model is prepared; nothing else of it can change.
            self._asked = None if model.pools else (model, obstacles)
        except ServiceError as error:
            # Constants that cannot be read cannot be computed with; the model is valid all the same.
            obstacles = [str(error)] * count
        vlog.log("driver", lambda: f"getSupportedOperations: {[one or 'supported' for one in obstacles]}")
        return tuple(obstacle is None for obstacle in obstacles)

    def prepare_model(
        self,
        model: types.Model,
        preference: int,
        priority: int,
        deadline_ns: int,
        model_cache: tuple[types.CacheHandle, ...],
        data_cache: tuple[types.CacheHandle, ...],
        token: bytes,
        callback: hal.PreparedModelCallback | None,
    ) -> None:
        """Prepare a model. Order of errors, as in AOSP's sample driver: callback, arguments, deadline, support, pools.

        Argument errors go to the caller and to the callback, everything later to the callback alone. Caches are
        written on the way, and wrong ones ignored (NNHAL-CACHE-001). Notifies before it returns, which clients must
        expect.
        """
        if callback is None:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "the callback is null")
        try:
            self._check_model(model)
            self._check_preparation(preference, priority, deadline_ns, token)
        except ServiceError as error:
            callback.notify(error.status, None)
            raise
        try:
            with trace.span("driver", "prepare", operations=len(model.main.operations)):
                timing.check_deadline(self.version, deadline_ns, self._context.clock)
                with mapped(self._context.memory, model.pools) as pools:
                    prepared = self._prepare(model, pools, priority)
                    compiled = Compiled(model, tuple(pools), preference, priority)
                    self._save(self._caches(model_cache, data_cache, token), compiled)
        except ServiceError as error:
            refusal = str(error)
            vlog.log("compilation", lambda: f"prepareModel: {refusal}")
            callback.notify(error.status, None)
            return
        vlog.log("compilation", lambda: f"prepareModel: {len(model.main.operations)} operations prepared")
        callback.notify(ErrorStatus.NONE, prepared)

    def prepare_model_from_cache(
        self,
        deadline_ns: int,
        model_cache: tuple[types.CacheHandle, ...],
        data_cache: tuple[types.CacheHandle, ...],
        token: bytes,
        callback: hal.PreparedModelCallback | None,
    ) -> None:
        """Restore a model. Order of errors: callback, arguments, integrity of the files, deadline.

        All but the last go to the caller and to the callback (NNHAL-CACHE-022), the deadline to the callback alone.
        """
        if callback is None:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "the callback is null")
        try:
            self._check_token_and_deadline(deadline_ns, token)
            compiled = self._cache.load(self._caches(model_cache, data_cache, token))
        except ServiceError as error:
            callback.notify(error.status, None)
            raise
        try:
            timing.check_deadline(self.version, deadline_ns, self._context.clock)
        except ServiceError as error:
            callback.notify(error.status, None)
            return
        callback.notify(ErrorStatus.NONE, self._restored(compiled))

    def prepare_model_with_config(
        self, model: types.Model, config: types.PrepareModelConfig, callback: hal.PreparedModelCallback | None
    ) -> None:
        """Prepare as prepare_model does, whatever the hints are (NNHAL-PREPARE-018 to -021)."""
        hints.take("compilation", config.compilation_hints, config.extension_name_to_prefix)
        caches = (config.model_cache, config.data_cache)
        self.prepare_model(
            model, config.preference, config.priority, config.deadline_ns, *caches, config.cache_token, callback
        )

    def allocate(
        self,
        desc: types.BufferDesc,
        prepared_models: tuple[hal.PreparedModel | None, ...],
        input_roles: tuple[types.BufferRole, ...],
        output_roles: tuple[types.BufferRole, ...],
    ) -> hal.DeviceBuffer:
        """Allocate for any roles of one type and quantisation, known shape or not (NNHAL-MEMDOMAIN-003 to -013)."""
        return self._buffers.allocate(plan_of(desc, prepared_models, input_roles, output_roles, self._buffers))

    def _check_model(self, model: types.Model) -> None:
        """Raise INVALID_ARGUMENT for an invalid model. Clients ask for support, then prepare: the last one is known."""
        known = self._known  # Other threads may put theirs there meanwhile.
        if known is None or model != known[0]:
            vlog.log("model", lambda: model_text.text(model))
            with trace.span("driver", "validate model", operations=len(model.main.operations)):
                violations = validate_model(model, self.version) or self._extension_violations(model)
                violations = [one for one in violations if not _is_left_to_execution(model, one)]
            known = self._known = model, str(violations[0]) if violations else ""
        if known[1]:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, known[1])

    def _extension_violations(self, model: types.Model) -> list[Violation]:
        """What declared operands of extensions' operations break: nobody else can know (NNHAL-EXTENSION-006)."""
        model = with_registered_codes(model)
        graphs = enumerate((model.main, *model.referenced))
        of_extensions = [
            (number, position)
            for number, graph in graphs
            for position, operation in enumerate(graph.operations)
            if is_registered(operation.type)
        ]
        views = [view_of(model, position, self.version, subgraph=number) for number, position in of_extensions]
        return [found for view in views for found in check_operation(view) if _is_about_operands(view.name, found)]

    def _check_preparation(self, preference: int, priority: int, deadline_ns: int, token: bytes) -> None:
        if self.version >= Version.V1_1 and preference not in list(ExecutionPreference):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, f"no execution preference {preference}")
        if self.version >= Version.V1_3 and priority not in list(Priority):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, f"no priority {priority}")
        self._check_token_and_deadline(deadline_ns, token)

    def _check_token_and_deadline(self, deadline_ns: int, token: bytes) -> None:
        timing.check_deadline_form(self.version, deadline_ns)
        # HIDL's token is an array of fixed length; AIDL's may have any.
        if self.version.is_aidl and len(token) != BYTE_SIZE_OF_CACHE_TOKEN:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, f"a cache token of {len(token)} bytes")

    def _prepare(self, model: types.Model, pools: list[memoryview], priority: int) -> ReferencePreparedModel:
        model = with_registered_codes(model)
        obstacle = self._first_obstacle(model, pools)
        if obstacle is not None:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, obstacle)
        executor = self._executor(model, pools)
        return self._prepared(model, executor, priority)

    def _prepared(self, model: types.Model, executor: Runnable, priority: int) -> ReferencePreparedModel:
        """A prepared model of the calling app, which is known by its uid, whatever it says it is (NNHAL-QOS-013)."""
        if self.version < Version.V1_3:
            priority = Priority.MEDIUM
        owner = self._context.caller().uid
        return ReferencePreparedModel(
            Prepared(model, self.version, self._context, executor, self._buffers, self._unit, owner, priority)
        )

    def _executor(self, model: types.Model, pools: list[memoryview]) -> Runnable:
        """The executor of a supported model; a device with another engine overrides this."""
        return Executor(model, self.version, pools, is_checked=True)

    def _caches(
        self, model_cache: tuple[types.CacheHandle, ...], data_cache: tuple[types.CacheHandle, ...], token: bytes
    ) -> CacheFiles:
        """The cache arguments. A cache belongs to one driver with its extensions, one HAL version, and one token."""
        extensions = " ".join(extension.listed.name for extension in self._extensions)
        owner = f"{self.get_version_string()} {self.version.value} [{extensions}] ".encode()
        return CacheFiles(model_cache, data_cache, owner + token)

    def _save(self, caches: CacheFiles, compiled: Compiled) -> None:
        if caches.model or caches.data:
            self._cache.save(caches, compiled)

    def _restored(self, compiled: Compiled) -> ReferencePreparedModel:
        model = with_registered_codes(compiled.model)
        executor = self._executor(model, list(compiled.pools))
        return self._prepared(model, executor, compiled.priority)

    def _first_obstacle(self, model: types.Model, pools: list[memoryview]) -> str | None:
        """Why the device cannot execute a model; known already where a client asked for its support before."""
        asked = self._asked  # Other threads may put theirs there meanwhile.
        if asked is not None and asked[0] == model:
            return next(filter(None, asked[1]), None)
        found = (self._obstacle(model, index, pools) for index in range(len(model.main.operations)))
        return next(filter(None, found), None)

    def _obstacle(self, model: types.Model, index: int, pools: list[memoryview], graph: int = 0) -> str | None:
        """Why the device cannot execute an operation; None where it can, as far as the model shows.

        graph: 0 is main, n + 1 is referenced[n]. IF and WHILE need every operation of their graphs (NNHAL-SUPPORT-007).
        """
        subgraph = model.main if graph == 0 else model.referenced[graph - 1]
        operation_type = subgraph.operations[index].type
        if not has_kernel(operation_type) or not rules.has(operation(operation_type).name):
            return f"operation {model_text.operation_name(operation_type)} is not supported"
        violations = check_operation(view_of(model, index, self.version, subgraph=graph, pools=pools))
        if violations:
            return str(violations[0])
        operands = [subgraph.operands[position] for position in subgraph.operations[index].inputs]
        numbers = [operand.location.offset + 1 for operand in operands if operand.type == OperandType.SUBGRAPH]
        inner = (self._obstacle(model, at, pools, number) for number in numbers for at in _positions(model, number))
        return next((obstacle for obstacle in inner if obstacle is not None), None)


def _is_left_to_execution(model: types.Model, violation: Violation) -> bool:
    """True for an IF without its condition: AOSP's VTS wants the model to be taken, and its execution to fail."""
    if violation.clause != "MODEL.P3O" or violation.operation is None:
        return False
    operation = (model.main, *model.referenced)[violation.subgraph].operations[violation.operation]
    return operation.type == OperationType.IF and violation.operand == operation.inputs[0]


def _is_about_operands(operation_name: str, violation: Violation) -> bool:
    phases = {clause.id: clause.phase for clause in rules.clauses(operation_name)}
    return phases[violation.clause] == "model"


def _positions(model: types.Model, graph: int) -> range:
    return range(len(model.referenced[graph - 1].operations))
