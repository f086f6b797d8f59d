#!/bin/sh
# Matching records: which entries of two restaurant guides are the same place?  FOLDER of both tables.
set -e
python "$(dirname "$0")/../restaurants.py" "$1" tables
pairity fit tables/pairs.csv --first fodors --second zagats --label match --positive same \
    --objects tables/records.csv --symmetry symmetric --kernel "derived(gaussian)" --C 10 \
    --output records.pairity --report records.html
pairity predict records.pairity tables/new_pairs.csv --output predictions.csv
