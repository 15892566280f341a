"""A decoder's pass for CPUs, in C: few rows, low-bit weights, every row's result independent of the rows beside it.

The C is compiled once by the machine's own compiler; without one everything else of the project still works.
"""
