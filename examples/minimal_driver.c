/* A driver for the wire protocol of docs/wire-protocol.md in plain C: one file, libc only.
 *
 * Build and plug in:
 *   cc -std=c11 -O2 -Wall -Wextra -o minimal_driver examples/minimal_driver.c
 *   npu-conformance check 'exec:./minimal_driver'
 *
 * HAL 1.2 with two operations on float32 tensors of one shape, ADD (with its fused activation) and RELU. Whatever else
 * a model asks for is reported as not supported; what is malformed is refused. Memory travels by path.
 *
 * --crash-on OPERATION and --hang-on OPERATION show what the harness makes of a driver that dies or sticks.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_LIMIT = 64 << 20, DEPTH_LIMIT = 64, MAX_RANK = 8 };
enum { NONE = 0, GENERAL_FAILURE = 2, INVALID_ARGUMENT = 4 };
enum { INT32_SCALAR = 1, TENSOR_FLOAT32 = 3 };
enum { TEMPORARY, MODEL_INPUT, MODEL_OUTPUT, CONSTANT_COPY, CONSTANT_POOL, NO_VALUE };
enum { ADD = 0, RELU = 19 };
enum { PARSE_ERROR = -32700, INVALID_REQUEST = -32600, UNKNOWN_METHOD = -32601, INVALID_PARAMS = -32602 };
enum { SERVICE_ERROR = -32001, DEAD_OBJECT = -32005, MEMORY_UNREACHABLE = -32007 };
static const char NO_TIMING[] = "{\"timeOnDevice\":18446744073709551615,\"timeInDriver\":18446744073709551615}";

static int connection;
static int crash_on = -1, hang_on = -1;
static int *volatile nowhere; /* written to by --crash-on: a real SIGSEGV */

static void *allocate(size_t size) {
    void *memory = calloc(1, size ? size : 1);
    if (memory == NULL) abort();
    return memory;
}

/* ---- JSON: a tree of values that point into the line ---------------------------------------------------------- */

typedef struct Value {
    enum { J_NULL, J_FALSE, J_TRUE, J_NUMBER, J_STRING, J_ARRAY, J_OBJECT } kind;
    double number;
    char *text; /* of a string, ended by 0 */
    char *name; /* where the parent is an object */
    size_t count;
    struct Value *first, *last, *next;
} Value;

static void free_value(Value *value) {
    while (value != NULL) {
        Value *next = value->next;
        free_value(value->first);
        free(value);
        value = next;
    }
}

static char *skip_space(char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') at++;
    return at;
}

static char *put_utf8(char *out, unsigned code) {
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xC0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3F));
    } else { /* halves of a surrogate pair are kept as they are: no name or token that matters here has any */
        *out++ = (char)(0xE0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    }
    return out;
}

/* Unescape a string in place. `at` is behind the opening quote. Returns what follows the closing one, or NULL. */
static char *read_string(char *at, char **text) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char *out = *text = at;
    for (; *at != '"'; at++) {
        const char *escape;
        unsigned code;
        if ((unsigned char)*at < 0x20) return NULL;
        if (*at != '\\') {
            *out++ = *at;
        } else if (*++at != '\0' && (escape = strchr(from, *at)) != NULL) {
            *out++ = to[escape - from];
        } else if (*at == 'u' && sscanf(at + 1, "%4x", &code) == 1 && strnlen(at + 1, 4) == 4) {
            out = put_utf8(out, code);
            at += 4;
        } else {
            return NULL;
        }
    }
    *out = '\0';
    return at + 1;
}

static char *read_value(char *at, Value *value, int depth);

static char *read_members(char *at, Value *parent, char end, int depth) {
    at = skip_space(at);
    if (*at == end) return at + 1;
    for (;;) {
        Value *child = allocate(sizeof *child);
        if (parent->last != NULL) parent->last->next = child;
        else parent->first = child;
        parent->last = child;
        parent->count++;
        at = skip_space(at);
        if (end == '}') {
            if (*at != '"' || (at = read_string(at + 1, &child->name)) == NULL) return NULL;
            at = skip_space(at);
            if (*at++ != ':') return NULL;
        }
        if ((at = read_value(at, child, depth + 1)) == NULL) return NULL;
        at = skip_space(at);
        if (*at == end) return at + 1;
        if (*at++ != ',') return NULL;
    }
}

