// A small NNAPI runtime of feature level 3 with one device that adds, multiplies and rectifies float32 tensors.
//
// It shows what npu-conformance needs of a shared library: functions of NeuralNetworks.h, as many as there are.
//     cc -shared -fPIC -O1 -o libnnapi_tiny.so nnapi_tiny.c
//     npu-conformance run vts.generated -k 'ADD or MUL or RELU' --plugin ./libnnapi_tiny.so
// A runtime refuses what no signature allows, also of operations that it does not have. With the tables of the kit it does:
//     npu-conformance kit kit && cc -shared -fPIC -O1 -Ikit -o libnnapi_tiny.so nnapi_tiny.c
// It has no CPU for the other operations, as a whole runtime does: most of `cts` is red.
// The environment variable NNAPI_TINY_CRASH makes every computation abort, which is the verdict CRASH.

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if __has_include("npu_conformance.h")
#include "npu_conformance.h"
#define HAS_TABLES
#endif

enum { NO_ERROR, OUT_OF_MEMORY, INCOMPLETE, UNEXPECTED_NULL, BAD_DATA, OP_FAILED, BAD_STATE, UNMAPPABLE,
       OUTPUT_INSUFFICIENT_SIZE };
enum { INT32 = 1, TENSOR_FLOAT32 = 3, PER_CHANNEL = 11, ADD = 0, MUL = 18, RELU = 19, LAST_OPERATION = 94, LAST_TYPE = 13 };
enum { OEM_SCALAR = 10000, TENSOR_OEM_BYTE = 10001, OEM_OPERATION = 10000 };  // legal, whatever they mean
enum { FUSED_NONE, FUSED_RELU, FUSED_RELU1, FUSED_RELU6, FUSED_COUNT };
enum { MAX_OPERANDS = 1024, MAX_OPERATIONS = 1024, MAX_RANK = 8, MAX_LIST = 256 };
enum { MOST_DIMENSIONS = 4, COPIED_AT_ONCE = 128 };
static const uint64_t NO_DURATION = UINT64_MAX;

typedef struct {
    int32_t type;
    uint32_t dimensionCount;
    const uint32_t *dimensions;
    float scale;
    int32_t zeroPoint;
} ANeuralNetworksOperandType;

typedef struct { uint32_t channelDim, scaleCount; const float *scales; } ANeuralNetworksSymmPerChannelQuantParams;

// holders: the app, until it frees it, and the models and executions that use it. mapping: where the pages begin.
typedef struct { size_t size; uint8_t *bytes, *mapping; uint32_t holders; } Memory;
typedef struct { const char *name; } Device;
typedef struct { uint32_t count, index[MAX_LIST]; } List;
typedef enum { NOWHERE, CONSTANT, OMITTED, INPUT, OUTPUT } Source;

typedef struct {
    int32_t type;
    uint32_t rank, dimensions[MAX_RANK];
    bool isInferred;               // the shape is not the app's, which left it open
    bool hasScales;                // of its channels
    Source source;
    const void *value;             // of a constant, as long as the caller or a memory object keeps it
    size_t length;
    Memory *memory;                // that a constant lies in, until the model is finished
    uint8_t copy[COPIED_AT_ONCE];  // of a small constant, whose caller need not keep it
} Operand;

typedef struct { int32_t type; List inputs, outputs; } Operation;
typedef enum { BUILDING, FINISHED, INVALID } State;

typedef struct {
    State state;
    uint32_t holders;  // whoever made it, and the compilations of it
    uint32_t operandCount, operationCount;
    Operand operands[MAX_OPERANDS];
    Operation operations[MAX_OPERATIONS];
    uint32_t order[MAX_OPERATIONS];  // in which the operations are executed
    List inputs, outputs;
    void *copies[MAX_OPERANDS];      // of large constants, made when the model is finished
} Model;

typedef struct { State state; uint32_t holders; Model *model; bool forOneDevice; } Compilation;
typedef struct { bool isSet, isTooSmall; void *bytes; Memory *memory; } Argument;

typedef struct {
    Compilation *compilation;
    bool isStarted, isMeasured;
    int result;
    Argument inputs[MAX_LIST], outputs[MAX_LIST];
} Execution;

typedef struct { int result; } Event;

static Device theDevice = {"tiny-cpu"};

// ---------------------------------------------------------------- devices

int ANeuralNetworks_getDeviceCount(uint32_t *count) {
    if (!count) return UNEXPECTED_NULL;
    *count = 1;
    return NO_ERROR;
}

int ANeuralNetworks_getDevice(uint32_t index, Device **device) {
    if (!device) return UNEXPECTED_NULL;
    if (index > 0) return BAD_DATA;
    *device = &theDevice;
    return NO_ERROR;
}

