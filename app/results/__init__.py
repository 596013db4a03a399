"""The Results tab: tables, figures and tests from records."""
