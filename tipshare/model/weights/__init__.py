"""Where the weights at depth t come from, one file per source."""