int ANeuralNetworksDevice_getName(const Device *device, const char **name) {
    if (!device || !name) return UNEXPECTED_NULL;
    *name = device->name;
    return NO_ERROR;
}

int ANeuralNetworksDevice_getVersion(const Device *device, const char **version) {
    if (!device || !version) return UNEXPECTED_NULL;
    *version = "1";
    return NO_ERROR;
}

int ANeuralNetworksDevice_getType(const Device *device, int32_t *type) {
    if (!device || !type) return UNEXPECTED_NULL;
    *type = 2;  // a CPU
    return NO_ERROR;
}

int ANeuralNetworksDevice_getFeatureLevel(const Device *device, int64_t *level) {
    if (!device || !level) return UNEXPECTED_NULL;
    *level = 29;  // feature level 3
    return NO_ERROR;
}

// ---------------------------------------------------------------- memory

int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset, Memory **memory) {
    if (!memory) return UNEXPECTED_NULL;
    *memory = NULL;
    if (size == 0 || fd < 0) return BAD_DATA;
    size_t start = offset & ~((size_t)sysconf(_SC_PAGESIZE) - 1);  // mmap wants whole pages
    uint8_t *bytes = mmap(NULL, size + (offset - start), protect, MAP_SHARED, fd, (off_t)start);
    if (bytes == MAP_FAILED) return UNMAPPABLE;
    *memory = malloc(sizeof **memory);
    if (!*memory) {
        munmap(bytes, size + (offset - start));
        return OUT_OF_MEMORY;
    }
    **memory = (Memory){size, bytes + (offset - start), bytes, 1};
    return NO_ERROR;
}

// Constants and arguments may lie in it for longer.
void ANeuralNetworksMemory_free(Memory *memory) {
    if (!memory || --memory->holders) return;
    munmap(memory->mapping, memory->size + (size_t)(memory->bytes - memory->mapping));
    free(memory);
}

// Let a place hold this memory (null: none) in place of what it held.
static void hold(Memory **place, Memory *memory) {
    if (memory) memory->holders++;
    ANeuralNetworksMemory_free(*place);
    *place = memory;
}

// ---------------------------------------------------------------- models

int ANeuralNetworksModel_create(Model **model) {
    if (!model) return UNEXPECTED_NULL;
    *model = calloc(1, sizeof **model);
    if (!*model) return OUT_OF_MEMORY;
    (*model)->holders = 1;
    return NO_ERROR;
}

// What was made from an object outlives it.
void ANeuralNetworksModel_free(Model *model) {
    if (!model || --model->holders) return;
    for (uint32_t i = 0; i < model->operandCount; i++) {
        hold(&model->operands[i].memory, NULL);
        free(model->copies[i]);
    }
    free(model);
}

static bool isTensor(int32_t type) { return type > 2 && type != 6 && type != 10 && type != OEM_SCALAR; }

static bool isType(int32_t type) {
    return (type >= 0 && type <= LAST_TYPE) || type == OEM_SCALAR || type == TENSOR_OEM_BYTE;
}

// 0: the vendor's, who is not here.
static size_t elementSize(int32_t type) {
    static const uint8_t sizes[] = {4, 4, 4, 4, 4, 1, 1, 2, 2, 1, 2, 1, 2, 1};
    return type <= LAST_TYPE ? sizes[type] : type == TENSOR_OEM_BYTE;
}

// 32 bits have to count the bytes, as far as the dimensions are known.
static bool isCountable(const ANeuralNetworksOperandType *type) {
    uint64_t size = elementSize(type->type);
    for (uint32_t i = 0; i < type->dimensionCount && size <= UINT32_MAX; i++)
        if (type->dimensions[i]) size *= type->dimensions[i];
    return size <= UINT32_MAX;
}

static bool isQuantisedRightly(const ANeuralNetworksOperandType *type) {
    int32_t largest = 0;  // zero point
    if (type->type > LAST_TYPE) return true;
    if (type->type == 4) return type->scale >= 0 && type->zeroPoint == 0;  // TENSOR_INT32 may be a quantised bias
    if (type->type == 5) largest = UINT8_MAX;
    if (type->type == 12) largest = UINT16_MAX;
    bool isQuantised = largest || type->type == 7 || type->type == 13;
    if (isQuantised ? !(type->scale > 0) : type->scale != 0) return false;
    return type->zeroPoint >= 0 && type->zeroPoint <= largest;
}

int ANeuralNetworksModel_addOperand(Model *model, const ANeuralNetworksOperandType *type) {
    if (!model || !type) return UNEXPECTED_NULL;
    if (model->state != BUILDING) return BAD_STATE;
    if (!isType(type->type) || (type->dimensionCount == 0) != (type->dimensions == NULL)) return BAD_DATA;
    if (!isQuantisedRightly(type)) return BAD_DATA;
    if (!isTensor(type->type) && type->dimensionCount > 0) return BAD_DATA;
    if (!isCountable(type)) return BAD_DATA;
    if (type->dimensionCount > MAX_RANK || model->operandCount == MAX_OPERANDS) return OUT_OF_MEMORY;
    Operand *operand = &model->operands[model->operandCount++];
    operand->type = type->type;
    operand->rank = type->dimensionCount;
    if (operand->rank) memcpy(operand->dimensions, type->dimensions, operand->rank * sizeof(uint32_t));
    return NO_ERROR;
}

