"""AOSP's test specifications (`.mod.py`): our own implementation of their language, in a confined child process.

naming, types, numbers, operands, models, variations, lifetimes and examples are the language, loaded in the child only,
where a file sees its words (language.namespace). expansion turns the examples of a file into JSON documents.
confined is the child; confinement and system_calls say what it may do. children and importing are the parent's side:
from files to documents and problems.
"""
