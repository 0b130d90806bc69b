// One connection to the harness: JSON-RPC 2.0, one message a line, over the socket that the harness left open for us.
"use strict";

const net = require("node:net");

// 2^64 - 1, HIDL's "no time", is no number of JavaScript: it is this text until the whole message is text.
const NO_TIME = "@18446744073709551615";

// An error that the caller is told by its code; -32001 comes with an ErrorStatus.
class CallError extends Error {
  constructor(code, message, status) {
    super(message);
    this.code = code;
    this.data = status === undefined ? undefined : { status };
  }
}

class Connection {
  // call(method, params) gives the result of a request, or a promise of it; it throws CallError.
  constructor(call) {
    this.call = call;
    this.waiting = new Map(); // of our own requests: id to what takes the answer
    this.lastId = 0;
    this.parts = []; // of a line that has not ended yet
    this.socket = new net.Socket({ fd: Number(process.env.NPU_CONFORMANCE_FD), readable: true, writable: true });
    this.socket.on("data", (chunk) => this.receive(chunk));
    for (const end of ["close", "error"]) this.socket.on(end, () => process.exit(0));
  }

  notify(method, params) {
    this.send({ method, params });
  }

  request(method, params) {
    this.lastId += 1;
    this.send({ id: this.lastId, method, params });
    return new Promise((resolve, reject) => this.waiting.set(this.lastId, { resolve, reject }));
  }

  send(message) {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.socket.write(text.replaceAll(`"${NO_TIME}"`, NO_TIME.slice(1)) + "\n");
  }

  receive(chunk) {
    let start = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
      this.handle(Buffer.concat([...this.parts, chunk.subarray(start, end)]).toString());
      this.parts = [];
      start = end + 1;
    }
    this.parts.push(chunk.subarray(start));
  }

  // Every message is handled at once, in order. A request may take longer only where it waits for the harness itself.
  async handle(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch (error) {
      return this.send({ id: null, error: { code: -32700, message: error.message } });
    }
    if (message?.method === undefined) return this.settle(message);
    const answer = await this.answer(message);
    return message.id === undefined ? undefined : this.send({ id: message.id, ...answer });
  }

  async answer({ method, params }) {
    try {
      return { result: (await this.call(method, params ?? {})) ?? null };
    } catch (error) {
      // What JavaScript throws while it looks into params of the wrong types is the caller's mistake, too.
      const code = error instanceof CallError ? error.code : -32602;
      return { error: { code, message: error.message, data: error.data } };
    }
  }

  settle(message) {
    const request = this.waiting.get(message?.id);
    if (!request) return this.send({ id: null, error: { code: -32600, message: "neither a request nor an answer" } });
    this.waiting.delete(message.id);
    const { error, result } = message;
    return error ? request.reject(new CallError(error.code, error.message)) : request.resolve(result);
  }
}

module.exports = { CallError, Connection, NO_TIME };