static char *read_value(char *at, Value *value, int depth) {
    static const char *const words[] = {"null", "false", "true"}; /* in the order of the kinds */
    char *end;
    if (depth > DEPTH_LIMIT) return NULL;
    at = skip_space(at);
    if (*at == '{' || *at == '[') {
        value->kind = *at == '{' ? J_OBJECT : J_ARRAY;
        return read_members(at + 1, value, *at == '{' ? '}' : ']', depth);
    }
    if (*at == '"') {
        value->kind = J_STRING;
        return read_string(at + 1, &value->text);
    }
    for (int i = 0; i < 3; i++) {
        if (strncmp(at, words[i], strlen(words[i])) == 0) {
            value->kind = i;
            return at + strlen(words[i]);
        }
    }
    if (*at != '-' && (*at < '0' || *at > '9')) return NULL;
    value->kind = J_NUMBER;
    value->number = strtod(at, &end);
    return end;
}

static Value *field(const Value *object, const char *name) {
    if (object == NULL || object->kind != J_OBJECT) return NULL;
    for (Value *child = object->first; child != NULL; child = child->next)
        if (strcmp(child->name, name) == 0) return child;
    return NULL;
}

static Value *item(const Value *array, int64_t index) {
    Value *child = array != NULL && array->kind == J_ARRAY && index >= 0 ? array->first : NULL;
    while (child != NULL && index-- > 0) child = child->next;
    return child;
}

static size_t length(const Value *array) {
    return array != NULL && array->kind == J_ARRAY ? array->count : 0;
}

static int64_t integer(const Value *value, int64_t otherwise) {
    if (value == NULL || value->kind != J_NUMBER) return otherwise;
    if (value->number >= 9.2e18 || value->number <= -9.2e18) return otherwise;
    return (int64_t)value->number;
}

/* ---- Sending -------------------------------------------------------------------------------------------------- */

typedef struct { char *data; size_t size, room; } Text;

static void append(Text *text, const char *format, ...) {
    for (;;) {
        va_list arguments;
        va_start(arguments, format);
        size_t room = text->room - text->size;
        int wanted = vsnprintf(text->data + text->size, room, format, arguments);
        va_end(arguments);
        if ((size_t)wanted < room) {
            text->size += (size_t)wanted;
            return;
        }
        text->room = text->room * 2 + (size_t)wanted + 1;
        if ((text->data = realloc(text->data, text->room)) == NULL) abort();
    }
}

static void send_text(Text *text) {
    append(text, "\n");
    for (size_t done = 0; done < text->size;) {
        ssize_t sent = send(connection, text->data + done, text->size - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) exit(0); /* the harness is gone */
        if (sent > 0) done += (size_t)sent;
    }
    free(text->data);
}

/* The id is repeated as an integer, which is what the protocol sends; a notification has none and gets no answer. */
static void send_result(const Value *id, const char *result) {
    Text text = {0};
    if (id == NULL) return;
    append(&text, "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"result\":%s}", (long long)integer(id, 0), result);
    send_text(&text);
}

