"""AOSP's test specifications (`.mod.py`): an own reading of their language, run in a confined child process.

naming, types, numbers, operands, models, variations, lifetimes and examples are the language, loaded in the child only,
where a file sees its words (language.namespace). expansion turns the examples of a file into neutral documents.
confined is the child; confinement and system_calls say what it may do. children and importing are the parent's side:
from files to documents and problems.
"""
