# Written for npu-conformance: a loop that adds one until it reaches n, with its condition and body as referenced models.
def counter(name, operation, kind):
    i, n = Input("i", "TENSOR_FLOAT32", "{1}"), Input("n", "TENSOR_FLOAT32", "{1}")
    out = Output("out", kind, "{1}")
    model = Model(name).IdentifyInputs(i, n)
    return model.Operation("LESS", i, n).To(out) if operation == "LESS" else model.Operation("ADD", i, [1.0], 0).To(out)


def test(name, wanted):
    n, out = Input("n", "TENSOR_FLOAT32", "{1}"), Output("out", "TENSOR_FLOAT32", "{1}")
    condition, body = counter("condition", "LESS", "TENSOR_BOOL8"), counter("body", "ADD", "TENSOR_FLOAT32")
    model = Model().Operation("WHILE", condition, body, [0.0], n).To(out)
    example = Example({n: [wanted], out: [wanted]}, model=model, name=name)
    example.AddVariations("relaxed", "float16").AddVariations(AllOutputsAsInternalCoverter())


test("three", 3.0)
test("five", 5.0)