static void send_error(const Value *id, int code, int status, const char *message) {
    Text text = {0};
    append(&text, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (id != NULL) append(&text, "%lld", (long long)integer(id, 0));
    else append(&text, "null");
    append(&text, ",\"error\":{\"code\":%d,\"message\":\"%s\"", code, message);
    if (code == SERVICE_ERROR) append(&text, ",\"data\":{\"status\":%d}", status);
    append(&text, "}}");
    send_text(&text);
}

/* ---- Memory --------------------------------------------------------------------------------------------------- */

typedef struct Memory { int64_t token, size; unsigned char *bytes; struct Memory *next; } Memory;

static Memory *memories;

static Memory *find_memory(int64_t token) {
    Memory *memory = memories;
    while (memory != NULL && memory->token != token) memory = memory->next;
    return memory;
}

static void attach(const Value *id, const Value *params) {
    const Value *path = field(params, "path"), *transport = field(params, "transport");
    int64_t token = integer(field(params, "token"), 0), size = integer(field(params, "size"), 0);
    if (token <= 0 || size <= 0 || find_memory(token) != NULL) {
        send_error(id, INVALID_PARAMS, 0, "memory.attach: token and size must be positive, the token new");
        return;
    }
    int is_path = transport != NULL && transport->kind == J_STRING && strcmp(transport->text, "path") == 0;
    struct stat about;
    int file = is_path && path != NULL && path->kind == J_STRING ? open(path->text, O_RDWR | O_CLOEXEC) : -1;
    int is_there = file >= 0 && fstat(file, &about) == 0 && about.st_size >= size;
    void *bytes = !is_there ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    if (bytes == MAP_FAILED) {
        send_error(id, MEMORY_UNREACHABLE, 0, "memory.attach: can not map");
        return;
    }
    Memory *memory = allocate(sizeof *memory);
    *memory = (Memory){token, size, bytes, memories};
    memories = memory;
    send_result(id, "null");
}

static void detach(int64_t token) {
    for (Memory **link = &memories; *link != NULL; link = &(*link)->next) {
        Memory *memory = *link;
        if (memory->token != token) continue;
        *link = memory->next;
        munmap(memory->bytes, (size_t)memory->size);
        free(memory);
        return;
    }
}

/* `size` bytes at `offset` of a wire Memory value, or NULL where they are not all there. */
static unsigned char *bytes_of(const Value *value, int64_t offset, int64_t size) {
    Memory *memory = find_memory(integer(field(value, "token"), 0));
    int64_t declared = integer(field(value, "size"), -1), start = integer(field(value, "offset"), 0);
    if (memory == NULL || declared < 0 || start < 0 || start > memory->size - declared) return NULL;
    if (offset < 0 || size < 0 || offset > declared - size) return NULL;
    return memory->bytes + start + offset;
}

/* ---- Models --------------------------------------------------------------------------------------------------- */

typedef struct { int64_t type, lifetime, rank, dimensions[MAX_RANK], count; float *values; int32_t scalar; } Operand;
typedef struct { int64_t code, inputs[3], output; } Operation;
typedef struct {
    size_t operand_count, operation_count, input_count, output_count;
    Operand *operands;
    Operation *operations;
    int64_t *inputs, *outputs;
} Model;

static Model **prepared; /* object number 2 + i is prepared[i], NULL where it was released */
static int64_t prepared_count;

static void free_model(Model *model) {
    if (model == NULL) return;
    for (size_t i = 0; model->operands != NULL && i < model->operand_count; i++) free(model->operands[i].values);
    free(model->operands);
    free(model->operations);
    free(model->inputs);
    free(model->outputs);
    free(model);
}

static int indexes_fit(const Value *indexes, size_t limit) {
    for (const Value *index = indexes == NULL ? NULL : indexes->first; index != NULL; index = index->next)
        if (integer(index, -1) < 0 || integer(index, -1) >= (int64_t)limit) return 0;
    return 1;
}

/* Every index of a graph names an operand, and every operation reads and writes something. */
static int is_well_formed(const Value *main_graph) {
    size_t operands = length(field(main_graph, "operands"));
    const Value *operations = field(main_graph, "operations");
    if (length(operations) == 0 || length(field(main_graph, "outputIndexes")) == 0) return 0;
    for (const Value *operation = operations->first; operation != NULL; operation = operation->next) {
        const Value *inputs = field(operation, "inputs"), *outputs = field(operation, "outputs");
        if (length(inputs) == 0 || length(outputs) == 0) return 0;
        if (!indexes_fit(inputs, operands) || !indexes_fit(outputs, operands)) return 0;
    }
    return indexes_fit(field(main_graph, "inputIndexes"), operands) &&
           indexes_fit(field(main_graph, "outputIndexes"), operands);
}

static int is_float_tensor(const Value *operand) {
    const Value *dimensions = field(operand, "dimensions");
    int64_t lifetime = integer(field(operand, "lifetime"), -1), count = 1;
    if (integer(field(operand, "type"), -1) != TENSOR_FLOAT32 || lifetime < TEMPORARY || lifetime >= NO_VALUE) return 0;
    if (length(dimensions) == 0 || length(dimensions) > MAX_RANK) return 0;
    for (const Value *dimension = dimensions->first; dimension != NULL; dimension = dimension->next) {
        if (integer(dimension, 0) <= 0 || integer(dimension, 0) > (1 << 24)) return 0;
        if ((count *= integer(dimension, 0)) > (1 << 24)) return 0;
    }
    return 1;
}

static int same_dimensions(const Value *left, const Value *right) {
    left = field(left, "dimensions"), right = field(right, "dimensions");
    if (length(left) != length(right)) return 0;
    for (size_t i = 0; i < length(left); i++)
        if (integer(item(left, (int64_t)i), -1) != integer(item(right, (int64_t)i), -2)) return 0;
    return 1;
}

static int is_supported(const Value *main_graph, const Value *operation) {
    const Value *operands = field(main_graph, "operands"), *inputs = field(operation, "inputs");
    int64_t code = integer(field(operation, "type"), -1);
    if ((code != ADD && code != RELU) || length(inputs) != (code == ADD ? 3 : 1)) return 0;
    if (length(field(operation, "outputs")) != 1) return 0;
    const Value *first = item(operands, integer(item(inputs, 0), -1));
    const Value *output = item(operands, integer(item(field(operation, "outputs"), 0), -1));
    if (!is_float_tensor(first) || !is_float_tensor(output) || !same_dimensions(first, output)) return 0;
    if (code == RELU) return 1;
    const Value *second = item(operands, integer(item(inputs, 1), -1));
    const Value *activation = item(operands, integer(item(inputs, 2), -1));
    return is_float_tensor(second) && same_dimensions(first, second) &&
           integer(field(activation, "type"), -1) == INT32_SCALAR &&
           integer(field(activation, "lifetime"), -1) == CONSTANT_COPY;
}

static unsigned char *decode_base64(const char *text, int64_t *size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *bytes = allocate(strlen(text) / 4 * 3 + 3);
    unsigned pending = 0, bits = 0;
    *size = 0;
    for (; *text != '\0' && *text != '='; text++) {
        const char *digit = strchr(digits, *text);
        if (digit == NULL) continue;
        pending = pending << 6 | (unsigned)(digit - digits);
        if ((bits += 6) >= 8) bytes[(*size)++] = (unsigned char)(pending >> (bits -= 8));
    }
    return bytes;
}

static void *storage_of(Operand *operand) {
    return operand->type == TENSOR_FLOAT32 ? (void *)operand->values : (void *)&operand->scalar;
}

/* Bytes of a constant operand, or NULL where the model does not hold them. */
static const unsigned char *constant(const Value *model, const Value *operand, const unsigned char *values,
                                     int64_t size, int64_t wanted) {
    const Value *location = field(operand, "location");
    int64_t offset = integer(field(location, "offset"), -1);
    if (integer(field(location, "length"), -1) != wanted || offset < 0) return NULL;
    if (integer(field(operand, "lifetime"), -1) == CONSTANT_COPY)
        return offset <= size - wanted ? values + offset : NULL;
    return bytes_of(item(field(model, "pools"), integer(field(location, "poolIndex"), -1)), offset, wanted);
}

static int read_operand(const Value *model, const Value *value, const unsigned char *values, int64_t size,
                        Operand *operand) {
    const Value *dimensions = field(value, "dimensions");
    operand->type = integer(field(value, "type"), -1);
    operand->lifetime = integer(field(value, "lifetime"), -1);
    operand->rank = (int64_t)length(dimensions);
    operand->count = 1;
    for (int64_t i = 0; i < operand->rank; i++)
        operand->count *= operand->dimensions[i] = integer(item(dimensions, i), 0);
    if (operand->type == TENSOR_FLOAT32) operand->values = allocate((size_t)operand->count * sizeof(float));
    if (operand->lifetime != CONSTANT_COPY && operand->lifetime != CONSTANT_POOL) return 1;
    int64_t wanted = operand->type == TENSOR_FLOAT32 ? operand->count * 4 : 4;
    const unsigned char *bytes = constant(model, value, values, size, wanted);
    if (bytes == NULL) return 0;
    memcpy(storage_of(operand), bytes, (size_t)wanted);
    return operand->type == TENSOR_FLOAT32 || (operand->scalar >= 0 && operand->scalar <= 3);
}

static int64_t *read_indexes(const Value *indexes, size_t *count) {
    *count = length(indexes);
    int64_t *numbers = allocate(*count * sizeof *numbers);
    for (size_t i = 0; i < *count; i++) numbers[i] = integer(item(indexes, (int64_t)i), 0);
    return numbers;
}

static void read_operation(const Value *value, Operation *operation) {
    operation->code = integer(field(value, "type"), -1);
    for (int64_t i = 0; i < 3; i++) operation->inputs[i] = integer(item(field(value, "inputs"), i), 0);
    operation->output = integer(item(field(value, "outputs"), 0), 0);
}

/* Build what an execution needs. NULL where a constant is wrong. All operations are known to be supported. */
static Model *read_model(const Value *value) {
    const Value *graph = field(value, "main"), *text = field(value, "operandValues");
    Model *model = allocate(sizeof *model);
    int64_t size;
    unsigned char *values = decode_base64(text != NULL && text->kind == J_STRING ? text->text : "", &size);
    int right = 1;
    model->operand_count = length(field(graph, "operands"));
    model->operands = allocate(model->operand_count * sizeof *model->operands);
    for (size_t i = 0; right && i < model->operand_count; i++) {
        const Value *operand = item(field(graph, "operands"), (int64_t)i);
        int64_t type = integer(field(operand, "type"), -1);
        int is_scalar = type == INT32_SCALAR && length(field(operand, "dimensions")) == 0;
        int usable = is_scalar || is_float_tensor(operand);
        right = usable && read_operand(value, operand, values, size, &model->operands[i]);
    }
    free(values);
    model->operation_count = length(field(graph, "operations"));
    model->operations = allocate(model->operation_count * sizeof *model->operations);
    for (size_t i = 0; i < model->operation_count; i++)
        read_operation(item(field(graph, "operations"), (int64_t)i), &model->operations[i]);
    model->inputs = read_indexes(field(graph, "inputIndexes"), &model->input_count);
    model->outputs = read_indexes(field(graph, "outputIndexes"), &model->output_count);
    if (right) return model;
    free_model(model);
    return NULL;
}

static int64_t keep_model(Model *model) {
    prepared = realloc(prepared, (size_t)(prepared_count + 1) * sizeof *prepared);
    if (prepared == NULL) abort();
    prepared[prepared_count++] = model;
    return prepared_count + 1;
}

/* ---- Execution ------------------------------------------------------------------------------------------------ */

static float activate(float value, int32_t fuse) {
    float low = fuse == 2 ? -1.0f : 0.0f, high = fuse == 2 ? 1.0f : 6.0f;
    if (fuse == 0) return value;
    if (value < low) return low;
    return fuse != 1 && value > high ? high : value;
}

static void run_operation(const Model *model, const Operation *operation) {
    const Operand *first = &model->operands[operation->inputs[0]];
    Operand *output = &model->operands[operation->output];
    if (operation->code == crash_on) *nowhere = 1;
    while (operation->code == hang_on) pause();
    for (int64_t i = 0; i < output->count; i++) {
        if (operation->code == RELU) {
            output->values[i] = activate(first->values[i], 1);
        } else {
            const Operand *second = &model->operands[operation->inputs[1]];
            int32_t fuse = model->operands[operation->inputs[2]].scalar;
            output->values[i] = activate(first->values[i] + second->values[i], fuse);
        }
    }
}

/* The bytes of a request's argument: NULL where it is wrong. An output may be too small: *size says what it has. */
static unsigned char *argument_bytes(const Value *request, const Value *argument, const Operand *operand,
                                     int64_t *size) {
    const Value *location = field(argument, "location"), *dimensions = field(argument, "dimensions");
    const Value *pool = item(field(request, "pools"), integer(field(location, "poolIndex"), -1));
    const Value *no_value = field(argument, "hasNoValue");
    int64_t rank = (int64_t)length(dimensions);
    if ((no_value != NULL && no_value->kind == J_TRUE) || (rank != 0 && rank != operand->rank)) return NULL;
    for (int64_t i = 0; i < rank; i++)
        if (integer(item(dimensions, i), -1) != operand->dimensions[i]) return NULL;
    *size = integer(field(location, "length"), -1);
    return bytes_of(field(pool, "pool"), integer(field(location, "offset"), -1), *size);
}

static int copy_inputs(const Model *model, const Value *request) {
    for (size_t i = 0; i < model->input_count; i++) {
        Operand *operand = &model->operands[model->inputs[i]];
        int64_t size;
        const Value *argument = item(field(request, "inputs"), (int64_t)i);
        const unsigned char *bytes = argument_bytes(request, argument, operand, &size);
        int64_t wanted = operand->type == TENSOR_FLOAT32 ? operand->count * 4 : 4;
        if (bytes == NULL || size != wanted) return 0;
        memcpy(storage_of(operand), bytes, (size_t)size);
    }
    return 1;
}

/* Copy what fits; write the shapes. Returns 0 where an argument is wrong, 1 where an output was too small, 2 else. */
static int copy_outputs(const Model *model, const Value *request, Text *shapes) {
    int outcome = 2;
    for (size_t i = 0; i < model->output_count; i++) {
        const Operand *operand = &model->operands[model->outputs[i]];
        int64_t size;
        unsigned char *bytes = argument_bytes(request, item(field(request, "outputs"), (int64_t)i), operand, &size);
        if (bytes == NULL || operand->type != TENSOR_FLOAT32) return 0;
        int fits = size >= operand->count * 4;
        if (fits) memcpy(bytes, operand->values, (size_t)operand->count * 4);
        else outcome = 1;
        append(shapes, "%s{\"dimensions\":[", i ? "," : "");
        for (int64_t k = 0; k < operand->rank; k++)
            append(shapes, "%s%lld", k ? "," : "", (long long)operand->dimensions[k]);
        append(shapes, "],\"isSufficient\":%s}", fits ? "true" : "false");
    }
    return outcome;
}

static int execute(const Model *model, const Value *request, Text *shapes) {
    if (length(field(request, "inputs")) != model->input_count) return 0;
    if (length(field(request, "outputs")) != model->output_count || !copy_inputs(model, request)) return 0;
    for (size_t i = 0; i < model->operation_count; i++) run_operation(model, &model->operations[i]);
    return copy_outputs(model, request, shapes);
}

/* ---- Methods -------------------------------------------------------------------------------------------------- */

static void initialize(const Value *id, const Value *params) {
    (void)params;
    send_result(id,
                "{\"protocolVersion\":1,\"manifest\":{\"name\":\"minimal\",\"vendor\":\"npu-conformance examples\","
                "\"version\":\"1\",\"interfaces\":[\"device\"],\"hal_version\":\"1.2\",\"instance\":\"minimal-device\","
                "\"memory_transports\":[\"path\"],\"deadlines\":{\"prepare\":2,\"execute\":2,\"call\":2,\"start\":10}},"
                "\"objects\":{\"device\":1},\"transports\":[\"path\"],\"identity\":false}");
}

static void get_capabilities(const Value *id, const Value *params) {
    Text text = {0};
    (void)params;
    append(&text, "{\"relaxedFloat32toFloat16PerformanceScalar\":{\"execTime\":1,\"powerUsage\":1},"
                  "\"relaxedFloat32toFloat16PerformanceTensor\":{\"execTime\":1,\"powerUsage\":1},"
                  "\"operandPerformance\":[");
    for (int type = 0; type < 14; type++)
        append(&text, "%s{\"type\":%d,\"info\":{\"execTime\":1,\"powerUsage\":1}}", type ? "," : "", type);
    append(&text, "]}");
    send_result(id, text.data);
    free(text.data);
}

static void get_supported_operations(const Value *id, const Value *params) {
    const Value *graph = field(field(params, "model"), "main");
    Text text = {0};
    if (!is_well_formed(graph)) {
        send_error(id, SERVICE_ERROR, INVALID_ARGUMENT, "the model is malformed");
        return;
    }
    append(&text, "[");
    for (const Value *operation = field(graph, "operations")->first; operation != NULL; operation = operation->next)
        append(&text, "%s%s", text.size > 1 ? "," : "", is_supported(graph, operation) ? "true" : "false");
    append(&text, "]");
    send_result(id, text.data);
    free(text.data);
}

static void notify_prepared(const Value *params, int status, int64_t number) {
    Text text = {0};
    append(&text, "{\"jsonrpc\":\"2.0\",\"method\":\"preparedModelCallback.notify\",");
    append(&text, "\"params\":{\"object\":%lld,\"status\":%d,",
           (long long)integer(field(params, "callback"), 0), status);
    if (number > 0) append(&text, "\"preparedModel\":%lld}}", (long long)number);
    else append(&text, "\"preparedModel\":null}}");
    send_text(&text);
}

static void prepare_model(const Value *id, const Value *params) {
    const Value *model = field(params, "model"), *graph = field(model, "main");
    int64_t preference = integer(field(params, "preference"), 1);
    int status = is_well_formed(graph) && preference >= 0 && preference <= 2 ? NONE : INVALID_ARGUMENT;
    int supported = 1;
    const Value *operation = status == NONE ? field(graph, "operations")->first : NULL;
    for (; operation != NULL; operation = operation->next) supported &= is_supported(graph, operation);
    if (integer(field(params, "callback"), 0) == 0) { /* nobody to tell */
        send_error(id, SERVICE_ERROR, INVALID_ARGUMENT, "the callback is null");
        return;
    }
    Model *built = status == NONE && supported ? read_model(model) : NULL;
    if (status == NONE && supported && built == NULL) status = INVALID_ARGUMENT;
    /* An invalid model is refused at once; one that is only not supported is accepted, and its callback hears of it. */
    int outcome = status == NONE && !supported ? GENERAL_FAILURE : status;
    notify_prepared(params, outcome, built != NULL ? keep_model(built) : 0);
    if (status == NONE) send_result(id, "null");
    else send_error(id, SERVICE_ERROR, status, "the model is invalid");
}

/* There is nothing to restore where no cache files are wanted. */
static void prepare_model_from_cache(const Value *id, const Value *params) {
    int has_callback = integer(field(params, "callback"), 0) != 0;
    if (has_callback) notify_prepared(params, GENERAL_FAILURE, 0);
    send_error(id, SERVICE_ERROR, has_callback ? GENERAL_FAILURE : INVALID_ARGUMENT, "this driver does not cache");
}

static Model *model_of(const Value *params) {
    int64_t index = integer(field(params, "object"), 0) - 2;
    return index >= 0 && index < prepared_count ? prepared[index] : NULL;
}

static void execute_synchronously(const Value *id, const Value *params) {
    Model *model = model_of(params);
    Text shapes = {0}, text = {0};
    append(&shapes, "%s", "");
    int outcome = model != NULL ? execute(model, field(params, "request"), &shapes) : 0;
    if (model == NULL) {
        send_error(id, DEAD_OBJECT, 0, "no such prepared model");
    } else if (outcome == 0) {
        send_error(id, SERVICE_ERROR, INVALID_ARGUMENT, "the request does not fit the model");
    } else {
        append(&text, "{\"outputSufficientSize\":%s,\"outputShapes\":[%s],\"timing\":%s}",
               outcome == 2 ? "true" : "false", shapes.data, NO_TIMING);
        send_result(id, text.data);
    }
    free(shapes.data);
    free(text.data);
}

static void execute_asynchronously(const Value *id, const Value *params) {
    static const int statuses[] = {INVALID_ARGUMENT, 3, NONE};
    Model *model = model_of(params);
    Text shapes = {0}, text = {0};
    append(&shapes, "%s", "");
    int outcome = model != NULL ? execute(model, field(params, "request"), &shapes) : 0;
    append(&text, "{\"jsonrpc\":\"2.0\",\"method\":\"executionCallback.notify\",");
    append(&text, "\"params\":{\"object\":%lld,\"status\":%d,\"outputShapes\":[%s],\"timing\":%s}}",
           (long long)integer(field(params, "callback"), 0), statuses[outcome], outcome ? shapes.data : "", NO_TIMING);
    send_text(&text);
    if (outcome == 0) send_error(id, SERVICE_ERROR, INVALID_ARGUMENT, "the request does not fit the model");
    else send_result(id, "null");
    free(shapes.data);
}

static void ping(const Value *id, const Value *params) { (void)params, send_result(id, "null"); }
static void get_status(const Value *id, const Value *params) { (void)params, send_result(id, "0"); }
static void get_type(const Value *id, const Value *params) { (void)params, send_result(id, "2"); }
static void get_version_string(const Value *id, const Value *params) { (void)params, send_result(id, "\"minimal 1\""); }
static void get_supported_extensions(const Value *id, const Value *params) { (void)params, send_result(id, "[]"); }

static void get_number_of_cache_files_needed(const Value *id, const Value *params) {
    (void)params;
    send_result(id, "{\"numModelCache\":0,\"numDataCache\":0}");
}

static void detach_memory(const Value *id, const Value *params) {
    detach(integer(field(params, "token"), 0));
    send_result(id, "null");
}

/* The harness holds each prepared model once: it was sent once. */
static void release(const Value *id, const Value *params) {
    int64_t index = integer(field(params, "object"), 0) - 2;
    if (index >= 0 && index < prepared_count) {
        free_model(prepared[index]);
        prepared[index] = NULL;
    }
    send_result(id, "null");
}

static const struct { const char *name; void (*handle)(const Value *, const Value *); } methods[] = {
    {"initialize", initialize},
    {"ping", ping},
    {"object.release", release},
    {"memory.attach", attach},
    {"memory.detach", detach_memory},
    {"device.getCapabilities", get_capabilities},
    {"device.getStatus", get_status},
    {"device.getType", get_type},
    {"device.getVersionString", get_version_string},
    {"device.getSupportedExtensions", get_supported_extensions},
    {"device.getNumberOfCacheFilesNeeded", get_number_of_cache_files_needed},
    {"device.getSupportedOperations", get_supported_operations},
    {"device.prepareModel", prepare_model},
    {"device.prepareModelFromCache", prepare_model_from_cache},
    {"preparedModel.execute", execute_asynchronously},
    {"preparedModel.executeSynchronously", execute_synchronously},
};

static void handle(const Value *message) {
    const Value *id = field(message, "id"), *method = field(message, "method");
    if (id != NULL && id->kind != J_NUMBER) id = NULL;
    if (message->kind != J_OBJECT || method == NULL || method->kind != J_STRING) {
        /* An answer would be to a request, and this driver makes none. */
        send_error(id, INVALID_REQUEST, 0, "expected a request");
        return;
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(methods[i].name, method->text) == 0) {
            methods[i].handle(id, field(message, "params"));
            return;
        }
    }
    if (id != NULL) send_error(id, UNKNOWN_METHOD, 0, "no such method");
}

