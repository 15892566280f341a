"""What the screen and the engine process say to each other: small frozen values, free of torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from medusa_chat.engine.options import Decoding, Limits, Reason, Sampling

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    role: Role
    content: str


# From the screen to the engine.


@dataclass(frozen=True, slots=True)
class Load:
    """Load a model card by name (or a folder by path), replacing what was loaded."""

    model: str
    quantize: str = "auto"


@dataclass(frozen=True, slots=True)
class Generate:
    """Answer a conversation. Answers carry the same `answer` id, so late messages of a cancelled one are told apart."""

    answer: int
    messages: tuple[ChatMessage, ...]
    sampling: Sampling = field(default_factory=Sampling)
    decoding: Decoding = field(default_factory=Decoding)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Adjust:
    """New options for the running answer, from the next step on."""

    decoding: Decoding
    sampling: Sampling | None = None
    """None leaves it as it is. The seed counts from the next answer on."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One contestant of a comparison."""

    name: str
    """For people: the decoder's or the preset's."""
    decoding: Decoding


@dataclass(frozen=True, slots=True)
class Compare:
    """Answer one conversation in several lanes, each with its own cache and its own clock.

    The lane with the least engine time of its own takes the next step. All draw the same random numbers. Pause,
    StepOnce (one step of the lane whose turn it is), Resume and Cancel steer all lanes together; Adjust changes nothing.
    The prompt is read once, before the clocks run, and the chat's own cache stays as it is. Where a lane decodes plainly
    its mean step is the plain step of all; else plain steps are timed beside each lane's own, as in a chat.
    """

    answer: int
    """Counts with those of `Generate`."""
    messages: tuple[ChatMessage, ...]
    lanes: tuple[Lane, ...]
    """The others are held against the first."""
    sampling: Sampling = field(default_factory=Sampling)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Pause:
    """Stop between two steps and wait."""


@dataclass(frozen=True, slots=True)
class StepOnce:
    """While paused: take exactly one step."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on after a pause."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """End the running answer between two steps; what was written stays."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """End the process."""


Request = Load | Generate | Compare | Adjust | Pause | StepOnce | Resume | Cancel | Shutdown


# From the engine to the screen.


@dataclass(frozen=True, slots=True)
class Progress:
    """A long part on its way: loading, prefill."""

    stage: str
    """Short and showable: "loading torch", "packing weights", "reading the conversation"."""
    done: float | None = None
    """0..1; None while the length is unknown."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The model is ready for its first token."""

    model: str
    heads: int
    """0 when no heads were found: Medusa is off and the screen says so."""
    device: str
    """Showable: "cpu, 2 threads" or the card's name."""
    precision: str
    """Showable: "float32", "nf4"."""
    context: int
    """Tokens the model can hold."""
    budget: int
    """The number of nodes that pays most here on the whole; when none is chosen every step has its own."""
    plain_ms: float
    """Milliseconds of a plain step, timed right after loading; what the steps of an answer say of it takes its place."""
    notes: tuple[str, ...] = ()
    """Plain sentences the person should see (heads made for other weights, no calibration, ...)."""


@dataclass(frozen=True, slots=True)
class TreeRecord:
    """A candidate tree in plain lists, with the text of every node's token."""

    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    scores: tuple[float, ...]
    texts: tuple[str, ...]
    """Raw token pieces: data, never markup."""
    sources: tuple[str, ...]
    """Who proposed each node: "root", "head 1", "head 2", ..., "lookup", "recycle"."""


@dataclass(frozen=True, slots=True)
class RejectionRecord:
    node: int
    probability: float
    needed: float | None = None
    entropy: float | None = None


@dataclass(frozen=True, slots=True)
class BeliefRecord:
    """What the backbone held of a verified tree, one entry a node: under temperature, penalties and warpers, at
    temperature 0 as at 1."""

    probabilities: tuple[float, ...]
    """Of the node's token, at its parent; the root's is 1."""
    entropies: tuple[float, ...]
    """In nats, of the distribution after the node."""
    favourites: tuple[str, ...]
    """Raw piece of the likeliest token after the node: data, never markup."""
    certainties: tuple[float, ...]
    """Probability of that token."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step, as the screen and the trace see it (`engine.step.Step` without tensors)."""

    index: int
    tree: TreeRecord
    path: tuple[int, ...]
    tokens: tuple[int, ...]
    text: str
    draft_ms: float
    verify_ms: float
    accept_ms: float
    commit_ms: float
    text_ms: float = 0.0
    reasons: tuple[RejectionRecord, ...] = ()
    finish: Reason | None = None
    plain_ms: float | None = None
    """What a plain step would have taken in its place; None where that is not known."""
    beliefs: BeliefRecord | None = None
    """None where nobody asked for them."""

    @property
    def ms(self) -> float:
        return self.draft_ms + self.verify_ms + self.accept_ms + self.text_ms + self.commit_ms


@dataclass(frozen=True, slots=True)
class StepTaken:
    """Steps since the last such message, in order, none dropped: the engine batches them to the screen's frame rate."""

    answer: int
    steps: tuple[StepRecord, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of a finished answer. Times are engine time: prefill apart from decoding."""

    prompt_tokens: int
    tokens: int
    steps: int
    seconds: float
    """Decoding only."""
    prefill_seconds: float
    plain_ms: float


@dataclass(frozen=True, slots=True)
class Finished:
    answer: int
    reason: Reason
    statistics: Statistics
    text: str = ""
    """Text behind that of the last step: what was held back (half a character, the possible beginning of a stop
    string) when the answer was cancelled."""


@dataclass(frozen=True, slots=True)
class LaneStepped:
    """Steps of one lane since its last such message, in order, none dropped."""

    answer: int
    lane: int
    steps: tuple[StepRecord, ...]


@dataclass(frozen=True, slots=True)
class LaneEnded:
    """A lane's answer is complete, or was cut short. `Statistics.plain_ms` is what was known then."""

    answer: int
    lane: int
    reason: Reason
    statistics: Statistics
    text: str = ""
    """As in `Finished`."""


@dataclass(frozen=True, slots=True)
class Parting:
    """Where a lane's tokens leave those of the first lane."""

    index: int
    """Of the first token that differs."""
    tokens: tuple[int | None, int | None]
    """The first lane's and this lane's; None where that one had ended."""
    texts: tuple[str, str]
    gap: float | None
    """Difference of the two tokens' logits in plain decoding, at least 0; None where one of them is missing."""


@dataclass(frozen=True, slots=True)
class Compared:
    """All lanes have ended; the last message of a comparison."""

    answer: int
    partings: tuple[Parting | None, ...]
    """One a lane; None where it says the same as the first (as far as both got, when it was stopped)."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Something went wrong; the conversation is intact."""

    kind: Literal["refused", "memory", "died", "internal"]
    """refused: the request itself (prompt too long, no heads, ...); memory: out of it; died: the process ended;
    internal: a fault of ours, details in the log."""
    advice: str
    """One plain sentence that names the thing and the way out."""
    answer: int | None = None


Event = Progress | Loaded | StepTaken | Finished | LaneStepped | LaneEnded | Compared | Failed
