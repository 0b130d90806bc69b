// What the driver can compute: ADD and RELU of TENSOR_FLOAT32.
"use strict";

const { enums } = require("./validator/kit.js");
const { OPERATIONS, elements, withDefaults } = require("./validator/validate.js");

const { ErrorStatus, OperandLifeTime: LifeTime, OperandType, OperationType } = enums;
const ACTIVATIONS = [(x) => x, (x) => Math.max(0, x), (x) => clamp(x, -1, 1), (x) => clamp(x, 0, 6)];
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function isSupported(operation, { operands }) {
  const isOurs = [OperationType.ADD, OperationType.RELU].includes(operation.type);
  return isOurs && operands[operation.inputs[0]].type === OperandType.TENSOR_FLOAT32;
}

// The constants of a model, by index: copied once, for the client may free its memory after the preparation.
function constantsOf(model, memory) {
  const values = Buffer.from(model.operandValues ?? "", "base64");
  const found = new Map();
  for (const [index, operand] of model.main.operands.map(withDefaults).entries()) {
    const isCopy = operand.lifetime === LifeTime.CONSTANT_COPY;
    const isConstant = isCopy || operand.lifetime === LifeTime.CONSTANT_POOL;
    if (!isConstant || operand.numberOfConsumers === 0) continue; // what nobody reads may have any type
    const { poolIndex, offset, length } = operand.location;
    const bytes = isCopy ? values : memory.of(model.pools[poolIndex]);
    found.set(index, decode(operand.dimensions, bytes.subarray(offset, offset + length), operand));
  }
  return found;
}

function decode(dimensions, bytes, { type }) {
  const size = elements(dimensions) * 4; // of float32 and int32: our operations read no others
  const copy = new Uint8Array(bytes.subarray(0, size)).buffer; // aligned, as typed arrays have to be
  if (copy.byteLength < size) throw new Failure(ErrorStatus.INVALID_ARGUMENT, "fewer bytes than the shape asks for");
  return { dimensions, data: type === OperandType.INT32 ? new Int32Array(copy) : new Float32Array(copy) };
}

// Executes a valid request; returns an ErrorStatus and the shapes of the outputs. Throws Failure.
function execute({ model, constants }, request, memory) {
  const graph = model.main;
  const values = new Map(constants);
  graph.inputIndexes.forEach((index, position) => {
    values.set(index, readInput(request, request.inputs[position], withDefaults(graph.operands[index]), memory));
  });
  for (const operation of graph.operations) {
    const result = compute(operation, operation.inputs.map((index) => values.get(index)));
    checkShape(withDefaults(graph.operands[operation.outputs[0]]).dimensions, result.dimensions);
    values.set(operation.outputs[0], result);
  }
  const results = graph.outputIndexes.map((index) => values.get(index));
  const isEnough = results.map(({ data }, i) => data.byteLength <= (request.outputs[i].location?.length ?? 0));
  const shapes = results.map(({ dimensions }, i) => ({ dimensions, isSufficient: isEnough[i] }));
  if (isEnough.includes(false)) return { status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, shapes };
  results.forEach((result, position) => writeOutput(request, request.outputs[position], result, memory));
  return { status: ErrorStatus.NONE, shapes };
}

function readInput(request, argument, operand, memory) {
  if (argument.hasNoValue) throw new Failure(ErrorStatus.GENERAL_FAILURE, "neither operation has optional inputs");
  const dimensions = argument.dimensions?.length ? argument.dimensions : operand.dimensions;
  return decode(dimensions, bytesOf(request, argument, memory), operand);
}

function writeOutput(request, argument, { dimensions, data }, memory) {
  if (argument.dimensions?.length) checkShape(argument.dimensions, dimensions);
  bytesOf(request, argument, memory).set(new Uint8Array(data.buffer));
}

function bytesOf(request, { location: { poolIndex = 0, offset = 0, length = 0 } }, memory) {
  return memory.of(request.pools[poolIndex].pool).subarray(offset, offset + length);
}

// Declared sizes of 0, and a rank of 0, are unknown.
function checkShape(declared, found) {
  const agrees = declared.length === found.length && declared.every((size, i) => size === 0 || size === found[i]);
  if (declared.length && !agrees) throw new Failure(ErrorStatus.GENERAL_FAILURE, `shape ${found}, not ${declared}`);
}

function compute(operation, [one, other, code]) {
  // A rank that the model leaves open is known now.
  const [{ ranks }] = OPERATIONS.get(operation.type).signatures[0].inputs;
  const isLegal = (tensor) => !tensor || ranks.includes(tensor.dimensions.length);
  if (!isLegal(one) || !isLegal(other)) throw new Failure(ErrorStatus.GENERAL_FAILURE, "a rank above 4");
  if (operation.type === OperationType.RELU) return { ...one, data: one.data.map(ACTIVATIONS[1]) };
  const activation = ACTIVATIONS[code.data[0]];
  if (!activation) throw new Failure(ErrorStatus.GENERAL_FAILURE, `no activation ${code.data[0]}`);
  const dimensions = broadcast(one.dimensions, other.dimensions);
  const data = new Float32Array(elements(dimensions)).map((_, flat) => {
    return activation(Math.fround(one.data[place(flat, dimensions, one)] + other.data[place(flat, dimensions, other)]));
  });
  return { dimensions, data };
}

// Shapes are compared from the last dimension on; a size of 1, or none, is repeated.
function broadcast(one, other) {
  const rank = Math.max(one.length, other.length);
  return Array.from({ length: rank }, (_, index) => {
    const [a, b] = [one, other].map((shape) => shape[index - rank + shape.length] ?? 1);
    if (a !== b && a !== 1 && b !== 1) throw new Failure(ErrorStatus.GENERAL_FAILURE, `shapes ${one} and ${other}`);
    return a === 1 ? b : a;
  });
}

// Where an operand has the value for an element of the broadcast result.
function place(flat, shape, { dimensions }) {
  let [index, stride, rest] = [0, 1, flat];
  for (let back = 1; back <= dimensions.length; back += 1) {
    const size = dimensions[dimensions.length - back];
    index += size === 1 ? 0 : (rest % shape[shape.length - back]) * stride;
    rest = Math.floor(rest / shape[shape.length - back]);
    stride *= size;
  }
  return index;
}

module.exports = { Failure, constantsOf, execute, isSupported };
