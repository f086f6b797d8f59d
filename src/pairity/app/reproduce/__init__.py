"""The paper's numerical results (Section 6), made again beside the paper's own numbers.

``paper`` has the tables as printed, ``support_tables`` Tables 1 and 2 and the matrix P they were
made with, ``accuracy_table`` Table 3; ``render`` and ``export`` are what people see.

The four scenarios, draws and label rules (35)-(40), are in :mod:`pairity.datasets.made`.
The random draws differ from the paper's; what must agree is the structure.
"""
