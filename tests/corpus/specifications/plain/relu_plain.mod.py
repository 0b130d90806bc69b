# Written for npu-conformance: in a folder that says no version.
x, y = Input("x", "TENSOR_FLOAT32", "{1, 2}"), Output("y", "TENSOR_FLOAT32", "{1, 2}")
Model().Operation("RELU", x).To(y)
Example({x: [-1.0, 2.0], y: [0.0, 2.0]}).AddVariations("relaxed", "float16")
