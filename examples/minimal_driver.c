/* A driver for the wire protocol of docs/wire-protocol.md in plain C: one file, libc only.
 *
 * Build and plug in:
 *   cc -std=c11 -O2 -Wall -Wextra -o minimal_driver examples/minimal_driver.c
 *   npu-conformance check 'exec:./minimal_driver'
 *
 * HAL 1.0 with two operations on float32 tensors of one shape, ADD (with its fused activation) and RELU. Whatever else
 * a model asks for is reported as not supported; but what HAL 1.0 does not allow is refused, also where it concerns one
 * of the 27 other operations. That is most of what a driver has to do before it computes anything. Memory travels by path.
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

enum { LINE_LIMIT = 64 << 20, DEPTH_LIMIT = 64, MAX_RANK = 4 };
enum { NONE = 0, GENERAL_FAILURE = 2, INVALID_ARGUMENT = 4 };
enum { FLOAT32_SCALAR, INT32_SCALAR, UINT32_SCALAR, TENSOR_FLOAT32, TENSOR_INT32, TENSOR_QUANT8_ASYMM };
enum { TEMPORARY, MODEL_INPUT, MODEL_OUTPUT, CONSTANT_COPY, CONSTANT_POOL, NO_VALUE };
enum { ADD = 0, RELU = 19 };
enum { PARSE_ERROR = -32700, INVALID_REQUEST = -32600, UNKNOWN_METHOD = -32601, INVALID_PARAMS = -32602 };
enum { SERVICE_ERROR = -32001, MEMORY_UNREACHABLE = -32007 };

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

static double real(const Value *value) {
    if (value != NULL && value->kind == J_STRING) return strtod(value->text, NULL); /* NaN and the infinities */
    return value != NULL && value->kind == J_NUMBER ? value->number : 0;
}

