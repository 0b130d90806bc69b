# Written for npu-conformance: words, converters, implied parameters, helpers and loops, as real files use them.
import collections
import copy
import itertools
import math
import random
import sys

import numpy as np

Shape = collections.namedtuple("Shape", "before after")
Configuration.use_shm_for_weights = sys.maxsize < 0
layouts = [Shape([1, 2, 3, 1], [1, 4, 7, 1])]

for shape, value in itertools.product(layouts, (1.0, 2.0)):
    i1 = Input("op1", "TENSOR_FLOAT32", "{%s}" % ", ".join(map(str, shape.before)))
    paddings = Parameter("op2", "TENSOR_INT32", "{4, 2}", [0, 0, 0, 2, 1, 3, 0, 0])
    o1 = Output("op3", ("TENSOR_FLOAT32", shape.after))
    model = Model("pad").Operation("PAD", i1, paddings).To(o1)
    given = np.arange(1, 7, dtype=np.float32) * value
    wanted = np.pad(given.reshape(shape.before), ((0, 0), (0, 2), (1, 3), (0, 0)))
    feed = {i1: given.tolist(), o1: wanted.flatten().tolist()}
    quant8 = DataTypeConverter().Identify({
        i1: ("TENSOR_QUANT8_ASYMM", 0.5, 0),
        o1: ("TENSOR_QUANT8_ASYMM", 0.5, 0),
    })
    Example(copy.deepcopy(feed), model=model).AddVariations("relaxed", quant8, "float16")

random.seed(math.floor(2.5))
Example.SetVersion("V1_1", "pad_twice_pad", "pad_twice_pad_2")
