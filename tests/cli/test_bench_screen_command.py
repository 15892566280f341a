"""`medusa-chat bench screen`: what it measures is shown and written."""

from __future__ import annotations

import json

from medusa_chat.bench import screen
from medusa_chat.bench.screen import Archive, FirstPaint, Streaming

SEEN = {
    "tokens": 2000, "answers": 2, "answers_whole": 2, "seconds": 5.0, "cpu_seconds": 2.0,
    "memory_bytes": {"400": 100 << 20, "1200": 101 << 20, "2000": 102 << 20}, "heavy_modules": [],
}  # fmt: skip


def test_figures_stand_beside_what_is_wanted_and_in_a_file(medusa, monkeypatch, tmp_path):
    asked = []

    def streaming(*arguments: object) -> Streaming:
        asked.append(arguments)
        return Streaming(200, (0.01, 0.02, 0.03), 0, SEEN)

    monkeypatch.setattr(screen, "first_paint", lambda repeats: FirstPaint((0.5,) * repeats, ()))
    monkeypatch.setattr(screen, "streaming", streaming)
    monkeypatch.setattr(screen, "archive", lambda *_: Archive(5000, 100_000, (0.25,), (0.04,)))
    file = tmp_path / "screen.json"
    ended = medusa("bench", "screen", "--tokens", "2000", "--json", str(file))
    assert ended.code == 0
    assert asked == [(500.0, 2000, 1000, 200)]
    for text in ("0.50 s", "none", "2 of 2", "20 ms", "30 ms", "40 %", "100 / 101 / 102 MiB", "250 ms", "< 0.8 s"):
        assert text in ended.out
    written = json.loads(file.read_text())
    assert written["streaming"]["seen"] == SEEN
    assert written["archive"]["search_seconds"] == [0.04]
    assert written["settings"]["tokens_per_second"] == 500.0


def test_fewer_tokens_than_an_answer_has_are_refused(medusa):
    assert medusa("bench", "screen", "--tokens", "10").code == 2
