from __future__ import annotations

import subprocess
import sys

import pytest

from medusa_chat.bench.machine import Others, describe
from medusa_chat.bench.memory import peak_bytes


def test_the_machine_is_described_in_json_values():
    machine = describe()
    assert {"cpu", "cores", "threads", "memory_gib", "gpu", "torch", "transformers"} <= set(machine)
    assert all(value is None or isinstance(value, str | int | float) for value in machine.values())


def test_own_work_is_not_others(monkeypatch: pytest.MonkeyPatch):
    clocks = iter([(100.0, 50.0, 10.0), (110.0, 58.0, 16.0)])
    monkeypatch.setattr("medusa_chat.bench.machine._clocks", lambda: next(clocks))
    # Of 10 s on all cores 8 were busy, 6 of them with us.
    assert Others().share() == pytest.approx(0.2)


def test_peak_memory_is_that_of_the_process_asked_for():
    code = (
        "block = bytearray(300 << 20); block[::4096] = b'x' * len(block[::4096]); del block; print(flush=True); input()"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with child:
        child.stdout.readline()
        peak = peak_bytes(child.pid)
        child.communicate(b"\n")
    # It stays after the block is given back.
    assert 300 << 20 <= peak < 500 << 20
    assert peak_bytes() != peak


@pytest.mark.skipif(sys.platform == "win32", reason="process ids are given anew at once there")
def test_a_process_that_is_gone_has_no_peak():
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
        gone = child.pid
    assert peak_bytes(gone) is None
