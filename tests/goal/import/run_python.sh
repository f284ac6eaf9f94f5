#!/bin/bash
# Runs a Python test of these folders with the system's python3.
exec python3 -B "$@"
