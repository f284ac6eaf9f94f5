#!/bin/bash
# Traces of training runs on the command line: imported, written as Chakra and read again, replayed.
set -uo pipefail
data=$PWD/tests/data
source "$(dirname "$0")/expect.sh"

# The simulated runtime of a graph on a network that costs some time.
runtime() {
  "$weft" sim --goal "$1" --network loggops:L=1000,o=500,g=0,G=0.1 -o run | grep "simulated runtime"
}
same() {
  [[ $1 == "$2" && -n $1 ]] && return
  printf 'FAILED: %s: not the same:\n  %s\n  %s\n' "$3" "$1" "$2"
  failed=1
}

# The formats are found out from content.
expect "a folder of profiles" 0 "8 ranks, .*operations" "" import "$data/kineto/dlrm" -o dlrm.weft
expect "a rank is missing" 2 "" "rank 1 is missing .1 of 2 ranks have one.; --alike" \
  import "$data/kineto/nccl_step.json.gz" -o nccl.weft
expect "one rank for all" 0 "copied_ranks: 1\." "" import kineto "$data/kineto/nccl_step.json.gz" --alike -o nccl.weft
expect "joined" 0 "calls_of_execution_trace: 7\." "" import kineto "$data/kineto/nccl_step.json.gz" --alike \
  --execution-traces "$data/kineto/resnet_execution_trace.json.gz" -o joined.weft
expect "wrong steps" 2 "" "steps is '6-4', but it must be 'all', a step like '4', or a range" \
  import kineto "$data/kineto/gloo" --steps 6-4 -o x.weft
expect "a Chakra trace" 0 "1 ranks, 3664 operations" "" import "$data/chakra/resnet.0.et.gz" -o chakra.weft
expect "dependencies in a circle" 2 "" "nodes wait for each other in a circle: node 3317 waits for 3318" \
  import chakra "$data/chakra/resnet.0.et.gz" --deps all -o x.weft

# Chakra and back: the same graph, and the same run.
mkdir chakra
expect "export" 0 "chakra/dlrm.et: 8 ranks" "" goal export dlrm.weft --chakra -o chakra/dlrm.et
expect "import again" 0 "8 ranks" "" import chakra -o back.weft
same "$("$weft" goal print dlrm.weft)" "$("$weft" goal print back.weft)" "the graph there and back"
same "$(runtime dlrm.weft)" "$(runtime back.weft)" "the run of both"
expect "export to a name of another format" 2 "" "ask for different formats" \
  goal export dlrm.weft --chakra --to text -o x.et

exit $failed
