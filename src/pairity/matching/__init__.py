"""From raw tables of records to matched pairs and groups.

:func:`match` does all of it; each part can be used alone:

==================  ==============================================================================
``records``         tables read column by column, typed by content
``candidates``      the nearest records by rare n-grams: sparse, in time proportional to the tables
``similarities``    symmetric features of pairs by column (RapidFuzz, n-grams), missing values a
                    feature of their own
``pair_features``   all of it for a pair, and how far it leads the other candidates of its records
``mixture``         evidence weighed without labels: Fellegi and Sunter's model by EM
``labelled``        labelled pairs by their ids
``matcher``         :func:`match`: all of it, the model and the constraints
``matches``         :class:`Matches`: tables of pairs and groups, precision and recall, what to ask
==================  ==============================================================================

RapidFuzz comes with ``pip install 'pairity[matching]'``.
"""

from pairity.matching.candidates import Candidates, nearest_records
from pairity.matching.labelled import Labelled
from pairity.matching.matcher import match
from pairity.matching.matches import Matches
from pairity.matching.precision_recall import PrecisionRecall, Share
from pairity.matching.records import Records
from pairity.matching.similarities import Comparison, Similarities

__all__ = [
    "Candidates",
    "Comparison",
    "Labelled",
    "Matches",
    "PrecisionRecall",
    "Records",
    "Share",
    "Similarities",
    "match",
    "nearest_records",
]
