"""Model cards, where weights come from, download with progress, does-it-fit.

Importing this room loads neither torch nor anything that speaks to a network.
"""

from medusa_chat.catalog.card import Card
from medusa_chat.catalog.finding import all_cards, find
from medusa_chat.catalog.fits import Fit, fit
from medusa_chat.catalog.progress import Progress
from medusa_chat.catalog.pulling import pull
from medusa_chat.catalog.removal import remove

DEFAULT_MODEL = "smollm2-135m-instruct"

__all__ = ["DEFAULT_MODEL", "Card", "Fit", "Progress", "all_cards", "find", "fit", "pull", "remove"]
