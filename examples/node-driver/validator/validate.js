// Is a model, or a request, one that HAL 1.2 allows? The rules are those of rules.json; the tables know all operations,
// so that nothing here depends on what the driver can execute. docs/validation-kit.md explains the rules.
"use strict";

const { enums, isIn, byCode } = require("./kit.js");

const VERSION = "1.2";
const TYPES = byCode("operand_types.json", VERSION);
const OPERATIONS = byCode("operations.json", VERSION);
const LifeTime = enums.OperandLifeTime;
const CONSTANTS = [LifeTime.CONSTANT_COPY, LifeTime.CONSTANT_POOL];
const WRITTEN = [LifeTime.TEMPORARY_VARIABLE, LifeTime.SUBGRAPH_OUTPUT];
const POOL_KINDS = ["ashmem", "mmap_fd", "hardware_buffer_blob", "hardware_buffer"];
const BLOB = 33; // the format of a hardware buffer that is plain bytes
const LARGEST = 2 ** 32 - 1; // HIDL has unsigned integers
const LAST_STANDARD = 0xffff; // codes above belong to extensions: 16 bits of prefix, then 16 bits of number
const EXTENSION_TYPE = { extension: true, scale: "zero", zeroPoint: [0, 0], bytes: 0 };

class Broken extends Error {
  constructor(clause, message) {
    super(`${clause}: ${message}`);
    this.clause = clause;
  }
}

function must(condition, clause, message) {
  if (!condition) throw new Broken(clause, message);
}

// Fields that have a default may be missing from a message.
function withDefaults(operand) {
  const location = { poolIndex: 0, offset: 0, length: 0, ...operand.location };
  return { type: 0, dimensions: [], zeroPoint: 0, lifetime: 0, extraParams: null, numberOfConsumers: 0, ...operand,
    scale: Number(operand.scale ?? 0), location }; // a scale may be one of the strings "NaN", "Infinity", "-Infinity"
}

const elements = (dimensions) => dimensions.reduce((count, size) => count * size, 1);
const isExtension = (code) => code > LAST_STANDARD && code <= LARGEST;
const typeOf = (code) => TYPES.get(code) ?? (isExtension(code) ? EXTENSION_TYPE : undefined);

// Throws Broken for the first rule that a model breaks.
function validateModel(model) {
  const { operands, operations } = model.main;
  must(operands.length && operations.length, "MODEL.M1", "no operands or no operations");
  const values = Buffer.from(model.operandValues ?? "", "base64");
  const full = { pools: [], extensionNameToPrefix: [], ...model, values };
  const graph = { ...model.main, operands: operands.map(withDefaults) };
  for (const pool of full.pools) checkPool(pool, "MODEL.M3");
  checkExtensions(full.extensionNameToPrefix);
  for (const operand of graph.operands) checkOperand(operand, full);
  for (const operation of operations) checkOperation(operation, graph, full);
  checkListed(graph, graph.inputIndexes, LifeTime.SUBGRAPH_INPUT);
  checkListed(graph, graph.outputIndexes, LifeTime.SUBGRAPH_OUTPUT);
  checkOrder(graph);
}

function checkPool(pool, clause) {
  must(POOL_KINDS.includes(pool.kind), clause, `no memory of kind ${pool.kind}`);
  must(pool.token > 0 && pool.size >= 0 && (pool.offset ?? 0) >= 0, clause, "a null handle or a negative size");
  if (!pool.kind.startsWith("hardware_buffer")) return;
  const isBlob = pool.description?.format === BLOB;
  must(isBlob === (pool.kind === "hardware_buffer_blob"), clause, "kind and description contradict each other");
}

function checkExtensions(mapping) {
  must(new Set(mapping.map((entry) => entry.name)).size === mapping.length, "MODEL.X2", "a name is mapped twice");
  must(new Set(mapping.map((entry) => entry.prefix)).size === mapping.length, "MODEL.X2", "a prefix is mapped twice");
  for (const { prefix } of mapping) must(prefix > 0 && prefix <= 0xffff, "MODEL.X2", `prefix ${prefix}`);
}

function checkMapped(code, model) {
  const mapped = model.extensionNameToPrefix.some((entry) => entry.prefix === code >>> 16);
  must(mapped, "MODEL.X5", `no extension is mapped to the prefix of ${code}`);
}