int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
    Model *model, int32_t index, const ANeuralNetworksSymmPerChannelQuantParams *channels) {
    if (!model || !channels || !channels->scales) return UNEXPECTED_NULL;
    if (model->state != BUILDING) return BAD_STATE;
    if ((uint32_t)index >= model->operandCount) return BAD_DATA;
    Operand *operand = &model->operands[index];
    if (operand->type != PER_CHANNEL || channels->channelDim >= operand->rank) return BAD_DATA;
    uint32_t count = operand->dimensions[channels->channelDim];
    if (count == 0 || channels->scaleCount != count) return BAD_DATA;
    for (uint32_t i = 0; i < count; i++)
        if (!(channels->scales[i] > 0)) return BAD_DATA;
    operand->hasScales = true;
    return NO_ERROR;
}

static size_t sizeOf(int32_t type, uint32_t rank, const uint32_t *dimensions) {
    size_t size = elementSize(type);
    for (uint32_t i = 0; i < rank; i++) size *= dimensions[i];
    return isTensor(type) && rank == 0 ? 0 : size;  // 0: not known
}

static int setConstant(Model *model, int32_t index, const void *value, size_t length) {
    if ((uint32_t)index >= model->operandCount) return BAD_DATA;
    Operand *operand = &model->operands[index];
    bool isOfAnySize = operand->type == OEM_SCALAR;
    if (length == 0 || (length != sizeOf(operand->type, operand->rank, operand->dimensions) && !isOfAnySize))
        return BAD_DATA;
    operand->source = CONSTANT;
    operand->value = value;
    operand->length = length;
    return NO_ERROR;
}

int ANeuralNetworksModel_setOperandValue(Model *model, int32_t index, const void *value, size_t length) {
    if (!model || (!value && length)) return UNEXPECTED_NULL;
    if (model->state != BUILDING) return BAD_STATE;
    if (!value && (uint32_t)index < model->operandCount) {
        hold(&model->operands[index].memory, NULL);
        model->operands[index].source = OMITTED;
        return NO_ERROR;
    }
    int result = setConstant(model, index, value, length);
    if (result != NO_ERROR) return result;
    Operand *operand = &model->operands[index];
    hold(&operand->memory, NULL);
    if (length <= COPIED_AT_ONCE) {
        operand->value = memcpy(operand->copy, value, length);
    }
    return result;
}

int ANeuralNetworksModel_setOperandValueFromMemory(
    Model *model, int32_t index, const Memory *memory, size_t offset, size_t length) {
    if (!model || !memory) return UNEXPECTED_NULL;
    if (model->state != BUILDING) return BAD_STATE;
    if (offset > memory->size || length > memory->size - offset) return BAD_DATA;
    int result = setConstant(model, index, memory->bytes + offset, length);
    if (result == NO_ERROR) hold(&model->operands[index].memory, (Memory *)memory);
    return result;
}

static int take(List *list, const Model *model, uint32_t count, const uint32_t *indexes) {
    for (uint32_t i = 0; i < count; i++)
        if (indexes[i] >= model->operandCount) return BAD_DATA;
    if (count > MAX_LIST) return OUT_OF_MEMORY;
    list->count = count;
    memcpy(list->index, indexes, count * sizeof *indexes);
    return NO_ERROR;
}

static bool isMine(const Operation *operation) {
    return operation->type == ADD || operation->type == MUL || operation->type == RELU;
}

#ifdef HAS_TABLES

enum { VERSION = NNC_VERSION_1_2 };

static bool isIn(uint64_t numbers, uint32_t number) { return number < 64 && numbers >> number & 1; }

// Which argument an operand of a list is: an argument that stands for a list has all that the others leave.
static uint32_t argumentAt(const struct nnc_argument *arguments, uint32_t count, const List *list, uint32_t index) {
    uint32_t before = 0, length = list->count - (count - 1);
    while (before < count && !arguments[before].is_list) before++;
    if (before == count || index < before) return index;
    return index < before + length ? before : index - length + 1;
}

static bool isLongEnough(const struct nnc_argument *arguments, uint32_t count, const List *list) {
    uint32_t least = count - 1;
    for (uint32_t i = 0; i < count; i++)
        if (arguments[i].is_list) least += arguments[i].at_least;
    return list->count >= least;
}

