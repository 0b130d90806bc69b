"""The contract: types, interfaces, versions, operations, rules, requirements, vectors. Imports nothing else of the project."""
