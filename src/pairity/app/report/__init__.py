"""Reports: what a model of pairs has learned and how sure that is, as one HTML page.

======================  =====================================================================
``write_report``        the page, self-contained: no network, readable on a phone, printable
``gather``              the numbers behind it, a :class:`ReportData`
``render``              the page from the numbers
``Limits``              how much work a report may be
======================  =====================================================================

``subject`` takes a model apart; ``unseen`` and ``estimates`` measure it without leaks; ``compared``
goes from pairs to objects; ``explanations``, ``pictures`` and ``observations`` say what it goes by
and whether to trust it.  ``charts`` draws, ``wording`` phrases, ``page`` fills the template.
"""

from pairity.app.report.gathering import gather
from pairity.app.report.page import render, write_report
from pairity.app.report.report_data import Limits, ReportData

__all__ = ["Limits", "ReportData", "gather", "render", "write_report"]