static void handle_line(char *line) {
    Value *message = allocate(sizeof *message);
    char *end = read_value(line, message, 0);
    if (end == NULL || *skip_space(end) != '\0') send_error(NULL, PARSE_ERROR, 0, "not JSON");
    else handle(message);
    free_value(message);
}

static int operation_named(const char *name) {
    if (name != NULL && strcmp(name, "ADD") == 0) return ADD;
    if (name != NULL && strcmp(name, "RELU") == 0) return RELU;
    fprintf(stderr, "expected ADD or RELU\n");
    exit(2);
}

static void read_arguments(int count, char **arguments) {
    for (int i = 1; i < count; i += 2) {
        if (strcmp(arguments[i], "--crash-on") == 0) {
            crash_on = operation_named(arguments[i + 1]);
        } else if (strcmp(arguments[i], "--hang-on") == 0) {
            hang_on = operation_named(arguments[i + 1]);
        } else {
            fprintf(stderr, "usage: %s [--crash-on OPERATION] [--hang-on OPERATION]\n", arguments[0]);
            exit(2);
        }
    }
}

int main(int count, char **arguments) {
    const char *number = getenv("NPU_CONFORMANCE_FD");
    read_arguments(count, arguments);
    if (number == NULL) {
        fprintf(stderr, "NPU_CONFORMANCE_FD is not set: run me as --plugin 'exec:%s'\n", arguments[0]);
        return 2;
    }
    connection = atoi(number);
    FILE *lines = fdopen(dup(connection), "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    if (lines == NULL) return 1;
    while ((size = getline(&line, &room, lines)) > 0) {
        if (size > LINE_LIMIT || line[size - 1] != '\n') break;
        if (strlen(line) != (size_t)size) send_error(NULL, PARSE_ERROR, 0, "not JSON: a zero byte");
        else handle_line(line);
    }
    return 0;
}
