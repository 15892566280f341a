"""The keys that act on the message under the cursor. They live in the transcript: a letter means something there only
while the transcript has the focus.
"""

from __future__ import annotations

from textual.binding import Binding

_SIBLINGS = Binding.Group("siblings", compact=True)

_MOVES = (
    Binding("up,k", "move(-1)", "Up", id="message.previous", show=False, tooltip="To the message before"),
    Binding("down,j", "move(1)", "Down", id="message.next", show=False, tooltip="To the message after"),
    Binding("g,home", "move_to(0)", "First", id="message.first", show=False, tooltip="To the first message"),
    Binding("G,end", "move_to(-1)", "Last", id="message.last", show=False, tooltip="To the last message"),
)

_ACTS = (
    Binding(
        "e", "screen.edit", "Edit", id="message.edit",
        tooltip="Ask this question in other words; the old ones and what followed stay on a branch of their own",
    ),
    Binding(
        "r", "screen.regenerate", "Regenerate", id="message.regenerate",
        tooltip="Have this question answered once more; the old answer stays beside the new one",
    ),
    Binding(
        "left_square_bracket", "screen.sibling(-1)", "Sibling before", id="message.sibling.previous", key_display="[",
        group=_SIBLINGS,
        tooltip="Show the wording or answer that was there before, with all that followed it",
    ),
    Binding(
        "right_square_bracket", "screen.sibling(1)", "Next sibling", id="message.sibling.next", key_display="]",
        group=_SIBLINGS,
        tooltip="Show the next wording or answer in this place, with all that followed it",
    ),
    Binding(
        "y", "copy_code", "Copy code", id="message.copy-code",
        tooltip="Send a code block of this message to the terminal's clipboard; again: the next one",
    ),
    Binding(
        "Y", "copy", "Copy message", id="message.copy",
        tooltip="Send the whole message to the terminal's clipboard, as it was written",
    ),
    Binding(
        "c", "screen.compare", "Compare", id="message.compare",
        tooltip="Race decoders over this question, with what was said before it",
    ),
    Binding(
        "i", "screen.inspect", "Inspect", id="message.inspect",
        tooltip="Walk through the steps of this answer, one tree at a time",
    ),
    Binding(
        "t", "screen.message_tokens", "Tokens", id="message.tokens",
        tooltip="Show this answer token by token, each marked by how it was won, or as text again",
    ),
)  # fmt: skip
"""Further ones go here; `ChatScreen.chosen` is the turn they are about."""

_BACK = Binding("escape", "screen.leave", "Back", id="message.back", key_display="esc", tooltip="Back to the composer")

MESSAGE_BINDINGS: tuple[Binding, ...] = (*_MOVES, *_ACTS, _BACK)
