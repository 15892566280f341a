"""Turns a GGUF file into a folder transformers loads fast: `python -m ... FILE FOLDER`, progress as JSON lines.

Reading a GGUF file takes transformers many seconds at every start; the converted folder loads in about two.
"""

from __future__ import annotations

import errno
import json
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def main(arguments: list[str]) -> int:
    gguf, folder = map(Path, arguments)
    try:
        convert_file(gguf, folder)
    except Exception as error:
        # The process's own last line: the whole story for the log (stderr), one line for the person (stdout).
        traceback.print_exc()
        _say(problem="full" if _is_full(error) else f"{type(error).__name__}: {error}".splitlines()[0])
        return 1
    return 0


def convert_file(gguf: Path, folder: Path) -> None:
    _say(stage="loading the converter", done=0.0)
    import torch
    import transformers

    _say(stage="reading the weights", done=0.1)
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, dtype=torch.float32
    )
    # The weights are plain float32 now; what transformers noted about their quantised past would forbid saving them.
    model.hf_quantizer = None
    model.is_quantized = False
    model.quantization_method = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    _say(stage="reading the tokenizer", done=0.7)
    tokenizer = transformers.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    _split_digits(tokenizer, gguf)
    _say(stage="writing the weights", done=0.9)
    folder.mkdir(mode=0o700, parents=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    _say(stage="writing the weights", done=1.0)


def _split_digits(tokenizer: PreTrainedTokenizerBase, gguf: Path) -> None:
    """Restores a step of SmolLM's tokenizer that transformers' GGUF reader drops: every digit stands alone.

    Without it a blank line before a digit ("\\n\\n1.") becomes other tokens than those the model was trained on and
    writes itself, so a re-read answer would differ from the written one. GGUF names the step in `tokenizer.ggml.pre`
    (llama.cpp, LLAMA_VOCAB_PRE_TYPE_SMOLLM).
    """
    from gguf import GGUFReader
    from tokenizers import pre_tokenizers

    field = GGUFReader(gguf).get_field("tokenizer.ggml.pre")
    if field is not None and field.contents() == "smollm":
        rust: Any = tokenizer.backend_tokenizer
        rust.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )


def _is_full(error: BaseException) -> bool:
    """safetensors writes in Rust and gives the number of a disk's refusal in words only."""
    full = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
    return getattr(error, "errno", None) in full or any(f"(os error {code})" in str(error) for code in full)


def _say(**message: object) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