static bool haveTypes(
    const Model *model, const struct nnc_argument *arguments, uint32_t count, const int16_t *codes, const List *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t at = argumentAt(arguments, count, list, i);
        bool isRight = codes[at] == NNC_ANY_TYPE || codes[at] == model->operands[list->index[i]].type;
        if (!isRight || arguments[at].since > VERSION) return false;
    }
    return true;
}

static bool haveCounts(const struct nnc_signature *signature, const Operation *operation) {
    const struct nnc_argument *inputs = &nnc_arguments[signature->first_argument], *outputs = inputs + signature->inputs;
    bool isRight = signature->input_counts ? isIn(signature->input_counts, operation->inputs.count)
                                           : isLongEnough(inputs, signature->inputs, &operation->inputs);
    if (!isRight || !signature->output_counts)
        return isRight && isLongEnough(outputs, signature->outputs, &operation->outputs);
    for (uint32_t i = 0; i < signature->output_counts; i++) {
        const struct nnc_output_counts *legal = &nnc_output_counts[signature->first_output_counts + i];
        if (legal->since <= VERSION && isIn(legal->counts, operation->outputs.count)) return true;
    }
    return false;
}

static bool fits(const Model *model, const Operation *operation, const struct nnc_signature *signature) {
    const struct nnc_argument *inputs = &nnc_arguments[signature->first_argument], *outputs = inputs + signature->inputs;
    if (!haveCounts(signature, operation)) return false;
    for (uint32_t i = 0; i < signature->types; i++) {
        const struct nnc_types *types = &nnc_types[signature->first_types + i];
        const int16_t *codes = &nnc_codes[types->first_code];
        if (types->since <= VERSION && haveTypes(model, inputs, signature->inputs, codes, &operation->inputs) &&
            haveTypes(model, outputs, signature->outputs, codes + signature->inputs, &operation->outputs))
            return true;
    }
    return false;
}

static const struct nnc_signature *signatureOf(const Model *model, const Operation *operation) {
    for (uint32_t i = 0; i < NNC_OPERATIONS; i++) {
        const struct nnc_operation *known = &nnc_operations[i];
        if (known->code != operation->type || known->since > VERSION) continue;
        for (uint32_t k = 0; k < known->signatures; k++)
            if (fits(model, operation, &nnc_signatures[known->first_signature + k]))
                return &nnc_signatures[known->first_signature + k];
    }
    return NULL;
}

static bool hasSignature(const Model *model, const Operation *operation) {
    return operation->type == OEM_OPERATION || signatureOf(model, operation);
}

// A request may leave out an input that is optional and has a size of 0: its declared shape means nothing.
static bool isOpenInput(const struct nnc_argument *argument, const Operand *operand) {
    bool isOpen = false;
    for (uint32_t i = 0; i < operand->rank; i++) isOpen = isOpen || operand->dimensions[i] == 0;
    return argument->is_optional && operand->source == INPUT && isOpen;
}

static bool haveRanks(const Model *model, const struct nnc_argument *arguments, uint32_t count, const List *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        const struct nnc_argument *argument = &arguments[argumentAt(arguments, count, list, i)];
        const Operand *operand = &model->operands[list->index[i]];
        if (operand->source == OMITTED ? !argument->is_optional
                                       : operand->rank && argument->ranks && !isIn(argument->ranks, operand->rank) &&
                                             !isOpenInput(argument, operand))
            return false;
    }
    return true;
}

// What can be said of its arguments once the model is whole: which are omitted, and their ranks.
static bool isComplete(const Model *model, const Operation *operation) {
    if (operation->type == OEM_OPERATION) return true;
    const struct nnc_signature *signature = signatureOf(model, operation);
    const struct nnc_argument *inputs = &nnc_arguments[signature->first_argument], *outputs = inputs + signature->inputs;
    return haveRanks(model, inputs, signature->inputs, &operation->inputs) &&
           haveRanks(model, outputs, signature->outputs, &operation->outputs);
}

#else

static bool isComplete(const Model *model, const Operation *operation) { return model && operation; }

// Of its own three operations the library knows the signatures; of all others that they exist.
static bool hasSignature(const Model *model, const Operation *operation) {
    uint32_t wanted = operation->type == RELU ? 1 : 3;
    if (!isMine(operation)) return true;
    if (operation->inputs.count != wanted || operation->outputs.count != 1) return false;
    const Operand *operands = model->operands;
    int32_t type = operands[operation->inputs.index[0]].type;
    if (operands[operation->outputs.index[0]].type != type) return false;
    return wanted == 1 || (operands[operation->inputs.index[1]].type == type &&
                           operands[operation->inputs.index[2]].type == INT32);
}

#endif

