// Bursts of HAL 1.2 without shared memory: packets of 24-byte elements, in base64 (docs/wire-protocol-memory.md).
"use strict";

const { enums } = require("./validator/kit.js");

const SIZE = 24; // bytes of an element
const { GENERAL_FAILURE, INVALID_ARGUMENT } = enums.ErrorStatus;
const Kind = { INFORMATION: 0, INPUT: 1, OUTPUT: 3, POOL: 5, TIMING: 6 };

// The request in a packet; its pools are slots of the client's memories. Nothing for a packet that is malformed.
function decodeRequest(packet) {
  let at = 0;
  const next = (kind) => {
    const element = packet.subarray(at, at + SIZE);
    at += SIZE;
    if (element.length < SIZE || element.readUInt32LE(0) !== kind) throw new RangeError("another element was expected");
    return element;
  };
  const repeat = (count, read) => {
    if (count > packet.length / SIZE) throw new RangeError("more elements than the packet has");
    return Array.from({ length: count }, read);
  };
  const argument = (kind) => {
    const element = next(kind);
    const [poolIndex, offset, length, rank] = [8, 12, 16, 20].map((byte) => element.readUInt32LE(byte));
    const dimensions = repeat(rank, () => next(kind + 1).readUInt32LE(4)); // sizes come behind
    return { hasNoValue: element.readUInt8(4) !== 0, location: { poolIndex, offset, length }, dimensions };
  };
  try {
    const information = next(Kind.INFORMATION);
    const [size, inputs, outputs, pools] = [4, 8, 12, 16].map((byte) => information.readUInt32LE(byte));
    const request = {
      inputs: repeat(inputs, () => argument(Kind.INPUT)),
      outputs: repeat(outputs, () => argument(Kind.OUTPUT)),
      slots: repeat(pools, () => next(Kind.POOL).readInt32LE(4)),
    };
    next(Kind.TIMING);
    return at === packet.length && size * SIZE === packet.length ? request : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function encodeResult(status, shapes) {
  const elements = [element(0, [8, 0], [12, status], [16, shapes.length])];
  for (const { dimensions, isSufficient } of shapes) {
    elements.push(element(1, [8, isSufficient ? 1 : 0], [12, dimensions.length]));
    elements.push(...dimensions.map((size) => element(2, [8, size])));
  }
  elements.push(element(3, [8, 0xffffffff], [12, 0xffffffff], [16, 0xffffffff], [20, 0xffffffff])); // times: none
  elements[0].writeUInt32LE(elements.length, 8);
  return Buffer.concat(elements);
}

function element(kind, ...fields) {
  const bytes = Buffer.alloc(SIZE);
  for (const [at, value] of [[0, kind], ...fields]) bytes.writeUInt32LE(value, at);
  return bytes;
}

class Burst {
  // execute(request) gives the status and the shapes; memories(slots) a promise of the memories of slots.
  constructor(capacity, execute, memories) {
    Object.assign(this, { capacity, execute, memories, slots: new Map() }); // slots: the memories that are known
  }

  async run(packet) {
    const request = decodeRequest(Buffer.from(packet, "base64"));
    const { status, shapes } = request ? await this.answer(request) : { status: INVALID_ARGUMENT, shapes: [] };
    const result = encodeResult(status, shapes);
    const fits = result.length <= this.capacity * SIZE;
    return (fits ? result : encodeResult(GENERAL_FAILURE, [])).toString("base64");
  }

  async answer({ inputs, outputs, slots }) {
    const missing = [...new Set(slots)].filter((slot) => !this.slots.has(slot));
    const found = missing.length ? await this.memories(missing).catch(() => []) : [];
    if (found.length !== missing.length) return { status: GENERAL_FAILURE, shapes: [] }; // there is no such slot
    missing.forEach((slot, position) => this.slots.set(slot, found[position]));
    return this.execute({ inputs, outputs, pools: slots.map((slot) => ({ pool: this.slots.get(slot) })) });
  }
}

module.exports = { Burst };
