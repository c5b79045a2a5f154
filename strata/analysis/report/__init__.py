"""The report: one HTML file that needs no network and no server, with tables, figures, runs and sampled episodes."""