int ANeuralNetworksModel_addOperation(
    Model *model, int32_t type, uint32_t inputCount, const uint32_t *inputs, uint32_t outputCount,
    const uint32_t *outputs) {
    if (!model || !inputs || !outputs) return UNEXPECTED_NULL;
    if (model->state != BUILDING) return BAD_STATE;
    if ((type < 0 || type > LAST_OPERATION) && type != OEM_OPERATION) return BAD_DATA;
    if (model->operationCount == MAX_OPERATIONS) return OUT_OF_MEMORY;
    Operation *operation = &model->operations[model->operationCount];
    operation->type = type;
    int result = take(&operation->inputs, model, inputCount, inputs);
    if (!result) result = take(&operation->outputs, model, outputCount, outputs);
    if (result) return result;
    if (!hasSignature(model, operation)) return BAD_DATA;
    model->operationCount++;
    return NO_ERROR;
}

static int give(Model *model, const List *list, Source source) {
    for (uint32_t i = 0; i < list->count; i++) {
        Operand *operand = &model->operands[list->index[i]];
        if (operand->source != NOWHERE) return BAD_DATA;
        operand->source = source;
    }
    return NO_ERROR;
}

int ANeuralNetworksModel_identifyInputsAndOutputs(
    Model *model, uint32_t inputCount, const uint32_t *inputs, uint32_t outputCount, const uint32_t *outputs) {
    if (!model || !inputs || !outputs) return UNEXPECTED_NULL;
    if (model->state != BUILDING) return BAD_STATE;
    int result = take(&model->inputs, model, inputCount, inputs);
    if (!result) result = take(&model->outputs, model, outputCount, outputs);
    if (result) return result;
    return give(model, &model->inputs, INPUT) ? BAD_DATA : give(model, &model->outputs, OUTPUT);
}

int ANeuralNetworksModel_relaxComputationFloat32toFloat16(Model *model, bool allow) {
    (void)allow;  // float32 is exact enough for either
    if (!model) return UNEXPECTED_NULL;
    return model->state == BUILDING ? NO_ERROR : BAD_STATE;
}

static bool isReady(const Operation *operation, const bool *written) {
    for (uint32_t i = 0; i < operation->inputs.count; i++)
        if (!written[operation->inputs.index[i]]) return false;
    return true;
}

static bool markWritten(const Operation *operation, bool *written) {
    for (uint32_t i = 0; i < operation->outputs.count; i++) {
        if (written[operation->outputs.index[i]]) return false;
        written[operation->outputs.index[i]] = true;
    }
    return true;
}

// An operation may be added before the one whose result it reads. False for a cycle, or an operand without a writer.
static bool sort(Model *model) {
    bool written[MAX_OPERANDS] = {false}, isDone[MAX_OPERATIONS] = {false};
    for (uint32_t i = 0; i < model->operandCount; i++) {
        Source source = model->operands[i].source;
        written[i] = source == CONSTANT || source == OMITTED || source == INPUT;
    }
    for (uint32_t done = 0, before; done < model->operationCount;) {
        before = done;
        for (uint32_t i = 0; i < model->operationCount; i++) {
            if (isDone[i] || !isReady(&model->operations[i], written)) continue;
            if (!markWritten(&model->operations[i], written)) return false;
            isDone[i] = true;
            model->order[done++] = i;
        }
        if (done == before) return false;
    }
    for (uint32_t i = 0; i < model->operandCount; i++)
        if (!written[i]) return false;
    return model->operationCount && model->inputs.count && model->outputs.count;
}

// A result whose shape is open has that of the first input, in all three operations.
static void inferShapes(Model *model) {
    for (uint32_t i = 0; i < model->operationCount; i++) {
        const Operation *operation = &model->operations[model->order[i]];
        if (!isMine(operation)) continue;
        const Operand *input = &model->operands[operation->inputs.index[0]];
        Operand *output = &model->operands[operation->outputs.index[0]];
        bool isOpen = output->rank == 0;
        for (uint32_t k = 0; k < output->rank; k++) isOpen = isOpen || output->dimensions[k] == 0;
        if (!isOpen || (output->rank && output->rank != input->rank)) continue;
        output->isInferred = true;
        output->rank = input->rank;
        memcpy(output->dimensions, input->dimensions, sizeof input->dimensions);
    }
}

static bool isValid(const Model *model) {
    for (uint32_t i = 0; i < model->operandCount; i++)
        if (model->operands[i].type == PER_CHANNEL && !model->operands[i].hasScales) return false;
    for (uint32_t i = 0; i < model->operationCount; i++)
        if (!isComplete(model, &model->operations[i])) return false;
    return true;
}

