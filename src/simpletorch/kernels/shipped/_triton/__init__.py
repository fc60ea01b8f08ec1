"""The Triton kernels themselves, a file an operator. Imported where a tensor on a GPU or `compile_check` needs one.

Offsets are 64 bits wide wherever rows or programs are multiplied, so that tensors may have more than 2**31 elements.
Sums are taken in float32, in the same order each time: no atomics. Numbers are cast to float32 first: a
program that Inductor compiles passes them as float64, and all that they meet would become that.
"""
