"""The C structures of step.c and linear.h, field by field."""

from __future__ import annotations

import ctypes
from ctypes import c_float, c_int32, c_void_p

FLOAT, INT8, INT4 = 0, 1, 2
"""Kinds of weights."""
SILU, GELU_TANH = 0, 1
"""Activations."""
PHASES = ("norms and rounding", "projections", "positions and cache", "attention", "output layer")
"""What a pass spends its time on, in the order of step.c."""


class Linear(ctypes.Structure):
    _fields_ = (
        ("kind", c_int32),
        ("inputs", c_int32),
        ("outputs", c_int32),
        ("reserved", c_int32),
        ("weights", c_void_p),
        ("bias", c_void_p),
    )


class Layer(ctypes.Structure):
    _fields_ = (
        ("qkv", Linear),
        ("o", Linear),
        ("gate_up", Linear),
        ("down", Linear),
        ("attention_norm", c_void_p),
        ("mlp_norm", c_void_p),
        ("query_norm", c_void_p),
        ("key_norm", c_void_p),
        ("window", c_int32),
        ("rotary", c_int32),
    )


class Model(ctypes.Structure):
    _fields_ = (
        ("layers", c_int32),
        ("hidden", c_int32),
        ("inner", c_int32),
        ("heads", c_int32),
        ("kv_heads", c_int32),
        ("head_dim", c_int32),
        ("activation", c_int32),
        ("threads", c_int32),
        ("eps", c_float),
        ("scale", c_float),
        ("layer", c_void_p),
        ("final_norm", c_void_p),
        ("output", Linear),
    )


class Pass(ctypes.Structure):
    _fields_ = (
        ("nodes", c_int32),
        ("prefix", c_int32),
        ("capacity", c_int32),
        ("last_only", c_int32),
        ("parents", c_void_p),
        ("embeddings", c_void_p),
        ("cosine", c_void_p),
        ("sine", c_void_p),
        ("keys", c_void_p),
        ("values", c_void_p),
        ("hidden", c_void_p),
        ("logits", c_void_p),
        ("scratch", c_void_p),
        ("spent", c_void_p),
    )


class Heads(ctypes.Structure):
    _fields_ = (
        ("heads", c_int32),
        ("layers", c_int32),
        ("hidden", c_int32),
        ("reserved", c_int32),
        ("blocks", c_void_p),
        ("root", Linear),
        ("output", Linear),
    )


class Guess(ctypes.Structure):
    _fields_ = (
        ("heads", c_int32),
        ("top_k", c_int32),
        ("threads", c_int32),
        ("reserved", c_int32),
        ("hidden", c_void_p),
        ("embedding", c_void_p),
        ("odds", c_void_p),
        ("columns", c_void_p),
        ("scratch", c_void_p),
    )
