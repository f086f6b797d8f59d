"""What ``make docs`` needs beside MkDocs: tables and pictures from results, docstrings, checks."""
