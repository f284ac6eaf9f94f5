#!/bin/sh
# A sample of the collectives measured on real machines; tells that it is skipped where there are none.
exec python3 "$1" --weft "$2" --data "${WEFT_ORACLE_DIR:-none}/supercomputers" \
  --match ' (4|8|16|32) (256|2048|131072|1048576) default' --within 1.6
