#!/bin/bash
# weft jobs: what it prints of a list, and the exit status.
set -u
. tests/tools/weft/expect.sh

# 4 nodes. Beside a there is room for one node until 10; b needs all of them.
cat > jobs.csv <<'CSV'
id,submit,ranks,runtime
a,0,3,10
b,1,4,5
c,2,1,8
d,2,1,9
e,3,9,9
CSV
expect "all schedulers" 0 '^conservative +24 s +5.5 s +13 s +13.5 s +' '' jobs jobs.csv --nodes 4
expect "the order matters" 0 '^fcfs +24 s +8.75 s' '' jobs jobs.csv --nodes 4
expect "what is left out" 0 '^1: Jobs that need more nodes than there are; left out.$' '' jobs jobs.csv --nodes 4
expect "several ranks on a node" 0 '^5 jobs on 5 nodes$' '' jobs jobs.csv --nodes 5 --ranks-per-node 2
expect "as JSON" 0 '"scheduler": "easy"' '' jobs jobs.csv --nodes 4 --scheduler easy --json
python3 - out.txt <<'PY' || { echo "FAILED: the values of the JSON"; failed=1; }
import json, sys
a = json.load(open(sys.argv[1]))
(easy,) = a["schedulers"]
# a starts at 0, c at 2, b at 10, d at 15.
assert easy["mean_waiting_s"] == (0 + 0 + 9 + 13) / 4, a
assert easy["makespan_s"] == 24 and easy["max_waiting_s"] == 13, a
assert abs(easy["utilization"] - (30 + 20 + 8 + 9) / (24 * 4)) < 1e-12, a
assert a["notes"][0]["name"] == "too_large" and a["jobs"] == 4, a
PY
expect "no machine" 2 '' "^weft: jobs.csv: it doesn't say how many nodes there are: use --nodes$" jobs jobs.csv
expect "no such scheduler" 2 '' "did you mean 'easy'" jobs jobs.csv --nodes 4 --scheduler easz
expect "no such file" 2 '' 'nowhere.swf' jobs nowhere.swf

exit "$failed"
