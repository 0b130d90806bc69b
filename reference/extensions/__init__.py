"""The reference's own extensions, each a catalogue as a vendor would write it (docs/extensions.md).

com.npu_conformance.fibonacci: the sequence, in a scalar and a quantised tensor type whose parameters are extension data.
com.npu_conformance.echo: what came of extension data. Its local numbers are those of the first, its operand types too.
"""
