#!/bin/sh
# The recorded runs that take less than a second each. Those with a slow link have it in one direction only there.
exec python3 "$1" --weft "$2" --data "$(dirname "$3")" --within 0.10 --least 0.9 \
  --match '^(?!.*failed).*(16n|incast|one\.cm|bidir)'
