"""Decoding alone: trees, backbone, cache, drafters, acceptance, the loop, text. Imports no other room but `kernels`."""
