"""Text from a model: settings, the cached pass over text, and the pieces it comes in."""

from tipshare.generation.pieces import ByteInfo, Generation, Piece, Trace
from tipshare.generation.sampling import Sampling
from tipshare.generation.streaming import generate, stream

__all__ = ["ByteInfo", "Generation", "Piece", "Sampling", "Trace", "generate", "stream"]
