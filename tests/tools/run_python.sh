#!/bin/bash
# Runs a Python test from the runfiles, with the scripts under test on its path.
export PYTHONPATH=$PWD/tools/checks PYTHONDONTWRITEBYTECODE=1
exec python3 "$@"
