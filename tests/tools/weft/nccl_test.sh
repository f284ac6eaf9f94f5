#!/bin/bash
# weft nccl explain, and NCCL's choices in a run: what they print, and the exit status.
set -u
data=$PWD/tests/data/nccl
. tests/tools/weft/expect.sh

expect "a choice" 0 '^  algorithm  tree$' '' \
  nccl explain --collective allreduce --bytes 64M --ranks 128 --gpus-per-node 8
expect "why" 0 '^  why        the least of 7 estimates; next is nvlstree with simple, ' '' nccl explain --bytes 64M --ranks 128
expect "as JSON" 0 '"algorithm": "tree"' '' nccl explain --bytes 64M --ranks 128 --gpus-per-node 8 --json
python3 - out.txt <<'PY' || { echo "FAILED: the values of the JSON"; failed=1; }
import json, sys
a = json.load(open(sys.argv[1]))
assert (a["algorithm"], a["protocol"], a["channels"], a["bytes"]) == ("tree", "ll128", 16, 64 << 20), a
usable = [c for c in a["candidates"] if c["time_us"] is not None]
assert len(a["candidates"]) == 21 and len(usable) == 7, a
assert all(c["why_not"] for c in a["candidates"] if c["time_us"] is None), a
best = min(usable, key=lambda c: c["estimate_us"])
assert best["algorithm"] == a["algorithm"] and best["time_us"] == a["time_us"], a
# 14 + 2 (7 * 1.25 + 4 * 8.5) us, and 64 MiB at 384 * 0.92 * 120 / 128 / 2 * 0.9 GB/s; a launch of 20.2 us.
assert abs(best["estimate_us"] - (99.5 + (64 << 20) / 149040)) < 1e-6, a
assert abs(a["time_us"] - best["estimate_us"] - 20.2) < 1e-6, a
# 15/8 of 64 MiB, and 16/15 of that with LL128, leave a node through 8 NICs of 48 GB/s.
assert abs(a["wire_us"] - 2 * 15 / 16 * (64 << 20) * 128 / 120 / (1000 * 8 * 48)) < 1e-6, a
assert (a["nics_per_node"], a["nic_gbs"]) == (8, 48), a
PY
expect "forced" 0 '"protocol": "ll"' '' nccl explain --bytes 64M --ranks 16 --algo ring --proto LL --json
expect "fewer channels" 0 '^  channels   2 of 2, ' '' nccl explain --bytes 64M --ranks 16 --algo ring --max-channels 2
expect "channels of NVLS" 0 '^  channels   16 of 16, ' '' nccl explain --bytes 1GiB --ranks 16 --nics-per-node 1
expect "beyond what was fitted" 0 'Remark: the measured allreduces that the times of dgx_h100 are fitted to end at 67 MB' '' \
  nccl explain --bytes 1GiB --ranks 16 --nics-per-node 1
expect "channels of NVLS in JSON" 0 '"most_channels": 16' '' nccl explain --bytes 1GiB --ranks 16 --nics-per-node 1 --json
python3 - out.txt <<'PY' || { echo "FAILED: channels are more than there are"; failed=1; }
import json, sys
a = json.load(open(sys.argv[1]))
assert a["channels"] <= a["most_channels"] and any("drawn to NCCL's own" in r for r in a["remarks"]), a
PY
expect "within what was fitted" 0 '"remarks": \[\]' '' nccl explain --bytes 64MB --ranks 8 --json
expect "a topology file" 0 '^  Remark: the file has no NVLinks' '' \
  nccl explain --bytes 64M --ranks 32 --topology-file "$data"/aws_p4d.xml --nic-rate 100Gbps
expect "its gaps filled" 0 "^  Remark: the file doesn't tell the kind of GPU; dgx_a100 is taken" '' \
  nccl explain --bytes 64M --ranks 32 --topology-file "$data"/azure_ndv4.xml --node dgx_a100
echo '<topology/>' > bad.xml
expect "no topology" 2 '' '^weft: bad.xml:1:1: found <topology>, but expected <system>$' \
  nccl explain --bytes 64M --ranks 32 --topology-file bad.xml
expect "no such node" 2 '' "did you mean 'dgx_h100'" nccl explain --bytes 1M --ranks 8 --node dgx_h10
expect "a send of one rank" 2 '' "--ranks must be 2 or more" nccl explain --bytes 1M --ranks 1 --collective send_recv
expect "no such algorithm" 2 '' "^weft: 'rnig' is not a NCCL algorithm; did you mean 'ring'" \
  nccl explain --bytes 1M --ranks 8 --algo rnig
expect "no such collective" 2 '' "did you mean 'allreduce'" nccl explain --collective allredcue --bytes 1M --ranks 8
expect "alone" 2 '' '^weft: --ranks must be 2 or more' nccl explain --bytes 1M --ranks 1
expect "the most ranks" 0 '"algorithm": "tree"' '' nccl explain --bytes 1M --ranks 4294967295 --json
expect "nothing left" 2 '' '^weft: NCCL has nothing left for bcast on 16 ranks' \
  nccl explain --collective broadcast --bytes 1M --ranks 16 --algo tree

# In a run: the profile chooses, and both ways to name an algorithm give what it would.
"$weft" goal gen collective:kind=allreduce,size=1MiB --ranks 16 -o a.weft > /dev/null
run="sim --goal a.weft --network loggops:L=2000,o=200,g=5,G=0.04"
for choice in profile=nccl:node=dgx_h100 allreduce=nccl_ring:protocol=ll128,channels=4 allreduce=nccl_tree; do
  expect "a run with $choice" 0 'simulated runtime' '' $run --set "collectives.$choice" -o "run_${choice//[^a-z0-9]/_}"
done
# 30 steps with 4 KiB of data, 8 KiB on the wire: 2o + L + (s - 1) G each.
"$weft" goal gen collective:kind=allreduce,size=64KiB --ranks 16 -o b.weft > /dev/null
expect "a ring with LL" 0 'simulated runtime   81\.829 us' '' sim --goal b.weft --network loggops:L=2000,o=200,g=5,G=0.04 \
  --set collectives.allreduce=nccl_ring:protocol=ll,channels=1 -o ring_ll
expect "a wrong profile" 2 '' "did you mean 'node'" $run --set collectives.profile=nccl:nod=dgx_h100 -o bad
expect "a wrong protocol" 2 '' 'it must be simple, ll or ll128' $run --set collectives.allreduce=nccl_ring:protocol=ll129 -o bad

"$weft" goal gen collective:kind=allgather,size=1KiB --ranks 16 -o g.weft > /dev/null
expect "what an allgather between nodes may have" 2 '' 'ranks_per_node must be as many, or the algorithm nccl_ring$' \
  sim --goal g.weft --network loggops --set collectives.allgather=nccl_nvls:ranks_per_node=8 -o bad
expect "and an allreduce" 2 '' 'or the algorithm nccl_ring or nccl_nvls_tree$' \
  $run --set collectives.allreduce=nccl_nvls:ranks_per_node=8 -o bad
expect "a chunk too long" 2 '' "chunk is '2GiB', but it must be at most 1GiB" \
  $run --set collectives.allreduce=nccl_ring:chunk=2GiB -o bad

exit "$failed"
