"""The contract: versions, types, interfaces, operations, rules and requirements. It imports no other package."""
