// Tries the validator alone on the sample models of the kit, without the harness:
//   node examples/node-driver/validator/check_models.js
"use strict";

const { read } = require("./kit.js");
const { Broken, validateModel } = require("./validate.js");

function clauseOf(model) {
  try {
    validateModel(model);
    return undefined;
  } catch (error) {
    if (error instanceof Broken) return error.clause;
    throw error;
  }
}

let wrong = 0;
const samples = read("models.jsonl").trim().split("\n").map((line) => JSON.parse(line));
const other = samples.find(({ version }) => version !== "1.2");
if (other) {
  console.error(`the models of the kit are of ${other.version}, the validator's are of 1.2: npu-conformance kit DIR --hal 1.2`);
  process.exit(2);
}
for (const { name, verdict, clauses, model } of samples) {
  const clause = clauseOf(model);
  if (verdict === "either" || (clause === undefined) === (verdict === "valid")) continue;
  console.log(`${name}: expected ${verdict} ${clauses.join(" ")}, found ${clause ?? "valid"}`);
  wrong += 1;
}
console.log(`${samples.length} models, ${wrong} wrong verdicts`);
process.exit(wrong ? 1 : 0);
