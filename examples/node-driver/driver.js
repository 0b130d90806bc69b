// A driver for HAL 1.2 with two operations, ADD and RELU of TENSOR_FLOAT32, in plain Node.js (20 or newer):
//
//   npu-conformance kit examples/node-driver/kit --hal 1.2
//   npu-conformance run vts --plugin "exec:node examples/node-driver/driver.js"
//
// This file is the device, connection.js has the messages, execute.js the arithmetic, burst.js the bursts; validator/
// says which models are legal, and can be used as it is. docs/drivers-in-other-languages.md walks through all of them.
"use strict";

const { Burst } = require("./burst.js");
const { CallError, Connection, NO_TIME } = require("./connection.js");
const { Failure, constantsOf, execute, isSupported } = require("./execute.js");
const { enums } = require("./validator/kit.js");
const { Broken, TYPES, validateModel, validateRequest } = require("./validator/validate.js");

const { ErrorStatus } = enums;
const NO_TIMING = { timeOnDevice: NO_TIME, timeInDriver: NO_TIME };
const SPEED = { execTime: 1.0, powerUsage: 1.0 }; // as the CPU's
const MANIFEST = {
  name: "node-driver",
  vendor: "Example",
  version: "1",
  hal_version: "1.2",
  instance: "example-node",
  memory_transports: ["message"],
  claims: [{ operations: ["ADD", "RELU"], types: ["TENSOR_FLOAT32"] }],
};

// Memory that travels by message: the driver keeps the bytes, the harness reads and writes them.
const memory = {
  bytes: new Map(),
  of({ kind, token, offset = 0, size }) {
    const bytes = this.bytes.get(token);
    if (!bytes || offset + size > bytes.length) throw new Failure(ErrorStatus.INVALID_ARGUMENT, `no memory ${token}`);
    if (kind === "hardware_buffer") throw new Failure(ErrorStatus.GENERAL_FAILURE, "a layout of pixels");
    return bytes.subarray(offset, offset + size);
  },
};

// Prepared models and bursts by number. The device is 1; numbers are not used again.
const objects = new Map([[1, "device"]]);
let lastObject = 1;

function newObject(object) {
  objects.set((lastObject += 1), object);
  return lastObject;
}

function check(condition, status, message) {
  if (!condition) throw new Failure(status, message);
}

function prepare({ model, preference, callback }) {
  check(callback < 0, ErrorStatus.INVALID_ARGUMENT, "no callback");
  try {
    validateModel(model);
    check([0, 1, 2].includes(preference), ErrorStatus.INVALID_ARGUMENT, `preference ${preference}`);
    const isOurs = model.main.operations.every((operation) => isSupported(operation, model.main));
    check(isOurs, ErrorStatus.GENERAL_FAILURE, "an operation that is not supported");
    notifyPrepared(callback, ErrorStatus.NONE, newObject({ model, constants: constantsOf(model, memory) }));
  } catch (error) {
    const status = statusOf(error);
    notifyPrepared(callback, status, null);
    // The launch of a valid model succeeds, also where the driver cannot execute it: only the callback says that.
    if (status === ErrorStatus.INVALID_ARGUMENT) throw error;
  }
}

// What a model or a request that cannot be taken ends with; other errors are passed on.
function statusOf(error) {
  if (error instanceof Broken) return ErrorStatus.INVALID_ARGUMENT;
  if (error instanceof Failure) return error.status;
  throw error;
}

function notifyPrepared(callback, status, preparedModel) {
  connection.notify("preparedModelCallback.notify", { object: callback, status, preparedModel });
}

// Status and shapes of an execution; whatever is wrong with the request is a status, too.
function run(prepared, request) {
  try {
    validateRequest(request, prepared.model.main);
    return execute(prepared, request, memory);
  } catch (error) {
    return { status: statusOf(error), shapes: [] };
  }
}

