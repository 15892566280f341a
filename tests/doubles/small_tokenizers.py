"""Real tokenizers, small enough to build in a test: byte-level BPE, SentencePiece style with and without byte tokens."""

from __future__ import annotations

from functools import cache

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

CORPUS = [
    "The quick brown fox jumps over the lazy dog.",
    "Hello there, how are you today? I'm fine, thanks!",
    "  two  spaces,   three, and a tab\tand a\nnew line",
    "naïve café, Ωmega, 日本語のテキスト, 한국어",
    "user assistant system You are a helpful assistant.",
]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
ALTERNATING = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{% if message['role'] == 'user' %}[INST] {{ message['content'] }} [/INST]"
    "{% else %} {{ message['content'] }}{{ eos_token }}{% endif %}{% endfor %}"
)


def wrap(backend: Tokenizer, template: str | None = CHATML) -> PreTrainedTokenizerFast:
    """As `AutoTokenizer` would give it: special tokens named, a chat template, a post-processor that adds a BOS."""
    backend.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    bos = SPECIAL[1]
    backend.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A", special_tokens=[(bos, backend.token_to_id(bos))]
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token=bos, eos_token=SPECIAL[2])
    tokenizer.chat_template = template
    return tokenizer


@cache
def byte_level() -> PreTrainedTokenizerFast:
    """GPT-2 style, as SmolLM2, Llama 3 and Qwen have it; every byte is a token, frequent words are too."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=SPECIAL,
        show_progress=False,
    )
    backend.train_from_iterator(CORPUS, trainer)
    return wrap(backend)


@cache
def byte_fallback() -> PreTrainedTokenizerFast:
    """Llama 2 style: words begin with a visible space, characters outside the vocabulary are byte tokens."""
    words = sorted({f"▁{word}" for line in CORPUS for word in line.split()})
    chars = sorted({char for word in words for char in word} - set("日本語한"))
    vocab = ["<unk>", *[f"<0x{byte:02X}>" for byte in range(256)], "▁▁", "\ufffd", *chars, *words]
    scores = [0.0] + [-20.0] * 256 + [-4.0] + [-8.0] * (1 + len(chars)) + [-5.0] * len(words)
    backend = Tokenizer(models.Unigram(list(zip(vocab, scores, strict=True)), unk_id=0, byte_fallback=True))
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return wrap(backend)


@cache
def metaspace() -> PreTrainedTokenizerFast:
    """T5 style: visible spaces, no byte tokens."""
    backend = Tokenizer(models.BPE(unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<unk>", *SPECIAL], show_progress=False)
    backend.train_from_iterator(CORPUS, trainer)
    return wrap(backend)


@cache
def word_end() -> PreTrainedTokenizerFast:
    """The first BPE vocabularies: the end of a word is marked, not its beginning."""
    backend = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.decoder = decoders.BPEDecoder(suffix="</w>")
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<unk>", *SPECIAL], end_of_word_suffix="</w>", show_progress=False
    )
    backend.train_from_iterator(CORPUS, trainer)
    return wrap(backend)


def of_byte_strings(pieces: list[bytes]) -> PreTrainedTokenizerFast:
    """A byte-level vocabulary of exactly these pieces, to decode any division of a text; id i is piece i."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(0x100) if byte not in printable]
    char = {byte: chr(byte) if byte in printable else chr(0x100 + others.index(byte)) for byte in range(0x100)}
    vocab = {"".join(char[byte] for byte in piece): place for place, piece in enumerate(pieces)}
    backend = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    backend.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=backend)
