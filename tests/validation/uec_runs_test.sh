#!/bin/sh
# All recorded runs of up to 1,024 hosts, but for those on one path each, which take several seeds: half a minute.
exec python3 "$1" --weft "$2" --data "$(dirname "$3")" --within 0.10 --least 1 \
  --match '^(?!.*1024n.*-paths 1( |$))'
