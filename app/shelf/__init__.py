"""The models the page can show: bundled checkpoints, and those that visitors fetch from the Hub."""

from app.shelf.listing import Entry, Listing
from app.shelf.shelf import ModelShelf
from app.shelf.views import ViewCache, ViewsOfModel

__all__ = ["Entry", "Listing", "ModelShelf", "ViewCache", "ViewsOfModel"]
