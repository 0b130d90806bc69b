"""Models of LiteRT (`.tflite`) as models of NN HAL 1.3 or below.

flatbuffer and contents read a file that nobody vouches for; tensors, translation and steps are what a translation works
with; operators/ has the rules of each builtin operator, folding what is computed here, variables the state that a model
keeps between two runs. importing is the front door.
"""
