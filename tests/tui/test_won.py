"""Which token was won how, and which part of the text it brought: as the trace says, whatever the tokens look like."""

from __future__ import annotations

from collections import Counter

from doubles import small_tokenizers
from doubles.step_records import END, steps_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from medusa_chat.chats.trace import TraceStep
from medusa_chat.engine.options import Limits
from medusa_chat.engine.text.detokenizer import Detokenizer
from medusa_chat.engine.text.ending import Ending
from medusa_chat.engine.text.token_text import piece
from medusa_chat.tui.keeping import trace_step
from medusa_chat.tui.won import WonTokens, kind_of, kinds

SOURCES = ("head 1", "head 2", "head 3", "head 4", "head 5", "head 7", "lookup", "recycle", "oracle")
TOKENIZERS = (small_tokenizers.byte_level, small_tokenizers.byte_fallback, small_tokenizers.metaspace)
TEXTS = (
    "Hello there, naïve café!",
    "tab\tand a\nnew line",
    "日本語のテキスト 한국어 🌍👩‍👩‍👧 שלום עליכם é",
    r"literal \n and \x41 and <0xE2> stay as they are \\n",
    "  two  spaces",
    "a\u00a0b\u200dc\u3000d",
)


def traced(tokenizer, ids, draw, stop=()) -> tuple[list[TraceStep], str, str, list[list[str]]]:
    """(steps, text behind the last one, the whole text, who won each token step by step) as an engine would say it.

    Every step's tree holds the path and one guess that fell.
    """
    ending = Ending(Limits(max_tokens=10_000, stop=stop), frozenset(), Detokenizer(tokenizer))
    steps: list[TraceStep] = []
    won: list[list[str]] = []
    root, text, place, finished = 0, "", 0, False
    while place < len(ids) and not finished:
        length = draw(st.integers(1, 5))
        taken = ending.take(ids[place : place + length])
        finished = taken.finish is not None
        kept = taken.tokens
        nodes = [root, *kept[:-1], 1]
        sources = ["root", *(draw(st.sampled_from(SOURCES)) for _ in nodes[1:])]
        steps.append(
            TraceStep(
                nodes=tuple((node, piece(tokenizer, node)) for node in nodes),
                parents=tuple(range(-1, len(nodes) - 1)),
                scores=(1.0,) * len(nodes),
                sources=tuple(sources),
                path=tuple(range(len(kept))),
                kept=kept,
                text=taken.text,
                ms=(1.0,) * 5,
            )
        )
        won.append([*sources[1 : len(kept)], "root"])
        root, text, place = kept[-1], text + taken.text, place + len(kept)
    rest = "" if finished else ending.close()
    return steps, rest, text + rest, won


def folded(steps, rest) -> WonTokens:
    tokens = WonTokens()
    for step in steps:
        tokens.add(step)
    tokens.end(rest)
    return tokens


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_marks_texts_and_counts_are_those_of_the_trace(data):
    tokenizer = data.draw(st.sampled_from(TOKENIZERS))()
    text = data.draw(st.sampled_from(TEXTS) | st.text(max_size=40))
    ids = tokenizer.encode(text, add_special_tokens=False)
    stop = data.draw(st.sampled_from([(), ("there, n",), ("テキ", "עלי"), ("zzz",)]))
    steps, rest, whole, won = traced(tokenizer, ids, data.draw, stop)
    tokens = folded(steps, rest)
    assert tokens.sources == [source for step in won for source in step]
    assert "".join(text for _, text in tokens.parts) == whole
    assert [token for token, _ in tokens.parts] == sorted(token for token, _ in tokens.parts)
    assert dict(tokens.counts()) == Counter(kind_of(source) for step in won for source in step)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_each_token_has_the_text_it_completes(data):
    tokenizer = data.draw(st.sampled_from(TOKENIZERS))()
    text = data.draw(st.sampled_from(TEXTS))
    ids = tokenizer.encode(text, add_special_tokens=False)
    assume(tokenizer.convert_tokens_to_ids("<unk>") not in ids)
    # Of several spaces at the very beginning decoders drop one, and nobody can tell which.
    assume(tokenizer is small_tokenizers.byte_level() or not text.startswith("  "))
    steps, rest, whole, _ = traced(tokenizer, ids, data.draw, data.draw(st.sampled_from([(), ("zzz", "and Q")])))
    assume("\N{REPLACEMENT CHARACTER}" not in whole)
    detokenizer = Detokenizer(tokenizer)
    assert folded(steps, rest).texts() == [detokenizer.push(token) for token in ids]
    assert whole == tokenizer.decode(ids, clean_up_tokenization_spaces=False)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_bytes_that_are_no_text_lose_nothing(data):
    tokenizer = data.draw(st.sampled_from(TOKENIZERS[:2]))()
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size - 1), max_size=30))
    steps, rest, whole, _ = traced(tokenizer, ids, data.draw)
    tokens = folded(steps, rest)
    assert "".join(tokens.texts()) == whole
    assert len(tokens.sources) == len(ids)


def test_text_that_never_came_is_no_token_s():
    tokenizer = small_tokenizers.byte_level()
    ids = tokenizer.encode("Hello there, how", add_special_tokens=False)
    ids.insert(2, tokenizer.convert_tokens_to_ids("<|im_start|>"))
    for lengths in ([len(ids)], [1] * len(ids), [2, 3] * len(ids)):
        draws = iter(lengths)
        steps, rest, whole, _ = traced(tokenizer, ids, lambda _, draws=draws: next(draws, 1))
        texts = folded(steps, rest).texts()
        assert whole == "Hello there, how"
        assert texts[2] == ""
        assert "".join(texts) == whole


def test_live_steps_and_the_end_token():
    text = "The capital of France is Paris."
    tokens = folded([trace_step(step) for step in steps_of(text)], "")
    assert "".join(tokens.texts()) == text
    assert tokens.texts()[-1] == ""
    assert sum(count for _, count in tokens.counts()) == len(tokens.sources)
    assert END not in tokens.texts()


def test_an_answer_without_steps_has_no_tokens():
    tokens = folded([], "text of long ago")
    assert (tokens.sources, tokens.parts, tokens.counts()) == ([], [], [])


def test_every_kind_has_its_place_in_the_legend():
    assert {kind_of(source) for source in ("root", *SOURCES)} <= set(kinds())
    assert [kind_of("head 4"), kind_of("head 5"), kind_of("head 12"), kind_of("[x]")] == [
        "head 4", "head 5+", "head 5+", "other",
    ]  # fmt: skip