const methods = {
  initialize: () => ({ protocolVersion: 1, manifest: MANIFEST, objects: { device: 1 }, transports: ["message"] }),
  ping: () => null,
  "memory.attach": ({ token, size }) => void memory.bytes.set(token, Buffer.alloc(size)),
  "memory.detach": ({ token }) => void memory.bytes.delete(token),
  "memory.write": ({ token, offset, data }) => void Buffer.from(data, "base64").copy(memory.bytes.get(token), offset),
  "memory.read": ({ token, offset, length }) => memory.bytes.get(token).toString("base64", offset, offset + length),
  "object.release": ({ object }) => void objects.delete(object), // every object is sent once only

  "device.getCapabilities": () => ({
    relaxedFloat32toFloat16PerformanceScalar: SPEED,
    relaxedFloat32toFloat16PerformanceTensor: SPEED,
    operandPerformance: [...TYPES.keys()].sort((one, other) => one - other).map((type) => ({ type, info: SPEED })),
  }),
  "device.getStatus": () => enums.DeviceStatus.AVAILABLE,
  "device.getType": () => enums.DeviceType.CPU,
  "device.getVersionString": () => "node-driver 1",
  "device.getSupportedExtensions": () => [],
  "device.getNumberOfCacheFilesNeeded": () => ({ numModelCache: 0, numDataCache: 0 }),
  "device.getSupportedOperations": ({ model }) => {
    validateModel(model);
    return model.main.operations.map((operation) => isSupported(operation, model.main));
  },
  "device.prepareModel": prepare,
  "device.prepareModelFromCache": ({ callback }) => {
    check(callback < 0, ErrorStatus.INVALID_ARGUMENT, "no callback");
    notifyPrepared(callback, ErrorStatus.GENERAL_FAILURE, null);
    throw new Failure(ErrorStatus.GENERAL_FAILURE, "there is no cache");
  },
  "preparedModel.execute": ({ object, request, callback }) => {
    check(callback < 0, ErrorStatus.INVALID_ARGUMENT, "no callback");
    const { status, shapes } = run(objects.get(object), request);
    const outcome = { object: callback, status, outputShapes: shapes, timing: NO_TIMING };
    connection.notify("executionCallback.notify", outcome);
    check(status !== ErrorStatus.INVALID_ARGUMENT, status, "an invalid request");
  },
  "preparedModel.executeSynchronously": ({ object, request }) => {
    const { status, shapes } = run(objects.get(object), request);
    const isSufficient = status !== ErrorStatus.OUTPUT_INSUFFICIENT_SIZE;
    check(status === ErrorStatus.NONE || !isSufficient, status, "the execution failed");
    return { outputSufficientSize: isSufficient, outputShapes: shapes, timing: NO_TIMING };
  },
  "preparedModel.configureExecutionBurstOnQueues": ({ object, callback, requests, results }) => {
    const hasRoom = requests.capacity > 0 && results.capacity > 0;
    check(callback < 0 && hasRoom, ErrorStatus.INVALID_ARGUMENT, "no callback, or a queue without elements");
    const prepared = objects.get(object);
    const memories = (slots) => connection.request("burstCallback.getMemories", { object: callback, slots });
    return newObject(new Burst(results.capacity, (request) => run(prepared, request), memories));
  },
  "burstContext.freeMemory": ({ object, slot }) => void objects.get(object).slots.delete(slot),
  "burstContext.executePacket": ({ object, packet }) => objects.get(object).run(packet),
};

function call(method, params) {
  if (!Object.hasOwn(methods, method)) throw new CallError(-32601, `no method ${method}`);
  const isOfObject = /^(device|preparedModel|burstContext)\./.test(method);
  if (isOfObject && !objects.has(params.object)) throw new CallError(-32005, `no object ${params.object}`);
  try {
    return methods[method](params);
  } catch (error) {
    throw new CallError(-32001, error.message, statusOf(error));
  }
}

const connection = new Connection(call);
