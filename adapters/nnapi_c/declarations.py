"""The C declarations of the NNAPI, as far as a binary interface needs them, for cffi's ABI mode.

An object of the API is declared as the number that its pointer is, so that null, freed and foreign ones can be passed;
a bool that is written is declared as a byte, so that it can be told whether it was. Sources: NeuralNetworks.h,
NeuralNetworksTypes.h, NeuralNetworksExtensions.h.
"""

from __future__ import annotations

from typing import Any

from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.installing import pip_install

_TYPES = """
typedef uintptr_t Handle;
typedef struct {
    int32_t type; uint32_t dimensionCount; const uint32_t *dimensions; float scale; int32_t zeroPoint;
} ANeuralNetworksOperandType;
typedef struct {
    uint32_t channelDim; uint32_t scaleCount; const float *scales;
} ANeuralNetworksSymmPerChannelQuantParams;
"""

_DEVICES = """
int ANeuralNetworks_getDeviceCount(uint32_t *numDevices);
int ANeuralNetworks_getDevice(uint32_t devIndex, Handle *device);
int ANeuralNetworksDevice_getName(Handle device, const char **name);
int ANeuralNetworksDevice_getVersion(Handle device, const char **version);
int ANeuralNetworksDevice_getType(Handle device, int32_t *type);
int ANeuralNetworksDevice_getFeatureLevel(Handle device, int64_t *featureLevel);
int ANeuralNetworksDevice_wait(Handle device);
int ANeuralNetworksDevice_getExtensionSupport(Handle device, const char *extensionName, uint8_t *isSupported);
int64_t ANeuralNetworks_getRuntimeFeatureLevel(void);
uint64_t ANeuralNetworks_getDefaultLoopTimeout(void);
uint64_t ANeuralNetworks_getMaximumLoopTimeout(void);
"""

_MODELS = """
int ANeuralNetworksModel_create(Handle *model);
void ANeuralNetworksModel_free(Handle model);
int ANeuralNetworksModel_finish(Handle model);
int ANeuralNetworksModel_addOperand(Handle model, const ANeuralNetworksOperandType *type);
int ANeuralNetworksModel_setOperandValue(Handle model, int32_t index, const void *buffer, size_t length);
int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
    Handle model, int32_t index, const ANeuralNetworksSymmPerChannelQuantParams *channelQuant);
int ANeuralNetworksModel_setOperandValueFromMemory(
    Handle model, int32_t index, Handle memory, size_t offset, size_t length);
int ANeuralNetworksModel_setOperandValueFromModel(Handle model, int32_t index, Handle value);
int ANeuralNetworksModel_addOperation(
    Handle model, int32_t type, uint32_t inputCount, const uint32_t *inputs, uint32_t outputCount,
    const uint32_t *outputs);
int ANeuralNetworksModel_identifyInputsAndOutputs(
    Handle model, uint32_t inputCount, const uint32_t *inputs, uint32_t outputCount, const uint32_t *outputs);
int ANeuralNetworksModel_relaxComputationFloat32toFloat16(Handle model, bool allow);
int ANeuralNetworksModel_getSupportedOperationsForDevices(
    Handle model, const Handle *devices, uint32_t numDevices, uint8_t *supportedOps);
int ANeuralNetworksModel_getExtensionOperandType(
    Handle model, const char *extensionName, uint16_t operandCodeWithinExtension, int32_t *type);
int ANeuralNetworksModel_getExtensionOperationType(
    Handle model, const char *extensionName, uint16_t operationCodeWithinExtension, int32_t *type);
int ANeuralNetworksModel_setOperandExtensionData(Handle model, int32_t index, const void *data, size_t length);
"""

_COMPILATIONS = """
int ANeuralNetworksCompilation_create(Handle model, Handle *compilation);
int ANeuralNetworksCompilation_createForDevices(
    Handle model, const Handle *devices, uint32_t numDevices, Handle *compilation);
void ANeuralNetworksCompilation_free(Handle compilation);
int ANeuralNetworksCompilation_setPreference(Handle compilation, int32_t preference);
int ANeuralNetworksCompilation_setCaching(Handle compilation, const char *cacheDir, const uint8_t *token);
int ANeuralNetworksCompilation_setPriority(Handle compilation, int priority);
int ANeuralNetworksCompilation_setTimeout(Handle compilation, uint64_t duration);
int ANeuralNetworksCompilation_addExtensionAttribute(
    Handle compilation, const char *extensionName, uint16_t attributeCodeWithinExtension, const void *data,
    size_t length);
int ANeuralNetworksCompilation_finish(Handle compilation);
int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(
    Handle compilation, uint32_t index, uint32_t *alignment);
int ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(
    Handle compilation, uint32_t index, uint32_t *padding);
int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(
    Handle compilation, uint32_t index, uint32_t *alignment);
int ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(
    Handle compilation, uint32_t index, uint32_t *padding);
int ANeuralNetworksBurst_create(Handle compilation, Handle *burst);
void ANeuralNetworksBurst_free(Handle burst);
"""

