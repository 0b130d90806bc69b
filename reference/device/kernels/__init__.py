"""One module for each operation, named as the operation in lower case, with a function of that name.

A kernel computes outputs from inputs by the operation's formula. It checks nothing: the rules of
specs/neuralnetworks/rules have accepted the operation with exactly these shapes and values.
"""