function checkOperand(operand, model) {
  const type = typeOf(operand.type);
  must(type, "MODEL.O1", `operand type ${operand.type}`);
  const { dimensions, scale, zeroPoint } = operand;
  const isConstant = CONSTANTS.includes(operand.lifetime);
  if (type.extension) checkMapped(operand.type, model);
  else if (!type.tensor) must(dimensions.length === 0, "MODEL.O2", "a scalar with dimensions");
  else must(dimensions.length || !isConstant, "MODEL.O3", "a constant tensor without dimensions");
  must(dimensions.every((size) => size >= 0 && size <= LARGEST), "MODEL.O15", "a dimension that is no uint32");
  const legal = { zero: scale === 0, not_negative: scale >= 0, positive: scale > 0, unchecked: true };
  must(legal[type.scale], "MODEL.O4", `scale ${scale}`);
  const [lowest, highest] = type.zeroPoint ?? [-Infinity, Infinity];
  must(zeroPoint >= lowest && zeroPoint <= highest, "MODEL.O5", `zero point ${zeroPoint}`);
  if (type.scale !== "unchecked") checkExtraParameters(operand, type);
  checkLocation(operand, model);
  if (isConstant && type.bytes) {
    must(operand.location.length === type.bytes * elements(dimensions), "MODEL.O13", "the length of a constant");
  }
}

function checkExtraParameters({ extraParams, dimensions }, type) {
  const quantization = extraParams?.channelQuant;
  const hasBlob = (extraParams?.extension ?? null) !== null;
  must(!quantization === !type.perChannel, "MODEL.O6", "per-channel quantisation is missing, or of another type");
  must(!hasBlob || type.extension, "MODEL.O6", "extension parameters of another type");
  if (!quantization) return;
  const { channelDim, scales } = quantization;
  must(channelDim >= 0 && channelDim < dimensions.length, "MODEL.O7", `channel dimension ${channelDim}`);
  const channels = dimensions[channelDim];
  must(channels > 0 && scales.length === channels, "MODEL.O7", `${scales.length} scales`);
  must(scales.every((scale) => Number(scale) > 0), "MODEL.O7", "a channel scale that is not positive");
}

function checkLocation({ lifetime, location }, model) {
  must(lifetime >= 0 && lifetime <= LifeTime.NO_VALUE, "MODEL.O12", `lifetime ${lifetime}`); // SUBGRAPH came in 1.3
  const { poolIndex, offset, length } = location;
  const isInside = (size) => offset >= 0 && length >= 0 && offset + length <= size;
  if (lifetime === LifeTime.CONSTANT_COPY) {
    must(poolIndex === 0 && isInside(model.values.length), "MODEL.O8", "a constant outside of the operand values");
  } else if (lifetime === LifeTime.CONSTANT_POOL) {
    must(model.pools[poolIndex] && isInside(model.pools[poolIndex].size), "MODEL.O9", "a constant outside of its pool");
  } else {
    must(poolIndex === 0 && offset === 0 && length === 0, "MODEL.O10", "a location of an operand without stored value");
  }
}

function checkOperation(operation, graph, model) {
  const table = OPERATIONS.get(operation.type);
  must(table || isExtension(operation.type), "MODEL.P1", `operation ${operation.type}`);
  const find = (index) => graph.operands[index] ?? must(false, "MODEL.P2", `operand ${index}`);
  const inputs = operation.inputs.map(find);
  const outputs = operation.outputs.map(find);
  must(outputs.every((operand) => WRITTEN.includes(operand.lifetime)), "MODEL.P4", "a constant or input is written");
  if (!table) checkMapped(operation.type, model);
  else if (table.signatures.length) checkSignature(table, inputs, outputs); // OEM_OPERATION has none: anything goes
}

function checkSignature(table, inputs, outputs) {
  for (const signature of table.signatures) {
    const places = match(signature, inputs, outputs);
    if (!places) continue;
    for (const [argument, operand] of places.inputs) {
      must(argument.optional || operand.lifetime !== LifeTime.NO_VALUE, "MODEL.P3O", `${argument.name} is omitted`);
    }
    for (const [argument, operand] of [...places.inputs, ...places.outputs]) checkRank(argument, operand);
    return;
  }
  must(false, "MODEL.P3", `no signature of ${table.name} has these operands`);
}

// The arguments that operands stand for, as pairs; nothing where counts or types do not fit the signature.
function match(signature, inputs, outputs) {
  const fits = (entry) => isIn(entry, VERSION) && entry.counts.includes(outputs.length);
  if (signature.inputCounts && !signature.inputCounts.includes(inputs.length)) return undefined;
  if (signature.outputCounts && !signature.outputCounts.some(fits)) return undefined;
  for (const types of signature.types.filter((entry) => isIn(entry, VERSION))) {
    const given = pairs(signature.inputs, types.inputs, inputs);
    const results = pairs(signature.outputs, types.outputs, outputs);
    if (given && results) return { inputs: given, outputs: results };
  }
  return undefined;
}

