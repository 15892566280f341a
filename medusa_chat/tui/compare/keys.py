"""The compare screen's keys."""

from __future__ import annotations

from textual.binding import Binding

from medusa_chat.tui.compare.contestants import MOST_LANES

_LANES = Binding.Group("lanes", compact=True)

COMPARE_BINDINGS: tuple[Binding, ...] = (
    Binding("enter,r", "run", "Run", id="compare.run", key_display="⏎", tooltip="Race the lanes over the prompt, anew"),
    Binding("space", "pause", "Pause", id="compare.pause", tooltip="Hold all lanes after the present step"),
    Binding("space", "resume", "Go on", id="compare.resume", tooltip="Let the lanes run on"),
    Binding("full_stop", "step", "Step", id="compare.step", key_display=".", tooltip="One step of the lane whose turn it is"),
    Binding("escape", "stop", "Stop", id="compare.stop", key_display="esc", tooltip="End all lanes; what they wrote stays"),
    Binding("escape,ctrl+r", "close", "Close", id="compare.close", key_display="esc", tooltip="Back to the conversation"),
    *(
        Binding(
            str(lane + 1), f"turn_lane({lane}, 1)", f"lane {lane + 1}", id=f"compare.lane-{lane + 1}", group=_LANES,
            tooltip=f"Another contestant in lane {lane + 1}; with alt the one before",
        )
        for lane in range(MOST_LANES)
    ),
    *(
        Binding(
            f"alt+{lane + 1}", f"turn_lane({lane}, -1)", f"lane {lane + 1} back", id=f"compare.lane-{lane + 1}.back",
            show=False, tooltip=f"The contestant before in lane {lane + 1}",
        )
        for lane in range(MOST_LANES)
    ),
    Binding("plus", "add_lane", "Third", id="compare.add", key_display="+", tooltip="Run a third lane beside the others"),
    Binding("minus", "drop_lane", "Two", id="compare.drop", key_display="-", tooltip="Take the third lane away"),
    Binding("d", "difference", "Difference", id="compare.difference", tooltip="Go to where the texts part, in every lane"),
    Binding("e", "edit", "Prompt", id="compare.edit", tooltip="Change the prompt"),
    Binding("y", "copy", "Copy", id="compare.copy", tooltip="Copy prompt, figures and verdict as text"),
    Binding("Y", "copy_lane", "Copy lane", id="compare.copy-lane", show=False, tooltip="Copy what this lane wrote"),
)  # fmt: skip