static int is_word(const Value *value, const char *word) {
    return value != NULL && value->kind == J_STRING && strcmp(value->text, word) == 0;
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
    int is_path = is_word(transport, "path");
    struct stat about;
    int file = is_path && path != NULL && path->kind == J_STRING ? open(path->text, O_RDWR | O_CLOEXEC) : -1;
    int is_there = file >= 0 && fstat(file, &about) == 0 && about.st_size >= size;
    void *bytes = !is_there ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    if (bytes == MAP_FAILED) {
        send_error(id, MEMORY_UNREACHABLE, 0, "memory.attach: cannot map");
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

/* Of a kind that HAL 1.0 has, with a handle. */
static int is_pool_valid(const Value *pool) {
    const Value *kind = field(pool, "kind");
    if (integer(field(pool, "token"), 0) == 0 || integer(field(pool, "size"), -1) < 0) return 0;
    return integer(field(pool, "offset"), 0) >= 0 && (is_word(kind, "ashmem") || is_word(kind, "mmap_fd"));
}

/* ---- Validation: the rules of operands and graphs --------------------------------------------------------------- */

enum { OEM = 10000, TENSOR_OEM_BYTE = 10001 };
enum { MUST_BE_ZERO, NOT_NEGATIVE, POSITIVE };
typedef struct { int size, is_scalar, scale, last_zero_point; } Kind;

static const Kind kinds[] = {
    {4, 1, MUST_BE_ZERO, 0}, /* FLOAT32 */
    {4, 1, MUST_BE_ZERO, 0}, /* INT32 */
    {4, 1, MUST_BE_ZERO, 0}, /* UINT32 */
    {4, 0, MUST_BE_ZERO, 0}, /* TENSOR_FLOAT32 */
    {4, 0, NOT_NEGATIVE, 0}, /* TENSOR_INT32 */
    {1, 0, POSITIVE, 255},   /* TENSOR_QUANT8_ASYMM */
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int is_type(int64_t type) {
    return (type >= 0 && type < KINDS) || type == OEM || type == TENSOR_OEM_BYTE;
}

static int is_quantisation_valid(const Value *operand, const Kind *kind) {
    double scale = real(field(operand, "scale"));
    int64_t zero_point = integer(field(operand, "zeroPoint"), 0);
    if (zero_point < 0 || zero_point > kind->last_zero_point) return 0;
    if (kind->scale == MUST_BE_ZERO) return scale == 0;
    return kind->scale == NOT_NEGATIVE ? !(scale < 0) : !(scale <= 0);
}

/* Bytes of a constant with these dimensions, -1 where one is unknown or there are too many. */
static int64_t constant_size(const Value *dimensions, int64_t size) {
    for (const Value *one = length(dimensions) ? dimensions->first : NULL; one != NULL; one = one->next)
        if (integer(one, 0) <= 0 || __builtin_mul_overflow(size, integer(one, 0), &size)) return -1;
    return size;
}

/* A constant lies inside of its memory and fills its location; what is no constant has none. */
static int is_location_valid(const Value *model, const Value *operand, int64_t lifetime, int64_t size) {
    const Value *location = field(operand, "location"), *values = field(model, "operandValues");
    int64_t pool = integer(field(location, "poolIndex"), 0), offset = integer(field(location, "offset"), 0);
    int64_t bytes = integer(field(location, "length"), 0), room = 0;
    if (lifetime != CONSTANT_COPY && lifetime != CONSTANT_POOL) return pool == 0 && offset == 0 && bytes == 0;
    if (lifetime == CONSTANT_POOL) {
        room = integer(field(item(field(model, "pools"), pool), "size"), -1);
    } else if (pool != 0) {
        return 0;
    } else if (values != NULL && values->kind == J_STRING) {
        room = (int64_t)(strcspn(values->text, "=") * 3 / 4);
    }
    if (offset < 0 || bytes < 0 || bytes > room || offset > room - bytes) return 0;
    return size == 0 || constant_size(field(operand, "dimensions"), size) == bytes;
}

static int is_operand_valid(const Value *model, const Value *operand) {
    int64_t type = integer(field(operand, "type"), -1), lifetime = integer(field(operand, "lifetime"), -1);
    size_t rank = length(field(operand, "dimensions"));
    if (!is_type(type) || lifetime < TEMPORARY || lifetime > NO_VALUE) return 0;
    int is_scalar = type == OEM || (type < KINDS && kinds[type].is_scalar);
    if (type != TENSOR_OEM_BYTE && is_scalar != (rank == 0)) return 0;
    if (type == TENSOR_OEM_BYTE && rank == 0) return 0;
    if (!is_location_valid(model, operand, lifetime, type < KINDS ? kinds[type].size : 0)) return 0;
    return type >= KINDS || is_quantisation_valid(operand, &kinds[type]);
}

/* Every operand of this lifetime is listed once, and nothing else is. */
static int is_list_valid(const Value *const *operands, size_t count, const Value *indexes, int64_t lifetime) {
    char *is_listed = allocate(count);
    int right = 1;
    for (const Value *one = length(indexes) ? indexes->first : NULL; right && one != NULL; one = one->next) {
        int64_t index = integer(one, -1);
        right = index >= 0 && index < (int64_t)count && !is_listed[index]++;
    }
    for (size_t i = 0; right && i < count; i++)
        right = is_listed[i] == (integer(field(operands[i], "lifetime"), -1) == lifetime);
    free(is_listed);
    return right;
}

/* Operations in the order in which they can run; each value is written once and read as often as it says. */
static int is_order_valid(const Value *operations, const Value *const *operands, size_t count) {
    char *has_value = allocate(count), *may_be_written = allocate(count);
    int64_t *readers = allocate(count * sizeof *readers);
    int right = 1;
    for (size_t i = 0; i < count; i++) {
        int64_t lifetime = integer(field(operands[i], "lifetime"), -1);
        has_value[i] = !(may_be_written[i] = lifetime == TEMPORARY || lifetime == MODEL_OUTPUT);
    }
    for (const Value *operation = operations->first; operation != NULL; operation = operation->next) {
        for (const Value *one = field(operation, "inputs")->first; one != NULL; one = one->next) {
            right &= has_value[integer(one, 0)];
            readers[integer(one, 0)]++;
        }
        for (const Value *one = field(operation, "outputs")->first; one != NULL; one = one->next) {
            int64_t index = integer(one, 0);
            right &= may_be_written[index] && !has_value[index];
            has_value[index] = 1;
        }
    }
    for (size_t i = 0; i < count; i++)
        right &= has_value[i] && integer(field(operands[i], "numberOfConsumers"), 0) == readers[i];
    free(has_value), free(may_be_written), free(readers);
    return right;
}

static int indexes_fit(const Value *indexes, size_t limit) {
    for (const Value *index = length(indexes) ? indexes->first : NULL; index != NULL; index = index->next)
        if (integer(index, -1) < 0 || integer(index, -1) >= (int64_t)limit) return 0;
    return length(indexes) > 0;
}

/* The operands of each operation of HAL 1.0, inputs > outputs. F, Q, I are the tensors FLOAT32, QUANT8_ASYMM, INT32; f, i
 * the scalars FLOAT32, INT32; o a tensor FLOAT32 that may be omitted. T is one of `types`, B the bias of such a T, and +
 * repeats what stands before it. */
static const struct { int code; const char *operands, *types; } signatures[] = {
    {0, "TTi>T", "FQ"},                                                                        /* ADD */
    {1, "Tiiiiiiiii>T", "FQ"}, {1, "Tiiiiii>T", "FQ"},                                         /* AVERAGE_POOL_2D */
    {2, "T+i>T", "FQ"},                                                                        /* CONCATENATION */
    {3, "TTBiiiiiii>T", "FQ"}, {3, "TTBiiii>T", "FQ"},                                         /* CONV_2D */
    {4, "TTBiiiiiiii>T", "FQ"}, {4, "TTBiiiii>T", "FQ"},                                       /* DEPTHWISE_CONV_2D */
    {5, "Ti>T", "FQ"},                                                                         /* DEPTH_TO_SPACE */
    {6, "Q>F", "Q"},                                                                           /* DEQUANTIZE */
    {7, "IT>T", "F"},                                                                          /* EMBEDDING_LOOKUP */
    {8, "T>T", "F"},                                                                           /* FLOOR */
    {9, "TTBi>T", "FQ"},                                                                       /* FULLY_CONNECTED */
    {10, "IIT>TQ", "FIQ"},                                                                     /* HASHTABLE_LOOKUP */
    {11, "T>T", "F"},                                                                          /* L2_NORMALIZATION */
    {12, "Tiiiiiiiii>T", "F"}, {12, "Tiiiiii>T", "F"},                                         /* L2_POOL_2D */
    {13, "Tifff>T", "F"},                                                                      /* LOCAL_RESPONSE_... */
    {14, "T>T", "FQ"},                                                                         /* LOGISTIC */
    {15, "FToi>I", "FIQ"},                                                                     /* LSH_PROJECTION */
    {16, "FoFFFoFFFooooFFFooFFiff>FFFF", "F"},                                                 /* LSTM */
    {17, "Tiiiiiiiii>T", "FQ"}, {17, "Tiiiiii>T", "FQ"},                                       /* MAX_POOL_2D */
    {18, "TTi>T", "FQ"},                                                                       /* MUL */
    {19, "T>T", "FQ"}, {20, "T>T", "FQ"}, {21, "T>T", "FQ"},                                   /* RELU, RELU1, RELU6 */
    {22, "TI>T", "FQ"},                                                                        /* RESHAPE */
    {23, "Tii>T", "F"},                                                                        /* RESIZE_BILINEAR */
    {24, "FFFFFi>FF", "F"},                                                                    /* RNN */
    {25, "Tf>T", "FQ"},                                                                        /* SOFTMAX */
    {26, "Ti>T", "FQ"},                                                                        /* SPACE_TO_DEPTH */
    {27, "FFFoFii>FF", "F"},                                                                   /* SVDF */
    {28, "T>T", "F"},                                                                          /* TANH */
};

static int64_t type_of_letter(char letter, char chosen) {
    if (letter == 'T') letter = chosen;
    if (letter == 'B') letter = chosen == 'F' ? 'F' : 'I';
    switch (letter) {
    case 'f': return FLOAT32_SCALAR;
    case 'i': return INT32_SCALAR;
    case 'I': return TENSOR_INT32;
    case 'Q': return TENSOR_QUANT8_ASYMM;
    default: return TENSOR_FLOAT32;
    }
}

/* Match operands against letters up to `end`; return what follows them, or NULL. */
static const char *match(const char *letters, char end, char chosen, const Value *const *operands, const Value *indexes) {
    const Value *index = indexes->first;
    for (; *letters != end; letters++) {
        int repeats = letters[1] == '+';
        do {
            const Value *operand = index != NULL ? operands[integer(index, 0)] : NULL;
            if (integer(field(operand, "type"), -1) != type_of_letter(*letters, chosen)) return NULL;
            if (*letters != 'o' && integer(field(operand, "lifetime"), -1) == NO_VALUE) return NULL;
            index = index->next;
        } while (repeats && index != NULL && integer(field(operands[integer(index, 0)], "type"), -1) ==
                                                 type_of_letter(*letters, chosen));
        letters += repeats;
    }
    return index == NULL ? letters + (end != '\0') : NULL;
}

static int is_signature_valid(int64_t code, const Value *const *operands, const Value *inputs, const Value *outputs) {
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        for (const char *chosen = signatures[i].types; signatures[i].code == code && *chosen != '\0'; chosen++) {
            const char *rest = match(signatures[i].operands, '>', *chosen, operands, inputs);
            if (rest != NULL && match(rest, '\0', *chosen, operands, outputs) != NULL) return 1;
        }
    }
    return code == OEM;
}

static int is_operation_valid(const Value *operation, const Value *const *operands, size_t count) {
    const Value *inputs = field(operation, "inputs"), *outputs = field(operation, "outputs");
    return indexes_fit(inputs, count) && indexes_fit(outputs, count) &&
           is_signature_valid(integer(field(operation, "type"), -1), operands, inputs, outputs);
}

static int is_graph_valid(const Value *model, const Value *const *operands, size_t count) {
    const Value *graph = field(model, "main"), *operations = field(graph, "operations");
    if (length(operations) == 0 || length(field(graph, "outputIndexes")) == 0) return 0;
    for (const Value *operation = operations->first; operation != NULL; operation = operation->next)
        if (!is_operation_valid(operation, operands, count)) return 0;
    return is_list_valid(operands, count, field(graph, "inputIndexes"), MODEL_INPUT) &&
           is_list_valid(operands, count, field(graph, "outputIndexes"), MODEL_OUTPUT) &&
           is_order_valid(operations, operands, count);
}

static int is_model_valid(const Value *model) {
    const Value *list = field(field(model, "main"), "operands"), *pools = field(model, "pools");
    size_t count = 0;
    const Value **operands = allocate(length(list) * sizeof *operands);
    int right = 1;
    for (const Value *pool = length(pools) ? pools->first : NULL; pool != NULL; pool = pool->next)
        right &= is_pool_valid(pool);
    for (const Value *operand = length(list) ? list->first : NULL; right && operand != NULL; operand = operand->next) {
        right = is_operand_valid(model, operand);
        operands[count++] = operand;
    }
    right = right && is_graph_valid(model, operands, count);
    free(operands);
    return right;
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

static int is_supported(const Value *model, const Value *operation) {
    const Value *operands = field(field(model, "main"), "operands"), *inputs = field(operation, "inputs");
    int64_t code = integer(field(operation, "type"), -1);
    if (code != ADD && code != RELU) return 0;
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
    return 1;
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
        /* No operation that is supported uses anything else. */
        if (is_scalar || is_float_tensor(operand))
            right = read_operand(value, operand, values, size, &model->operands[i]);
    }
    free(values);
    model->operation_count = length(field(graph, "operations"));
    model->operations = allocate(model->operation_count * sizeof *model->operations);
    for (size_t i = 0; i < model->operation_count; i++)
        read_operation(item(field(graph, "operations"), (int64_t)i), &model->operations[i]);
    for (size_t i = 0; right && i < model->operation_count; i++) {
        int64_t fuse = model->operations[i].code == ADD ? model->operands[model->operations[i].inputs[2]].scalar : 0;
        right = fuse >= 0 && fuse <= 3;
    }
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
        int64_t wanted = operand->values != NULL ? operand->count * 4 : 4;
        if (operand->count == 0) continue; /* nobody reads it */
        if (bytes == NULL || size != wanted) return 0;
        memcpy(storage_of(operand), bytes, (size_t)size);
    }
    return 1;
}

/* Copy the outputs; the buffer of each has room for all of it, since HAL 1.0 has no other answer. */
static int copy_outputs(const Model *model, const Value *request) {
    for (size_t i = 0; i < model->output_count; i++) {
        const Operand *operand = &model->operands[model->outputs[i]];
        int64_t size;
        unsigned char *bytes = argument_bytes(request, item(field(request, "outputs"), (int64_t)i), operand, &size);
        if (bytes == NULL || operand->type != TENSOR_FLOAT32 || size < operand->count * 4) return INVALID_ARGUMENT;
        memcpy(bytes, operand->values, (size_t)operand->count * 4);
    }
    return NONE;
}

static int are_pools_valid(const Value *pools) {
    for (const Value *pool = length(pools) ? pools->first : NULL; pool != NULL; pool = pool->next)
        if (!is_pool_valid(field(pool, "pool"))) return 0;
    return 1;
}

static int execute(const Model *model, const Value *request) {
    if (!are_pools_valid(field(request, "pools"))) return INVALID_ARGUMENT;
    if (length(field(request, "inputs")) != model->input_count) return INVALID_ARGUMENT;
    if (length(field(request, "outputs")) != model->output_count) return INVALID_ARGUMENT;
    if (!copy_inputs(model, request)) return INVALID_ARGUMENT;
    for (size_t i = 0; i < model->operation_count; i++) run_operation(model, &model->operations[i]);
    return copy_outputs(model, request);
}

/* ---- Methods -------------------------------------------------------------------------------------------------- */

static void initialize(const Value *id, const Value *params) {
    (void)params;
    send_result(id,
                "{\"protocolVersion\":1,\"manifest\":{\"name\":\"minimal\",\"vendor\":\"npu-conformance examples\","
                "\"version\":\"1\",\"interfaces\":[\"device\"],\"hal_version\":\"1.0\",\"instance\":\"minimal-device\","
                "\"memory_transports\":[\"path\"],\"deadlines\":{\"prepare\":2,\"execute\":2,\"call\":2,\"start\":10}},"
                "\"objects\":{\"device\":1},\"transports\":[\"path\"],\"identity\":false}");
}

static void get_capabilities(const Value *id, const Value *params) {
    (void)params;
    send_result(id, "{\"float32Performance\":{\"execTime\":1,\"powerUsage\":1},"
                    "\"quantized8Performance\":{\"execTime\":1,\"powerUsage\":1}}");
}

static void get_supported_operations(const Value *id, const Value *params) {
    const Value *model = field(params, "model"), *operations = field(field(model, "main"), "operations");
    Text text = {0};
    if (!is_model_valid(model)) {
        send_error(id, SERVICE_ERROR, INVALID_ARGUMENT, "the model is invalid");
        return;
    }
    append(&text, "[");
    for (const Value *operation = operations->first; operation != NULL; operation = operation->next)
        append(&text, "%s%s", text.size > 1 ? "," : "", is_supported(model, operation) ? "true" : "false");
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
    const Value *model = field(params, "model"), *operations = field(field(model, "main"), "operations");
    int status = is_model_valid(model) ? NONE : INVALID_ARGUMENT;
    int supported = 1;
    const Value *operation = status == NONE ? operations->first : NULL;
    for (; operation != NULL; operation = operation->next) supported &= is_supported(model, operation);
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

static Model *model_of(const Value *params) {
    int64_t index = integer(field(params, "object"), 0) - 2;
    return index >= 0 && index < prepared_count ? prepared[index] : NULL;
}

/* The outcome is notified, shapes and times are not part of HAL 1.0; the call itself says whether it was launched. */
static void execute_asynchronously(const Value *id, const Value *params) {
    Model *model = model_of(params);
    Text text = {0};
    if (integer(field(params, "callback"), 0) == 0) { /* nobody to tell */
        send_error(id, SERVICE_ERROR, INVALID_ARGUMENT, "the callback is null");
        return;
    }
    int status = model != NULL ? execute(model, field(params, "request")) : INVALID_ARGUMENT;
    append(&text, "{\"jsonrpc\":\"2.0\",\"method\":\"executionCallback.notify\",");
    append(&text, "\"params\":{\"object\":%lld,\"status\":%d,\"outputShapes\":[],\"timing\":null}}",
           (long long)integer(field(params, "callback"), 0), status);
    send_text(&text);
    if (status != NONE) send_error(id, SERVICE_ERROR, status, "the request does not fit the model");
    else send_result(id, "null");
}

static void ping(const Value *id, const Value *params) { (void)params, send_result(id, "null"); }
static void get_status(const Value *id, const Value *params) { (void)params, send_result(id, "0"); }

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
    {"device.getSupportedOperations", get_supported_operations},
    {"device.prepareModel", prepare_model},
    {"preparedModel.execute", execute_asynchronously},
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