function pairs(declared, types, operands) {
  const list = declared.findIndex((argument) => argument.atLeast !== undefined); // it stands for several operands
  const extra = list < 0 ? 0 : operands.length - declared.length;
  if (list >= 0 && extra + 1 < declared[list].atLeast) return undefined;
  const found = [];
  for (const [position, operand] of operands.entries()) {
    const place = list < 0 || position <= list ? position : Math.max(list, position - extra);
    const argument = declared[place];
    const isNew = argument.since && !isIn(argument, VERSION);
    if (isNew || (types[place] !== -1 && types[place] !== operand.type)) return undefined;
    found.push([argument, operand]);
  }
  return found;
}

function checkRank(argument, { dimensions, lifetime }) {
  if (!argument.ranks || dimensions.length === 0 || lifetime === LifeTime.NO_VALUE) return;
  // A request may leave out an optional model input; what the model says of its shape then means nothing.
  if (argument.optional && lifetime === LifeTime.SUBGRAPH_INPUT && dimensions.includes(0)) return;
  must(argument.ranks.includes(dimensions.length), "MODEL.P3R", `${argument.name} has rank ${dimensions.length}`);
}

function checkListed({ operands }, indexes, lifetime) {
  must(new Set(indexes).size === indexes.length, "MODEL.G1", "an operand is listed twice");
  must(indexes.every((index) => operands[index]?.lifetime === lifetime), "MODEL.G1", "a wrong operand is listed");
  const count = operands.filter((operand) => operand.lifetime === lifetime).length;
  must(count === indexes.length, "MODEL.G1", "an operand is not listed");
}

// Operations stand in an order of execution: what one reads has a value by then.
function checkOrder({ operands, operations }) {
  const hasValue = operands.map((operand) => !WRITTEN.includes(operand.lifetime));
  const consumers = operands.map(() => 0);
  for (const { inputs, outputs } of operations) {
    for (const index of inputs) {
      must(hasValue[index], "MODEL.G3", `operand ${index} has no value yet`);
      consumers[index] += 1;
    }
    for (const index of outputs) {
      must(!hasValue[index], "MODEL.G4", `operand ${index} is written twice`);
      hasValue[index] = true;
    }
  }
  must(hasValue.every(Boolean), "MODEL.G6", "a temporary or output is never written");
  const isCounted = operands.every((operand, index) => operand.numberOfConsumers === consumers[index]);
  must(isCounted, "MODEL.G5", "a wrong number of consumers");
}

// Throws Broken for the first rule that a request for a valid model breaks.
function validateRequest(request, graph) {
  for (const { pool } of request.pools) {
    must(pool, "REQUEST.R8", "buffers of the driver came in 1.3");
    checkPool(pool, "REQUEST.R8");
  }
  for (const [what, indexes] of [["inputs", graph.inputIndexes], ["outputs", graph.outputIndexes]]) {
    must(request[what].length === indexes.length, "REQUEST.R1", `${request[what].length} ${what}`);
    request[what].forEach((argument, position) => {
      checkArgument(argument, withDefaults(graph.operands[indexes[position]]), request.pools, what === "inputs");
    });
  }
}

function checkArgument({ hasNoValue, location, dimensions = [] }, operand, pools, isInput) {
  const { poolIndex = 0, offset = 0, length = 0 } = location ?? {};
  const isZero = poolIndex === 0 && offset === 0 && length === 0;
  if (hasNoValue) {
    must(isZero && dimensions.length === 0, "REQUEST.R2", "an omitted argument with a location");
    return;
  }
  const pool = pools[poolIndex]?.pool;
  must(pool, "REQUEST.R3", `pool ${poolIndex}`);
  if (pool.kind === "hardware_buffer") must(offset === 0 && length === 0, "REQUEST.R3", "a part of a hardware buffer");
  else must(offset >= 0 && length >= 0 && offset + length <= pool.size, "REQUEST.R3", "outside of its pool");
  const declared = operand.dimensions;
  const agrees = declared.length === 0
    ? typeOf(operand.type).tensor || dimensions.length === 0
    : dimensions.length === declared.length && declared.every((size, i) => size === 0 || size === dimensions[i]);
  must(dimensions.length === 0 || agrees, "REQUEST.R4", `dimensions ${dimensions}`);
  if (!isInput) return;
  const known = dimensions.length ? dimensions : declared;
  must(!dimensions.includes(0), "REQUEST.R4", "an input of unknown size");
  must(!known.includes(0) && (known.length || !typeOf(operand.type).tensor), "REQUEST.R5", "an input of unknown size");
}

module.exports = { Broken, OPERATIONS, TYPES, validateModel, validateRequest, withDefaults, elements };