_EXECUTIONS = """
int ANeuralNetworksExecution_create(Handle compilation, Handle *execution);
void ANeuralNetworksExecution_free(Handle execution);
int ANeuralNetworksExecution_setInput(
    Handle execution, int32_t index, const ANeuralNetworksOperandType *type, const void *buffer, size_t length);
int ANeuralNetworksExecution_setInputFromMemory(
    Handle execution, int32_t index, const ANeuralNetworksOperandType *type, Handle memory, size_t offset,
    size_t length);
int ANeuralNetworksExecution_setOutput(
    Handle execution, int32_t index, const ANeuralNetworksOperandType *type, void *buffer, size_t length);
int ANeuralNetworksExecution_setOutputFromMemory(
    Handle execution, int32_t index, const ANeuralNetworksOperandType *type, Handle memory, size_t offset,
    size_t length);
int ANeuralNetworksExecution_setMeasureTiming(Handle execution, bool measure);
int ANeuralNetworksExecution_setTimeout(Handle execution, uint64_t duration);
int ANeuralNetworksExecution_setLoopTimeout(Handle execution, uint64_t duration);
int ANeuralNetworksExecution_enableInputAndOutputPadding(Handle execution, bool enable);
int ANeuralNetworksExecution_setReusable(Handle execution, bool reusable);
int ANeuralNetworksExecution_addExtensionAttribute(
    Handle execution, const char *extensionName, uint16_t attributeCodeWithinExtension, const void *data,
    size_t length);
int ANeuralNetworksExecution_compute(Handle execution);
int ANeuralNetworksExecution_startCompute(Handle execution, Handle *event);
int ANeuralNetworksExecution_burstCompute(Handle execution, Handle burst);
int ANeuralNetworksExecution_startComputeWithDependencies(
    Handle execution, const Handle *dependencies, uint32_t numDependencies, uint64_t duration, Handle *event);
int ANeuralNetworksExecution_getOutputOperandRank(Handle execution, int32_t index, uint32_t *rank);
int ANeuralNetworksExecution_getOutputOperandDimensions(Handle execution, int32_t index, uint32_t *dimensions);
int ANeuralNetworksExecution_getDuration(Handle execution, int32_t durationCode, uint64_t *duration);
int ANeuralNetworksEvent_wait(Handle event);
void ANeuralNetworksEvent_free(Handle event);
int ANeuralNetworksEvent_createFromSyncFenceFd(int syncFenceFd, Handle *event);
int ANeuralNetworksEvent_getSyncFenceFd(Handle event, int *syncFenceFd);
"""

_MEMORIES = """
int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset, Handle *memory);
void ANeuralNetworksMemory_free(Handle memory);
int ANeuralNetworksMemory_createFromDesc(Handle desc, Handle *memory);
int ANeuralNetworksMemory_copy(Handle src, Handle dst);
int ANeuralNetworksMemoryDesc_create(Handle *desc);
void ANeuralNetworksMemoryDesc_free(Handle desc);
int ANeuralNetworksMemoryDesc_addInputRole(Handle desc, Handle compilation, uint32_t index, float frequency);
int ANeuralNetworksMemoryDesc_addOutputRole(Handle desc, Handle compilation, uint32_t index, float frequency);
int ANeuralNetworksMemoryDesc_setDimensions(Handle desc, uint32_t rank, const uint32_t *dimensions);
int ANeuralNetworksMemoryDesc_finish(Handle desc);
"""

DECLARATIONS = _TYPES + _DEVICES + _MODELS + _COMPILATIONS + _EXECUTIONS + _MEMORIES

INSTALL_HINT = f"a shared library is called through cffi, which is not installed: {pip_install('nnapi')} (or cffi)"


def _declared() -> Any:
    try:
        import cffi
    except ImportError:
        raise LoadError(INSTALL_HINT) from None
    ffi = cffi.FFI()
    ffi.cdef(DECLARATIONS)
    return ffi


ffi = _declared()
"""cffi's door to all of it. Importing this module raises LoadError where cffi is not installed."""
