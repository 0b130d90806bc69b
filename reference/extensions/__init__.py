"""The reference's own extensions, each a catalogue as a vendor would write it (docs/extensions.md).

com.npu_conformance.fibonacci: the sequence, of a scalar type and a tensor type with parameters in its extension data.
com.npu_conformance.echo: what came of extension data. Its local numbers are those of the first, its operand types too.
"""