int ANeuralNetworksModel_finish(Model *model) {
    if (!model) return UNEXPECTED_NULL;
    if (model->state != BUILDING) return BAD_STATE;
    model->state = isValid(model) && sort(model) ? FINISHED : INVALID;
    if (model->state == INVALID) return BAD_DATA;
    inferShapes(model);
    for (uint32_t i = 0; i < model->operandCount; i++) {
        Operand *operand = &model->operands[i];
        if (operand->source != CONSTANT || operand->value == operand->copy) continue;
        model->copies[i] = malloc(operand->length);
        if (!model->copies[i]) return OUT_OF_MEMORY;
        operand->value = memcpy(model->copies[i], operand->value, operand->length);
        hold(&operand->memory, NULL);
    }
    return NO_ERROR;
}

// ---------------------------------------------------------------- what the device can do

static bool alike(const Operand *one, const Operand *other) {
    return one->rank == other->rank && !memcmp(one->dimensions, other->dimensions, one->rank * sizeof(uint32_t));
}

// float32 tensors of one known shape of at most four dimensions, and an activation that is a legal constant.
static bool supports(const Model *model, const Operation *operation) {
    if (!isMine(operation)) return false;
    const Operand *output = &model->operands[operation->outputs.index[0]];
    uint32_t tensors = operation->type == RELU ? 1 : 2;
    for (uint32_t i = 0; i < tensors; i++) {
        const Operand *input = &model->operands[operation->inputs.index[i]];
        if (input->type != TENSOR_FLOAT32 || input->source == OMITTED || !alike(input, output)) return false;
    }
    if (output->rank > MOST_DIMENSIONS) return false;
    if (output->type != TENSOR_FLOAT32 || sizeOf(output->type, output->rank, output->dimensions) == 0) return false;
    if (tensors == 1) return true;
    const Operand *activation = &model->operands[operation->inputs.index[2]];
    if (activation->source != CONSTANT) return false;
    int32_t code = *(const int32_t *)activation->value;
    return code >= 0 && code < FUSED_COUNT;
}

