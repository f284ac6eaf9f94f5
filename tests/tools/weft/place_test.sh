#!/bin/bash
# weft place, from the command line: what it prints and writes, and its exit status.
set -u
. tests/tools/weft/expect.sh

"$weft" goal gen 'stencil:dims=[8,8],iterations=10' --ranks 64 -o halo.weft > /dev/null
"$weft" goal stats halo.weft --matrix halo.csv > /dev/null

# A stencil on a torus of its shape: one link each where ranks go along it.
expect "a graph" 0 '^  dilation, mean +1\.000 +[3-5]\.' '' \
  place halo.weft --topology torus:dims=8x8 --placement submesh --placement random
expect "hosts as ranges" 0 '^ +0-63  host 0 … host 63$' '' place halo.weft --topology torus:dims=8x8
expect "without a graph" 0 '^ +0-3  host 0$' '' place --ranks 8 --ranks-per-node 4 --topology fat_tree:k=4
expect "JSON" 0 '"placements"' '' place --matrix halo.csv --topology torus:dims=8x8 --placement submesh \
  --placement matrix:steps=2000000 --placement random --json
python3 - out.txt <<'PY' || { echo "FAILED: the placements' values"; failed=1; }
import json, sys
a = json.load(open(sys.argv[1]))
by = {p["placement"]: p for p in a["placements"]}
assert list(by) == ["submesh", "matrix:steps=2000000", "random"] and a["hosts"] == 64 and a["failed"] == [], a
for p in by.values():
    job = p["jobs"][0]
    assert sorted(job["hosts"]) == list(range(64)) and job["ranks"] == 64 and job["pairs"] == 256, job
    assert job["host_names"] == [f"host {h}" for h in job["hosts"]]
    # Distances on the torus, from coordinates.
    def hops(a, b):
        return sum(min(abs(x - y), 8 - abs(x - y)) for x, y in ((a // 8, b // 8), (a % 8, b % 8)))
    pairs = [(r, (r // 8 + i) % 8 * 8 + (r % 8 + j) % 8) for r in range(64) for i, j in ((1, 0), (7, 0), (0, 1), (0, 7))]
    dilation = [hops(job["hosts"][s], job["hosts"][d]) for s, d in pairs]
    assert abs(job["dilation_mean"] - sum(dilation) / 256) < 1e-9 and job["dilation_worst"] == max(dilation)
    assert abs(job["hop_bytes"] - job["bytes"] / 256 * sum(dilation)) < 1
    # All links together are at work for hop-bytes: 256 of them at 400 Gb/s.
    assert abs(p["links"]["mean_ns"] - job["hop_bytes"] * 8 / 400 / 256) < 1e-6 * p["links"]["mean_ns"], p["links"]
    assert p["links"]["busiest_ns"] >= p["links"]["mean_ns"] - 1e-9 and p["links"]["all"] == 256
assert by["submesh"]["jobs"][0]["dilation_mean"] == 1 and by["submesh"]["links"]["busiest_ns"] == by["submesh"]["links"]["mean_ns"]
assert by["matrix:steps=2000000"]["jobs"][0]["hop_bytes"] < 0.6 * by["random"]["jobs"][0]["hop_bytes"]
PY

# Two jobs, one after the other, with hosts that have failed.
expect "jobs" 0 '^  1\. halo\.weft +by_group$' '' place --job halo.weft,placement=by_group \
  --job 'traffic=alltoall,ranks=6,placement=[random:order=sorted]' --topology dragonfly:p=3 --routing ugal --failed '3,h5,5%'
expect "as JSON" 0 '' '' place --job halo.weft,placement=by_group \
  --job 'traffic=alltoall,ranks=6,ranks_per_node=2,placement=[random:order=sorted]' --topology dragonfly:p=3 \
  --routing ugal --failed '3,h5,5%' --json --picture jobs.svg -o jobs.json
python3 - <<'PY' || { echo "FAILED: the jobs' values"; failed=1; }
import json, re
a = json.load(open("jobs.json"))
first, second = a["placements"][0]["jobs"]
assert {3, 5} <= set(a["failed"]) and len(a["failed"]) == 2 + round(342 * 0.05), a["failed"]
assert len(set(first["hosts"])) == 64 and len(set(second["hosts"])) == 3 and second["placement"] == "random:order=sorted"
assert not set(first["hosts"]) & (set(second["hosts"]) | set(a["failed"])) and not set(second["hosts"]) & set(a["failed"])
svg = open("jobs.svg").read()
hosts = re.findall(r'<circle class="host"[^>]*fill="(#\w+)"[^>]*><title>([^<]*)', svg)
assert len(hosts) == 342, len(hosts)
colours = {}
for h, (colour, title) in enumerate(hosts):
    who = 1 if h in first["hosts"] else 2 if h in second["hosts"] else 3 if h in a["failed"] else 0
    colours.setdefault(who, set()).add(colour)
    assert title.startswith(f"host {h}") and ("halo.weft: rank" in title) == (who == 1), title
assert all(len(c) == 1 for c in colours.values()) and len(set.union(*colours.values())) == 4, colours
assert "halo.weft, by_group" in svg and "19 failed" in svg
PY
expect "jobs that all have a placement" 0 '^ +as the jobs say$' '' \
  place --job ranks=4,placement=random --topology fat_tree:k=4
expect "no room for the second" 0 '^  no room: 40 hosts are needed, and 8 are free$' '' \
  place --job ranks=64 --job ranks=40 --topology 'leaf_spine:leaves=9,spines=2,hosts_per_leaf=8'
expect "several pictures" 0 '' '' place --ranks 4 --topology fat_tree:k=4 --placement packed --placement random \
  --picture two.svg -o two.txt
[[ -s two-1.svg && -s two-2.svg ]] || { echo "FAILED: two pictures"; failed=1; }

echo 'rank 0=h9
rank 1=h99' > ranks
expect "a mistake in a rank file" 2 '' "^weft: ranks:2: 'h99', but the network has 16 hosts \(0 to 15\)$" \
  place --ranks 2 --topology fat_tree:k=4 --placement rank_file:file=ranks
printf 'h5 2\nh6 4\n' > ranks
expect "LSF's host file, longer than the job" 0 'note: ranks has places for 2 ranks more than the job.s 4; they are left' \
  '' place --ranks 4 --ranks-per-node 2 --topology fat_tree:k=4 --placement rank_file:file=ranks
"$weft" place --ranks 4 --ranks-per-node 2 --topology fat_tree:k=4 --placement rank_file:file=ranks --json |
  tr -d ' \n' | grep -q '"hosts":\[5,5,6,6\]' || { echo "FAILED: LSF's host file"; failed=1; }
expect "the same in a run" 0 'warning .*left over' '' sim --traffic alltoall:size=1KB,ranks=4 --set hosts.ranks_per_host=2 \
  --topology fat_tree:k=4 --placement rank_file:file=ranks -o lsf
expect "too small a share" 2 '' "'1%' of 16 hosts is less than half a host; the nearest share is one host: 6\.25%" \
  place --ranks 4 --topology fat_tree:k=4 --failed 1%
expect "nothing to place" 2 '' 'what is to be placed\?' place --topology fat_tree:k=4
expect "no such placement" 2 '' "'pakced' is not a placement; did you mean 'packed'" \
  place --ranks 4 --topology fat_tree:k=4 --placement pakced
expect "not on this network" 2 '' "^weft: submesh can't be had on fat_tree.*: its hosts have no coordinates$" \
  place --ranks 4 --topology fat_tree:k=4 --placement submesh
expect "too large" 2 '' 'take 17 hosts, but fat_tree' place --ranks 17 --topology fat_tree:k=4
expect "no such host" 2 '' "^weft: --failed: '16', but the network has 16 hosts" place --ranks 4 --topology fat_tree:k=4 --failed 16
expect "no such share" 2 '' "expected a share from 0% to 100%" place --ranks 4 --topology fat_tree:k=4 --failed 101%
expect "no such setting of a job" 2 '' "'when=now' is not understood; expected FILE,placement=" \
  place --job halo.weft,when=now --topology fat_tree:k=4
expect "no such graph" 2 '' 'nowhere\.weft' place nowhere.weft --topology fat_tree:k=4
expect "other ranks than the graph's" 2 '' 'halo\.weft has 64 ranks, and 32 were asked for' \
  place halo.weft --ranks 32 --topology torus:dims=8x8

# A run puts ranks where this command says: by what the job sends, messages and collectives.
for job in --traffic=stencil:dims=[4,4] --traffic=alltoall:size=10KB; do
  pattern=${job#--traffic=}
  for placement in matrix:steps=20000 random; do
    expect "the placement of $job" 0 '"hosts"' '' place --traffic "$pattern" --ranks 16 --topology dragonfly:p=2 \
      --placement "$placement" --json
    cp out.txt "${placement%%:*}.json"
    rm -rf "RUN-${placement%%:*}"
    expect "$job placed so" 0 '' '' sim -q --network flow --traffic "$pattern,ranks=16" \
      --topology dragonfly:p=2 --placement "$placement" -o "RUN-${placement%%:*}"
  done
  python3 - <<'PY' || { echo "FAILED: runs place $job as weft place does"; failed=1; }
import csv, json
hop_bytes = {}
for name in ("matrix", "random"):
    (placed,) = json.load(open(f"{name}.json"))["placements"][0]["jobs"]
    with open(f"RUN-{name}/ranks.csv") as file:
        assert [int(row["host"]) for row in csv.DictReader(file)] == placed["hosts"], name
    hop_bytes[name] = placed["hop_bytes"]
assert hop_bytes["matrix"] < hop_bytes["random"], hop_bytes
PY
done
expect "nothing to go by" 2 '' 'of this job nothing is known' place --ranks 4 --topology fat_tree:k=4 --placement matrix
exit $failed
