"""From input to a fitted function: ``read`` makes training data of it, ``fit`` solves and certifies.

================  ================================================================================
``read``          what users hand in -> :class:`~pairity.training.read.TrainingData`
``labels``        two labels -> signs, and which of them says that the first object is ahead
``fit``           training data, loss, kernel, solver -> :class:`~pairity.training.fit.Fitted`
``model``         the fitted function: support pairs, coefficients, bias, parity; labels of decisions
================  ================================================================================
"""
