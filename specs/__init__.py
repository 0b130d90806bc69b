"""The contract: versions, types, interfaces, operations, rules, requirements, vectors. Imports nothing of the house."""
