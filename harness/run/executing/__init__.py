"""The executors: every way in which a version executes a prepared model, with one answer for all of them.

execution: one execution, and what it must answer. executors: binds a request to a way by its name. burst, with its
channel and packets in HIDL, and launching, of fenced executions: ways that have more to tell.
"""
