"""From records to numbers: groups of runs, summaries over seeds, tests, and what they say."""