static int checkDevices(const Device *const *devices, uint32_t count) {
    if (count == 0) return BAD_DATA;
    for (uint32_t i = 0; i < count; i++)
        if (!devices[i]) return UNEXPECTED_NULL;
    return count == 1 && devices[0] == &theDevice ? NO_ERROR : BAD_DATA;
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(
    const Model *model, const Device *const *devices, uint32_t count, bool *supported) {
    if (!model || !devices || !supported) return UNEXPECTED_NULL;
    if (checkDevices(devices, count)) return checkDevices(devices, count);
    if (model->state != FINISHED) return BAD_STATE;
    for (uint32_t i = 0; i < model->operationCount; i++) supported[i] = supports(model, &model->operations[i]);
    return NO_ERROR;
}

// ---------------------------------------------------------------- compilations

static int compile(Model *model, bool forOneDevice, Compilation **compilation) {
    *compilation = NULL;
    if (model->state != FINISHED) return BAD_STATE;
    *compilation = calloc(1, sizeof **compilation);
    if (!*compilation) return OUT_OF_MEMORY;
    **compilation = (Compilation){BUILDING, 1, model, forOneDevice};
    model->holders++;
    return NO_ERROR;
}

int ANeuralNetworksCompilation_create(Model *model, Compilation **compilation) {
    return model && compilation ? compile(model, false, compilation) : UNEXPECTED_NULL;
}

int ANeuralNetworksCompilation_createForDevices(
    Model *model, const Device *const *devices, uint32_t count, Compilation **compilation) {
    if (!model || !devices || !compilation) return UNEXPECTED_NULL;
    int result = checkDevices(devices, count);
    return result ? result : compile(model, true, compilation);
}

void ANeuralNetworksCompilation_free(Compilation *compilation) {
    if (!compilation || --compilation->holders) return;
    ANeuralNetworksModel_free(compilation->model);
    free(compilation);
}

int ANeuralNetworksCompilation_setPreference(Compilation *compilation, int32_t preference) {
    if (!compilation) return UNEXPECTED_NULL;
    if (compilation->state != BUILDING) return BAD_STATE;
    return preference >= 0 && preference <= 2 ? NO_ERROR : BAD_DATA;
}

int ANeuralNetworksCompilation_finish(Compilation *compilation) {
    if (!compilation) return UNEXPECTED_NULL;
    if (compilation->state != BUILDING) return BAD_STATE;
    compilation->state = INVALID;
    const Model *model = compilation->model;
    for (uint32_t i = 0; i < model->operationCount; i++)
        if (!supports(model, &model->operations[i])) return BAD_DATA;
    compilation->state = FINISHED;
    return NO_ERROR;
}

// ---------------------------------------------------------------- executions

int ANeuralNetworksExecution_create(Compilation *compilation, Execution **execution) {
    if (!compilation || !execution) return UNEXPECTED_NULL;
    *execution = NULL;
    if (compilation->state != FINISHED) return BAD_STATE;
    *execution = calloc(1, sizeof **execution);
    if (!*execution) return OUT_OF_MEMORY;
    (*execution)->compilation = compilation;
    compilation->holders++;
    return NO_ERROR;
}

void ANeuralNetworksExecution_free(Execution *execution) {
    if (!execution) return;
    for (uint32_t i = 0; i < MAX_LIST; i++) {
        hold(&execution->inputs[i].memory, NULL);
        hold(&execution->outputs[i].memory, NULL);
    }
    ANeuralNetworksCompilation_free(execution->compilation);
    free(execution);
}

static int set(
    Argument *arguments, const Execution *execution, const List *list, int32_t index,
    const ANeuralNetworksOperandType *type, void *bytes, size_t length) {
    if (execution->isStarted) return BAD_STATE;
    if ((uint32_t)index >= list->count) return BAD_DATA;
    const Operand *operand = &execution->compilation->model->operands[list->index[index]];
    if (type) {  // all shapes are known already: it may only say the same again
        if (type->type != operand->type || type->dimensionCount != operand->rank) return BAD_DATA;
        if (operand->rank && !type->dimensions) return BAD_DATA;
        if (memcmp(type->dimensions, operand->dimensions, operand->rank * sizeof(uint32_t))) return BAD_DATA;
    }
    if (arguments[index].isSet) return BAD_STATE;
    size_t size = sizeOf(operand->type, operand->rank, operand->dimensions);
    if (!bytes || (length != size && !operand->isInferred)) return BAD_DATA;
    arguments[index] = (Argument){true, length < size, bytes, NULL};
    return NO_ERROR;
}

static int setFromMemory(
    Argument *arguments, const Execution *execution, const List *list, int32_t index,
    const ANeuralNetworksOperandType *type, const Memory *memory, size_t offset, size_t length) {
    if (offset > memory->size || length > memory->size - offset) return BAD_DATA;
    int result = set(arguments, execution, list, index, type, memory->bytes + offset, length);
    if (result == NO_ERROR) hold(&arguments[index].memory, (Memory *)memory);
    return result;
}

int ANeuralNetworksExecution_setInput(
    Execution *execution, int32_t index, const ANeuralNetworksOperandType *type, const void *buffer, size_t length) {
    if (!execution || (!buffer && length)) return UNEXPECTED_NULL;
    const List *inputs = &execution->compilation->model->inputs;
    return set(execution->inputs, execution, inputs, index, type, (void *)buffer, length);
}

int ANeuralNetworksExecution_setInputFromMemory(
    Execution *execution, int32_t index, const ANeuralNetworksOperandType *type, const Memory *memory, size_t offset,
    size_t length) {
    if (!execution || !memory) return UNEXPECTED_NULL;
    const List *inputs = &execution->compilation->model->inputs;
    return setFromMemory(execution->inputs, execution, inputs, index, type, memory, offset, length);
}

int ANeuralNetworksExecution_setOutput(
    Execution *execution, int32_t index, const ANeuralNetworksOperandType *type, void *buffer, size_t length) {
    if (!execution || (!buffer && length)) return UNEXPECTED_NULL;
    const List *outputs = &execution->compilation->model->outputs;
    return set(execution->outputs, execution, outputs, index, type, buffer, length);
}

int ANeuralNetworksExecution_setOutputFromMemory(
    Execution *execution, int32_t index, const ANeuralNetworksOperandType *type, const Memory *memory, size_t offset,
    size_t length) {
    if (!execution || !memory) return UNEXPECTED_NULL;
    const List *outputs = &execution->compilation->model->outputs;
    return setFromMemory(execution->outputs, execution, outputs, index, type, memory, offset, length);
}

int ANeuralNetworksExecution_setMeasureTiming(Execution *execution, bool measure) {
    if (!execution) return UNEXPECTED_NULL;
    if (!execution->compilation->forOneDevice) return BAD_DATA;
    if (execution->isStarted) return BAD_STATE;
    execution->isMeasured = measure;
    return NO_ERROR;
}

static float activated(float value, int32_t activation) {
    float low = activation == FUSED_RELU1 ? -1.0f : 0.0f, high = activation == FUSED_RELU1 ? 1.0f : 6.0f;
    if (activation != FUSED_NONE && value < low) return low;
    return (activation == FUSED_RELU1 || activation == FUSED_RELU6) && value > high ? high : value;
}

static void perform(const Model *model, const Operation *operation, void *const *values) {
    const Operand *result = &model->operands[operation->outputs.index[0]];
    size_t elements = sizeOf(result->type, result->rank, result->dimensions) / sizeof(float);
    const float *a = values[operation->inputs.index[0]];
    float *out = values[operation->outputs.index[0]];
    if (operation->type == RELU) {
        for (size_t i = 0; i < elements; i++) out[i] = activated(a[i], FUSED_RELU);
        return;
    }
    const float *b = values[operation->inputs.index[1]];
    int32_t activation = *(const int32_t *)values[operation->inputs.index[2]];
    for (size_t i = 0; i < elements; i++)
        out[i] = activated(operation->type == ADD ? a[i] + b[i] : a[i] * b[i], activation);
}

// Where each operand's value is; temporaries get memory, which the caller frees.
static bool place(const Execution *execution, void **values, bool *isTemporary) {
    const Model *model = execution->compilation->model;
    for (uint32_t i = 0; i < model->inputs.count; i++) values[model->inputs.index[i]] = execution->inputs[i].bytes;
    for (uint32_t i = 0; i < model->outputs.count; i++) values[model->outputs.index[i]] = execution->outputs[i].bytes;
    for (uint32_t i = 0; i < model->operandCount; i++) {
        const Operand *operand = &model->operands[i];
        isTemporary[i] = operand->source == NOWHERE;
        if (operand->source == CONSTANT) values[i] = (void *)operand->value;
        if (isTemporary[i]) values[i] = malloc(sizeOf(operand->type, operand->rank, operand->dimensions));
        if (isTemporary[i] && !values[i]) return false;
    }
    return true;
}

static int compute(Execution *execution) {
    const Model *model = execution->compilation->model;
    if (execution->isStarted) return BAD_STATE;
    for (uint32_t i = 0; i < model->inputs.count; i++)
        if (!execution->inputs[i].isSet) return BAD_DATA;
    for (uint32_t i = 0; i < model->outputs.count; i++)
        if (!execution->outputs[i].isSet) return BAD_DATA;
    if (getenv("NNAPI_TINY_CRASH")) abort();
    execution->isStarted = true;
    for (uint32_t i = 0; i < model->outputs.count; i++)
        if (execution->outputs[i].isTooSmall) return execution->result = OUTPUT_INSUFFICIENT_SIZE;
    void *values[MAX_OPERANDS] = {NULL};
    bool isTemporary[MAX_OPERANDS] = {false};
    execution->result = place(execution, values, isTemporary) ? NO_ERROR : OUT_OF_MEMORY;
    for (uint32_t i = 0; i < model->operationCount && execution->result == NO_ERROR; i++)
        perform(model, &model->operations[model->order[i]], values);
    for (uint32_t i = 0; i < model->operandCount; i++)
        if (isTemporary[i]) free(values[i]);
    return execution->result;
}

int ANeuralNetworksExecution_compute(Execution *execution) {
    return execution ? compute(execution) : UNEXPECTED_NULL;
}

int ANeuralNetworksExecution_startCompute(Execution *execution, Event **event) {
    if (!event) return UNEXPECTED_NULL;
    *event = NULL;
    if (!execution) return UNEXPECTED_NULL;
    int result = compute(execution);
    if (result == BAD_STATE || result == BAD_DATA) return result;
    *event = malloc(sizeof **event);
    if (!*event) return OUT_OF_MEMORY;
    (*event)->result = result;
    return NO_ERROR;
}

int ANeuralNetworksEvent_wait(Event *event) { return event ? event->result : UNEXPECTED_NULL; }

void ANeuralNetworksEvent_free(Event *event) { free(event); }

static int output(const Execution *execution, int32_t index, const Operand **operand) {
    const Model *model = execution->compilation->model;
    if (!execution->isStarted) return BAD_STATE;
    if (execution->result != NO_ERROR && execution->result != OUTPUT_INSUFFICIENT_SIZE) return BAD_STATE;
    if ((uint32_t)index >= model->outputs.count) return BAD_DATA;
    *operand = &model->operands[model->outputs.index[index]];
    return execution->outputs[index].isTooSmall ? OUTPUT_INSUFFICIENT_SIZE : NO_ERROR;
}

int ANeuralNetworksExecution_getOutputOperandRank(Execution *execution, int32_t index, uint32_t *rank) {
    const Operand *operand;
    if (!execution || !rank) return UNEXPECTED_NULL;
    int result = output(execution, index, &operand);
    if (result == NO_ERROR || result == OUTPUT_INSUFFICIENT_SIZE) *rank = operand->rank;
    return result;
}

int ANeuralNetworksExecution_getOutputOperandDimensions(Execution *execution, int32_t index, uint32_t *dimensions) {
    const Operand *operand;
    if (!execution || !dimensions) return UNEXPECTED_NULL;
    int result = output(execution, index, &operand);
    if (result == NO_ERROR || result == OUTPUT_INSUFFICIENT_SIZE)
        memcpy(dimensions, operand->dimensions, operand->rank * sizeof(uint32_t));
    return result;
}

int ANeuralNetworksExecution_getDuration(const Execution *execution, int32_t code, uint64_t *duration) {
    if (!execution || !duration) return UNEXPECTED_NULL;
    *duration = NO_DURATION;
    if (code < 0 || code > 3) return BAD_DATA;
    return execution->isStarted && execution->isMeasured ? NO_ERROR : BAD_STATE;
}
