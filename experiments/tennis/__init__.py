"""Tennis, 27 years of men's matches: strengths that drift beside an Elo tuned on the same years.

``matches`` reads the results, ``experience`` counts what players have done before each week, ``elo``
rates them and tunes the rating, ``protocol`` chooses hyperparameters on the years before 28 August 2011
and foretells every later week from all matches before it, ``report`` makes tables.
``python -m experiments.tennis`` runs it all.
"""
