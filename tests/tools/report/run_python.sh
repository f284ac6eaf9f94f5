#!/bin/bash
# Runs a Python test of this folder with the system's python3.
exec python3 -B "$@"
