#!/bin/bash
# Runs golden.py with the system's python3.
exec python3 -B tests/e2e/golden.py "$@"
