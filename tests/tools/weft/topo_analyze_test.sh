#!/bin/bash
# weft topo analyze and compare, from the command line: what they print and write, and their exit status.
set -u
. tests/tools/weft/expect.sh

expect "a table" 0 '^average path length +4.0635$' '' topo analyze torus:dims=8x8 --skip throughput,resilience
grep -Eq '^(throughput|links lost)' out.txt && { echo "FAILED: --skip has no effect"; failed=1; }
expect "JSON" 0 '"average_path_length": 4.063' '' topo analyze torus:dims=8x8 --json --only distances
python3 - out.txt <<'PY' || { echo "FAILED: the JSON's values"; failed=1; }
import json, sys
a = json.load(open(sys.argv[1]))
assert [a["routers"], a["switches"], a["endpoints"], a["links"], a["diameter"]] == [64, 64, 64, 128, 8], a
assert a["degree"] == {"4": 64} and "throughput" not in a and a["distances"]["histogram"]["8"] == 64, a
PY
expect "by endpoints, to a file" 0 '' '' topo analyze fat_tree --endpoints 100 --only bisection --json -o out.json
grep -q '"endpoints": 128' out.json || { echo "FAILED: out.json"; failed=1; }

printf 'from,to,messages,bytes\n0,3,1,100\n3,0,1,100\n' > m.csv
expect "a matrix" 0 '^throughput, m.csv +1.000' '' \
  topo analyze torus:dims=8 --only throughput --throughput uniform --matrix m.csv
expect "a matrix for more" 2 '' '^weft: m.csv: endpoint 3, but the network has 2' \
  topo analyze single_switch:hosts=2 --only throughput --matrix m.csv
printf '0 1\n' > bad.txt
expect "no matrix" 2 '' "bad.txt:1: '0 1', but expected src dst weight" \
  topo analyze single_switch:hosts=2 --only throughput --matrix bad.txt

"$weft" topo analyze mesh:dims=5x5 --seed 5 > five.txt
"$weft" topo analyze mesh:dims=5x5 --seed 5 > again.txt
"$weft" topo analyze mesh:dims=5x5 --seed 6 > six.txt
cmp -s five.txt again.txt || { echo "FAILED: the same seed gives another result"; failed=1; }
cmp -s five.txt six.txt && { echo "FAILED: the seed has no effect"; failed=1; }

expect "side by side" 0 '^endpoints +64 +64$' '' topo compare torus:dims=8x8 hypercube:n=6
grep -Eq '^bisection, links +16 +32$' out.txt || { echo "FAILED: the bisections"; failed=1; }
expect "under what fabric" 0 '^under one fabric, that of theory' '' topo compare torus:dims=8x8 hypercube:n=6 --only distances
expect "side by side as JSON" 0 '^    "links": 128,$' '' topo compare torus:dims=8x8 hypercube:n=6 --only distances --json

expect "prices side by side" 0 '^  per endpoint +[0-9]' '' topo compare torus:dims=4x4 hypercube:n=4 --only distances
"$weft" topo compare torus:dims=4x4 single_switch:hosts=20000 --only bisection --prices modern --json > compare.json
"$weft" topo cost torus:dims=4x4 --json > cost.json
python3 - <<'PY' || failed=1
import json
torus, star = json.load(open("compare.json"))
cost = json.load(open("cost.json"))
assert torus["cost"]["price"] == cost["price"] and torus["cost"]["lines"] == cost["lines"], torus["cost"]
per_gbps = cost["price"] / (torus["bisection"]["bps"] / 1e9)
assert abs(torus["cost"]["price_per_gbps_bisection"] - per_gbps) < 1e-6 * per_gbps, torus["cost"]
assert "20000 ports" in star["cost"]["left_out"], star["cost"]
PY
expect "no such prices" 2 '' "'modem' is neither a price list" topo compare torus:dims=4x4 --prices modem

expect "unknown measure" 2 '' "'spectra' is not a measure; did you mean 'spectrum'" \
  topo analyze torus:dims=8x8 --only spectra
expect "unknown measure left out" 2 '' "'spectra' is not a measure" topo analyze torus:dims=8x8 --skip spectra
expect "unknown demands" 2 '' "'random' is not a demand of throughput" \
  topo analyze torus:dims=8x8 --only throughput --throughput random
expect "no effect" 2 '' '^weft: --throughput is given, but' topo analyze torus:dims=8x8 --only spectrum --throughput uniform
expect "no effect either" 2 '' '^weft: --matrix is given, but' topo analyze torus:dims=8x8 --only spectrum --matrix m.csv
expect "bad topology" 2 '' "'toros' is not a topology; did you mean 'torus'" topo compare torus:dims=8x8 toros
exit $failed
