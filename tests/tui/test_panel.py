"""The Medusa panel: what it shows must be what the steps say, and what its keys do must reach the engine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from doubles.scripted_engine import LOADED
from doubles.step_records import steps_of
from textual.widgets import Digits, Static

from medusa_chat.engine.options import Decoding, Sampling
from medusa_chat.engine.statistics import Tally
from medusa_chat.host.messages import Adjust, Generate, StepRecord, TreeRecord
from medusa_chat.tui.chat.help import HelpScreen
from medusa_chat.tui.chat.keys import CHAT_BINDINGS
from medusa_chat.tui.chat.status import StatusLine
from medusa_chat.tui.knobs import KNOBS
from medusa_chat.tui.panel.knob_list import KnobList
from medusa_chat.tui.panel.lengths import Histogram, Sparkline, bar, histogram, sparkline
from medusa_chat.tui.panel.panel import MedusaPanel
from medusa_chat.tui.panel.tree import TreeView, drawn_tree, tree_rows

TEXT = "The capital of France is Paris, a city on the Seine with a long history and many museums."


async def test_the_figures_are_those_of_the_tally(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        chat.engine.play(6)
        tally = Tally(plain_ms=LOADED.plain_ms)
        for step in steps_of(TEXT)[:6]:
            tally.add(len(step.tokens), step.ms)
        speed = chat.screen.query_one("#tokens-per-second", Digits)
        await chat.until(lambda: speed.value == f"{tally.tokens_per_second:.1f}")
        assert chat.screen.query_one("#speedup", Digits).value == f"{tally.speedup:.2f}×"
        rates = str(chat.screen.query_one("#rates", Static).render()).split()
        assert rates[-6:] == [
            *("rate", f"{tally.acceleration_rate:.2f}", f"{tally.acceleration_rate:.2f}"),
            *("overhead", f"{tally.overhead:.2f}", f"{tally.overhead:.2f}"),
        ]
        shares = [[f"{100 * tally.lengths.get(length, 0) / tally.steps:.0f}"] for length in range(1, 6)]
        rows = chat.screen.query_one(Histogram)
        await chat.until(lambda: [line.split()[-2:-1] for line in chat.shown(rows).splitlines()] == shares)
        trend = chat.screen.query_one(Sparkline)
        await chat.until(lambda: [len(line) for line in chat.shown(trend).splitlines()[-1:]] == [tally.steps])


async def test_the_tree_lights_the_accepted_path(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        chat.engine.play(1)
        step = steps_of(TEXT)[0]
        tree = chat.screen.query_one(TreeView)
        await chat.until(lambda: "root" in chat.shown(tree))
        lines = chat.shown(tree).splitlines()
        marked = [line for line in lines if "✓" in line]
        assert len(marked) == len(step.path) - 1
        for node, line in zip(step.path[1:], marked, strict=True):
            assert step.tree.texts[node].replace(" ", "·") in line
            assert f"{step.tree.scores[node]:.2f}" in line
        styles = {
            segment.text.strip(): segment.style
            for row in range(tree.size.height)
            for segment in tree.render_line(row)
            if segment.text.strip()
        }
        kept = styles[step.tree.texts[step.path[1]].replace(" ", "·")]
        lost = next(node for node in range(1, 8) if node not in step.path)
        fallen = styles[step.tree.texts[lost].replace(" ", "·")]
        assert kept.bold
        assert not fallen.bold
        assert kept.color != fallen.color


PRESSES = [
    (["f2"], {"decoder": "medusa"}),
    (["f2", "f2", "f2"], {"decoder": "recycle"}),
    (["f14"], {"decoder": "plain"}),
    (["f2", "f3"], {"decoder": "medusa", "tree": "calibrated"}),
    (["f2", "shift+f3"], {"decoder": "medusa", "tree": "cartesian"}),
    (["f4"], {"rule": "typical"}),
    (["f4", "f8"], {"rule": "typical", "epsilon": 0.12}),
    (["f4", "f12"], {"rule": "typical", "delta": 0.4}),
    (["f4", "f4", "f20"], {"rule": "threshold", "threshold": 0.07}),
    (["f5"], {"budget": 12}),
    (["shift+f5", "shift+f5"], {"budget": 4}),
    (["f17"] * 4, {"budget": 1}),
    (["f17"] * 5, {"budget": None}),
    (["f18"], {"heads": 3}),
    (["f18"] * 9, {"heads": 1}),
    (["f18", "f6"], {"heads": None}),
    (["f7"], {"top_k": 12}),
    (["f7"] * 9, {"top_k": 64}),
    (["f19"] * 12, {"top_k": 1}),
]


@pytest.mark.parametrize(("keys", "changes"), PRESSES)
async def test_keys_adjust_the_running_answer(open_chat, keys, changes):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        chat.composer.text = "typed meanwhile"
        await chat.pilot.press(*keys)
        await chat.until(lambda: chat.engine.sent(Adjust))
        assert chat.engine.sent(Adjust)[-1] == Adjust(Decoding(**changes), Sampling())
        assert chat.composer.text == "typed meanwhile"


async def test_nothing_is_sent_where_there_is_nothing_to_change(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        await chat.pilot.press("f8", "f12", "f6")
        assert not chat.engine.sent(Adjust)
        assert any("lossless rule has no threshold" in toast for toast in chat.toasts)


async def test_settings_chosen_before_a_question_go_with_it(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.pilot.press("f4", "f5", "f9")
        assert not chat.engine.sent(Adjust)
        await chat.ask()
        request = chat.engine.sent(Generate)[0]
        assert request.decoding == Decoding(rule="typical", budget=12)
        assert request.sampling == Sampling(temperature=0.2)


async def test_settings_can_be_changed_with_arrows_in_the_panel(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        await chat.pilot.press("tab", "tab")
        assert chat.screen.focused is chat.screen.query_one(KnobList)
        await chat.pilot.press("right", "down", "right")
        assert chat.engine.sent(Adjust)[-1] == Adjust(Decoding("medusa", tree="calibrated"), Sampling())
        await chat.pilot.press("left_square_bracket")
        assert chat.engine.sent(Adjust)[-1] == Adjust(Decoding("medusa"), Sampling())


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)])
async def test_a_lossy_rule_says_so_in_every_layout(open_chat, size):
    async with open_chat(TEXT, size=size) as chat:
        await chat.ask()
        await chat.finish()
        await chat.pilot.press("f4", "f4")
        place = chat.screen.query_one(StatusLine if size[0] < 104 else KnobList)
        await chat.until(lambda: "threshold, lossy" in chat.shown(place))


async def test_the_decoder_key_skips_medusa_without_heads(open_chat):
    async with open_chat(TEXT, loaded=replace(LOADED, heads=0)) as chat:
        await chat.ask()
        assert chat.engine.sent(Generate)[0].decoding.decoder == "joint"
        await chat.pilot.press("f2", "f2", "f2")
        assert [request.decoding.decoder for request in chat.engine.sent(Adjust)] == ["lookup", "recycle", "plain"]


async def test_the_tree_can_be_changed_for_heads_alone(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        await chat.pilot.press("f3")
        assert not chat.engine.sent(Adjust)
        assert any("Only the decoder medusa has other trees" in toast for toast in chat.toasts)


async def test_the_panel_gives_way_on_narrow_screens_and_obeys_its_key(open_chat):
    async with open_chat(TEXT, size=(120, 40)) as chat:
        panel = chat.screen.query_one(MedusaPanel)
        await chat.ask()
        await chat.finish()
        assert panel.display
        await chat.pilot.resize_terminal(80, 24)
        await chat.until(lambda: not panel.display)
        await chat.until(lambda: "tokens/s" in chat.shown(chat.screen.query_one(StatusLine)))
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: panel.display)
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: not panel.display)
        await chat.pilot.resize_terminal(40, 12)
        assert chat.composer.region.height >= 3
        await chat.pilot.resize_terminal(200, 60)
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: panel.display and panel.size.width > 60)


async def test_help_lists_every_key(open_chat):
    async with open_chat(size=(120, 60)) as chat:
        await chat.pilot.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        listed = {row.text for _, rows in chat.app.screen.shown for row in rows}
        for knob in KNOBS:
            assert knob.meaning in listed
        await chat.pilot.press("escape")
        await chat.until(lambda: not isinstance(chat.app.screen, HelpScreen))


async def test_every_action_is_in_the_palette_and_every_binding_has_an_id(open_chat):
    async with open_chat(TEXT) as chat:
        ids = [binding.id for binding in CHAT_BINDINGS]
        assert None not in ids
        assert len(set(ids)) == len(ids)
        assert all(binding.tooltip for binding in CHAT_BINDINGS)
        helps = {command.help for command in chat.app.get_system_commands(chat.screen)}
        # Some are offered only while there is an answer to stop.
        await chat.ask()
        helps |= {command.help for command in chat.app.get_system_commands(chat.screen)}
        assert {binding.tooltip for binding in CHAT_BINDINGS} <= helps


def test_a_tree_that_does_not_fit_keeps_the_path_and_the_likeliest_nodes():
    parents = (-1, 0, 0, 0, 1, 3, 5)
    scores = (1.0, 0.6, 0.3, 0.05, 0.5, 0.9, 0.9)
    tree = TreeRecord((0,) * 7, parents, scores, tuple("rabcdef"), ("root",) * 7)
    rows = tree_rows(tree, (0, 3, 5), rows=5)
    assert [row.text for row in rows] == ["r", "a", "b", "c", "e"]
    assert {row.node for row in rows if row.accepted} == {0, 3, 5}
    assert [row.guides for row in rows] == ["", "├─", "├─", "└─", "  └─"]


def test_a_drawn_tree_has_the_width_and_height_it_was_given():
    texts = ("root", " 東京東京東京東京東京東京", "\n", "\x1b[31m")
    tree = TreeRecord((1, 2, 3, 4), (-1, 0, 1, 2), (1.0, 0.5, 0.5, 0.5), texts, ("root",) * 4)
    step = StepRecord(1, tree, (0,), (9,), "", 0, 1, 0, 0)
    for width in (24, 40, 70):
        lines = drawn_tree(step, width, 4).split("\n")
        assert [line.cell_length for line in lines] == [width] * 4
    assert "↵" in drawn_tree(step, 40, 4).plain
    assert "\x1b" not in drawn_tree(step, 40, 4).plain
    assert drawn_tree(step, 40, 2).plain.splitlines()[-1].strip() == "… 3 less likely"


def test_sparkline_shows_the_newest_on_a_fixed_scale():
    assert sparkline([1, 2, 4, 8], width=3, top=8) == ["▂▄█"]
    assert sparkline([2, 2], width=5, top=4, rows=2) == ["  ", "██"]
    assert sparkline([9], width=4, top=4) == ["█"]
    assert sparkline([], width=4, top=4) == [""]


def test_bars_and_histogram():
    assert bar(0.5, 4) == "━━  "
    assert bar(0.4, 4) == "━╸  "
    assert bar(2.0, 3) == "━━━"
    rows = histogram({1: 3, 2: 1, 7: 1}, width=6, rows=3)
    assert [row[0] for row in rows] == ["1 ", "2 ", "3+"]
    assert [row[2].split()[0] for row in rows] == ["60", "20", "20"]
    assert [row[2].strip() for row in histogram({}, 6, 2)] == ["", ""]
