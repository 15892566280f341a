"""A GGUF file of a tiny random Llama with a byte-level tokenizer of SmolLM's kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGUFWriter, TokenType
from tokenizers.pre_tokenizers import ByteLevel

HIDDEN, LAYERS, HEADS, KV_HEADS, WIDE = 32, 2, 4, 2, 48
TEMPLATE = (
    "{% for message in messages %}{% if loop.first and message['role'] != 'system' %}<|im_start|>system\n"
    "You are tiny.<|im_end|>\n{% endif %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["Ċ Ċ", "h e", "Ġ a"]


def write_tiny_gguf(file: Path, seed: int = 0) -> dict[str, np.ndarray]:
    """Writes the file and returns its tensors by GGUF name, float32."""
    tokens = [*SPECIAL, *sorted(ByteLevel.alphabet()), *(merge.replace(" ", "") for merge in MERGES)]
    tensors = _tensors(np.random.default_rng(seed), len(tokens))
    writer = GGUFWriter(file, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(WIDE)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.CONTROL] * len(SPECIAL) + [TokenType.NORMAL] * (len(tokens) - len(SPECIAL)))
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, values in tensors.items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tensors


def _tensors(random: np.random.Generator, vocabulary: int) -> dict[str, np.ndarray]:
    def matrix(rows: int, columns: int) -> np.ndarray:
        return (random.standard_normal((rows, columns)) * 0.2).astype(np.float32)

    tensors = {"token_embd.weight": matrix(vocabulary, HIDDEN), "output_norm.weight": np.ones(HIDDEN, np.float32)}
    narrow = HIDDEN // HEADS * KV_HEADS
    for layer in range(LAYERS):
        block = {
            "attn_norm": np.ones(HIDDEN, np.float32),
            "attn_q": matrix(HIDDEN, HIDDEN),
            "attn_k": matrix(narrow, HIDDEN),
            "attn_v": matrix(narrow, HIDDEN),
            "attn_output": matrix(HIDDEN, HIDDEN),
            "ffn_norm": np.ones(HIDDEN, np.float32),
            "ffn_gate": matrix(WIDE, HIDDEN),
            "ffn_up": matrix(WIDE, HIDDEN),
            "ffn_down": matrix(HIDDEN, WIDE),
        }
        tensors |= {f"blk.{layer}.{name}.weight": values for name, values in block.items()}
    return tensors
