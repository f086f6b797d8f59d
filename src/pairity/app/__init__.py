"""Programs: the command line, the report, the demonstration, the tables of the paper."""
