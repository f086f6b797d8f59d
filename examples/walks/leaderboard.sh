#!/bin/sh
# A leaderboard: which language model answers better?  FOLDER of comparisons.csv and models.csv.
set -e
pairity check "$1/comparisons.csv" --first model_x --second model_y --label y
pairity fit "$1/comparisons.csv" --first model_x --second model_y --label y --drop-label 0 \
    --symmetry antisymmetric --learner logistic --output votes.pairity
pairity rank votes.pairity --intervals --training "$1/comparisons.csv" --by worker \
    --judges judges.csv --output leaderboard.csv
pairity suggest votes.pairity --strategy top --top 5 --number 5 --output -
