"""International football, win, draw and loss: past-only features and draws beside an honest Elo.

``matches`` reads the results; ``elo`` rates teams and tunes the rating; ``features`` adds form, rest
and experience, all from earlier days only; ``forecasters`` are the models; ``protocol`` splits by time,
tunes on the past and scores; ``report`` and ``figure`` write.  ``python -m experiments.football``
runs it all.
"""
