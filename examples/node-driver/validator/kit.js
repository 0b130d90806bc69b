// The generated kit: `npu-conformance kit examples/node-driver/kit --hal 1.2` writes it, this file loads it.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const FOLDER = process.env.NPU_CONFORMANCE_KIT || path.join(__dirname, "..", "kit");

function read(name) {
  const file = path.join(FOLDER, name);
  try {
    return fs.readFileSync(file, "utf8");
  } catch (error) {
    console.error(`${file}: ${error.code}: make the kit first: npu-conformance kit ${FOLDER} --hal 1.2`);
    process.exit(2);
  }
}

const enums = JSON.parse(read("enums.json"));

// Versions are names; their order is in the kit.
function isIn(entry, version) {
  const age = (name) => enums.Version.indexOf(name);
  return age(entry.since) <= age(version) && (!entry.until || age(version) <= age(entry.until));
}

// The entries of a table that a version has, by their codes: tables have names as keys, the wire has numbers.
function byCode(file, version) {
  const entries = Object.entries(JSON.parse(read(file))).filter(([, entry]) => isIn(entry, version));
  return new Map(entries.map(([name, entry]) => [entry.code, { name, ...entry }]));
}

module.exports = { enums, isIn, byCode, read };
