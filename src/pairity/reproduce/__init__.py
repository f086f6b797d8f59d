"""The paper's numerical results (Section 6), made again beside the paper's own numbers.

====================  =========================================================================
``paper``             Tables 1, 2 and 3 as printed
``support_tables``    Tables 1 and 2: support vectors and mirrored coefficients
``off_diagonal``      which matrix P the tables were made with (footnote 11)
``accuracy_table``    Table 3: leak-free choice of C, test accuracy of K_P and K_P^o
``comparison``        means, wins, Wilcoxon signed-rank test
``render``, ``export``, ``figures``, ``job``   what people see: console, CSV, PNG, all of it
====================  =========================================================================

The four scenarios, draws and label rules (35)-(40), are in :mod:`pairity.datasets.scenarios`.
The random draws differ from the paper's; what must agree is the structure.
"""

from pairity.reproduce.accuracy_table import AccuracyTable, reproduce_accuracy
from pairity.reproduce.comparison import Comparison, compare
from pairity.reproduce.support_tables import SupportTable, reproduce_support

__all__ = [
    "AccuracyTable",
    "Comparison",
    "SupportTable",
    "compare",
    "reproduce_accuracy",
    "reproduce_support",
]
