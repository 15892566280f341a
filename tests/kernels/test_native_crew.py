"""All threads on a quiet machine, one on a busy one, and back again."""

from __future__ import annotations

from dataclasses import dataclass

from medusa_chat.kernels.native.crew import FIRST_REST, LONGEST_REST, Crew


@dataclass
class Machine:
    """Four cores; when others are busy, threads wait for each other."""

    busy: bool = False
    tells: bool = True

    def ms(self, threads: int, nodes: int) -> float:
        alone = 10.0 + 0.6 * (nodes - 1)
        return alone if threads == 1 else alone * (10.0 if self.busy else 0.3)

    def crew(self) -> Crew:
        return Crew(lambda: 4, lambda: self.busy and self.tells)


def run(crew: Crew, machine: Machine, passes: int) -> tuple[float, list[int]]:
    total, sizes = 0.0, []
    for number in range(passes):
        nodes = (1, 5, 9, 3)[number % 4]
        sizes.append(crew.size)
        ms = machine.ms(crew.size, nodes)
        total += ms
        crew.took(nodes, ms)
    return total, sizes


def test_a_quiet_machine_gives_all_threads() -> None:
    machine = Machine()
    _, sizes = run(machine.crew(), machine, 200)
    assert set(sizes) == {4}


def test_one_hiccup_changes_nothing() -> None:
    machine = Machine()
    crew = machine.crew()
    run(crew, machine, 20)
    for _ in range(5):
        crew.took(1, 500.0)
        run(crew, machine, 3)
        assert crew.size == 4


def test_a_busy_machine_gets_one_thread_and_few_trials() -> None:
    for tells in (True, False):
        machine = Machine(tells=tells)
        crew = machine.crew()
        run(crew, machine, 20)
        machine.busy = True
        total, sizes = run(crew, machine, 2000)
        alone = sum(Machine(busy=True).ms(1, (1, 5, 9, 3)[number % 4]) for number in range(2000))
        assert sizes[2] == 1
        assert total < (1.02 if tells else 1.10) * alone


def test_threads_come_back_when_it_is_quiet_again() -> None:
    for tells, patience in ((True, 2 * FIRST_REST), (False, 2 * LONGEST_REST)):
        machine = Machine(tells=tells)
        crew = machine.crew()
        run(crew, machine, 20)
        machine.busy = True
        run(crew, machine, 3000)
        machine.busy = False
        _, sizes = run(crew, machine, patience + 50)
        assert set(sizes[-50:]) == {4}


def test_prompts_are_not_judged() -> None:
    machine = Machine()
    crew = machine.crew()
    run(crew, machine, 20)
    for _ in range(10):
        crew.took(256, 10_000.0)
    assert crew.size == 4


def test_the_number_of_threads_may_change_meanwhile() -> None:
    threads = 2
    crew = Crew(lambda: threads, lambda: False)
    assert crew.size == 2
    threads = 3
    assert crew.size == 3
