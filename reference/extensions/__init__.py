"""The reference's own extensions, each a catalogue as a vendor would write it (docs/extensions.md).

com.npu_conformance.fibonacci: the sequence, of a scalar type and a tensor type with parameters in its extension data.
com.npu_conformance.echo: reports the extension data that arrived. It has local numbers and operand types of the first.
"""
