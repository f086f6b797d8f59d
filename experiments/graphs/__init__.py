"""Do the arcs around a pair help? Sections 7.3 and 7.4 on real graphs: ``python -m experiments.graphs``.

======================  ====================================================================
``symmetric_tasks``     airports, karate club, Les Misérables, Cora: is there a tie, is it strong
``antisymmetric_tasks`` language models, national football teams: which of the two leads
``known``               what a method may see: pairs, and labels of training pairs alone
``candidates``          the kernels that are compared, each with its few settings
``baselines``           majority class, common neighbours, mean results
``protocol``            hold pairs out, choose C and setting by inner folds, test
``report``, ``figure``  results as JSON, Markdown and PNG
======================  ====================================================================
"""
