"""Reports: what a model of pairs has learned and how sure that is, as one HTML page.

======================  =====================================================================
``write_report``        the page, self-contained: no network, readable on a phone, printable
``gather``              the numbers behind it, a :class:`ReportData`
``render``              the page from the numbers
``Limits``              how much work a report may be
======================  =====================================================================

``subject`` takes a model apart; ``held_out``, ``chances``, ``estimates`` and ``validation`` measure it
without leaks; ``compared``, ``ordering`` and ``matrix`` go from pairs to objects; ``explanations``,
``search``, ``laws`` and ``observations`` say what it goes by and whether to trust it.  ``charts``
draws, ``wording`` phrases, ``page`` fills the template.
"""

from pairity.report.data import ReportData
from pairity.report.gather import gather
from pairity.report.limits import Limits
from pairity.report.page import render
from pairity.report.write import write_report

__all__ = ["Limits", "ReportData", "gather", "render", "write_report"]
