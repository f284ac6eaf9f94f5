#!/bin/bash
# weft route, from the command line: what it prints and writes, and its exit status.
set -u
. tests/tools/weft/expect.sh

# What weft sim takes is taken, and named with its reason.
expect "default routing" 0 '^routing +par:.* \(of fabric lossless_hpc, recommended for dragonfly\)$' '' \
  route show --topology dragonfly:p=2 --from 0 --to 70
expect "nothing recommended" 0 '^routing +reps:.* \(of fabric uet\)$' '' \
  route load --topology bcube:n=3,k=1
expect "too large for it" 0 '^routing +ecmp:.* \(k_shortest is of fabric uet, recommended for jellyfish, but: .* more than 500 switches' '' \
  route load --topology jellyfish:n=600,r=8 --most 1
for name in min:minimal vlb:valiant adaptive:ugal; do
  expect "a name that papers have" 2 '' "'${name%:*}' is not a routing policy; did you mean '${name#*:}'" \
    route show --topology dragonfly:p=2 --routing ${name%:*} --from 0 --to 1
done

# Four ways through four cores, evenly; the names are those of weft topo.
expect "paths" 0 '^ 25\.0000% +6  host 0 -> edge 0\.0 -> aggregation 0\.1 -> core 3 -> aggregation 3\.1 -> edge 3\.1 -> host 15$' '' \
  route show --topology fat_tree:k=4 --from 0 --to 15
expect "most of them, by name" 0 '^ 50\.0000%  left out: 2 more$' '' \
  route show --topology fat_tree:k=4 --from 'host 0' --to 'host 15' --most 2
expect "paths as JSON" 0 '"left_out"' '' route show --topology torus:dims=4x4 --routing ecmp --from 0 --to 10 --json --most 100
python3 - out.txt <<'PY' || { echo "FAILED: the paths' values"; failed=1; }
import json, sys
a = json.load(open(sys.argv[1]))
# Two steps in each dimension, each either way round: 6 orders, 4 directions.
assert len(a["paths"]) == 24 and abs(sum(p["share"] for p in a["paths"]) - 1) < 1e-12, a
assert all(p["hops"] == 6 and p["nodes"][0] == "host 0" and p["nodes"][-1] == "host 10" for p in a["paths"]), a
assert len({tuple(p["nodes"]) for p in a["paths"]}) == 24 and a["left_out"] == {"paths": 0, "share": 0}, a
PY
expect "no such host" 2 '' '^weft: --to is 99, but the network has 16 hosts \(0 to 15\)$' \
  route show --topology fat_tree:k=4 --from 0 --to 99
expect "no such name" 2 '' "^weft: --from is 'edge 0.0', but expected the number or name of a host, like 'host 0'$" \
  route show --topology fat_tree:k=4 --from 'edge 0.0' --to 1
expect "the same host" 2 '' '^weft: --from and --to are the same host' \
  route show --topology fat_tree:k=4 --from 1 --to 1
expect "no such policy" 2 '' "^weft: 'ecpm' is not a routing policy; did you mean 'ecmp'" \
  route show --topology fat_tree:k=4 --routing ecpm --from 0 --to 1

# As tabulated for the torus; patterns of ranks, and the same as a matrix.
expect "uniform load" 0 '^load +1\.0159 at most, 1\.0159 on average' '' route load --topology torus:dims=8x8 --routing ecmp
expect "tornado" 0 '^saturation +33\.3% of this traffic fits$' '' \
  route load --topology torus:dims=8x8 --routing ecmp --traffic 'tornado:dims=[8,8]' --most 1
expect "transpose" 0 '^load +1\.6296 at most' '' route load --topology torus:dims=8x8 --routing ecmp --traffic transpose
expect "bit complement" 0 '^load +2\.8125 at most' '' route load --topology torus:dims=8x8 --routing ecmp --traffic bit_complement
"$weft" goal gen transpose --ranks 64 -o t.weft > /dev/null
"$weft" goal stats t.weft --matrix t.csv > /dev/null
expect "a matrix as JSON" 0 '"max": 1\.6296' '' route load --topology torus:dims=8x8 --routing ecmp --matrix t.csv --json
python3 - out.txt <<'PY' || { echo "FAILED: the links' values"; failed=1; }
import json, sys
a = json.load(open(sys.argv[1]))
between = [l for l in a["links"] if "host" not in l["from"] + l["to"]]
assert len(between) == 256 and len(a["links"]) == 256 + 128, len(a["links"])
assert abs(max(l["load"] for l in between) - a["max"]) < 1e-9 and abs(a["saturation"] * a["max"] - 1) < 1e-9, a["max"]
assert a["hosts_max"] == 1 and a["detoured"] == 0 and a["stranded"] == 0, a
PY
expect "as CSV to a file" 0 '' '' route load --topology torus:dims=8x8 --routing ecmp --csv -o links.csv
[[ $(head -1 links.csv) == link,from,to,bps,load && $(wc -l < links.csv) == 385 ]] || { echo "FAILED: links.csv"; failed=1; }
expect "two formats" 2 '' "^weft: --json and --csv can't both" route load --topology torus:dims=8x8 --routing ecmp --json --csv
expect "two kinds of traffic" 2 '' 'excludes' route load --topology torus:dims=8x8 --routing ecmp --traffic uniform --matrix t.csv
expect "too many ranks" 2 '' "the network has 8 hosts" route load --topology torus:dims=8 --traffic shift:ranks=9
expect "no such traffic" 2 '' "'unifrom' is not a traffic pattern" route load --topology torus:dims=8 --traffic unifrom
expect "analyses under a policy" 0 '^spray load, uniform +1\.0159 at most' '' \
  topo analyze torus:dims=8x8 --only edge_load --routing spray
expect "a policy for nothing" 2 '' '^weft: --routing is given, but the measure edge_load' \
  topo analyze torus:dims=8x8 --only distances --routing spray

# Nodes of accelerators, and hosts with several NICs: loads are in proportion to the bytes of a run, link by link, whichever NICs messages take.
for topology in rail_optimized:units=1,nodes=4,rails=4 multi_plane:k=4,planes=3 'scale_up:of=[leaf_spine:leaves=2,spines=1,hosts_per_leaf=2],accelerators=2'; do
  for choice in library near all; do
    for traffic in alltoall:size=1MB shift:by=1,size=1MB; do
      expect "a run" 0 '' '' sim --quiet --traffic "$traffic" --topology "$topology" --routing spray \
        --network flow:nic_choice=$choice -o NICS
      expect "its loads" 0 '' '' route load --topology "$topology" --routing spray --traffic "${traffic%,size=*}" \
        --nic-choice $choice --csv -o nics.csv
      python3 - <<'PY' || { echo "FAILED: loads of $topology, $choice, $traffic"; failed=1; }
import csv
run, loads = (list(csv.DictReader(open(name))) for name in ("NICS/links.csv", "nics.csv"))
assert [(r["from"], r["to"]) for r in run] == [(r["from"], r["to"]) for r in loads]
sent, load = [float(r["bytes"]) for r in run], [float(r["bps"]) for r in loads]
scale = sum(sent) / sum(load)
wrong = [(r["from"], r["to"], a, b * scale) for r, a, b in zip(run, sent, load) if abs(a - b * scale) > 2e-3 * max(sent)]
assert not wrong and max(float(r["load"]) for r in loads) > 0.99, wrong[:4]
PY
    done
  done
done

expect "each NIC a message takes" 0 '^ 25\.0000% +4  host 0 -> leaf 1\.0 -> spine 1\.1 -> leaf 1\.3 -> host 7$' '' \
  route show --topology multi_plane:k=4,planes=3 --from 0 --to 7

# A ring of eight is safe with as many channels as its paths have links.
expect "cyclic" 3 '^  router 7 -> router 0 \(virtual channel 2\)$' '' \
  route check --topology torus:dims=8 --routing ecmp --queue credit:vcs=3
expect "acyclic" 0 "^acyclic: packets can't wait for each other in a circle$" '' \
  route check --topology torus:dims=8 --routing ecmp --queue credit:vcs=4
expect "channels of its own" 0 '^  chosen +2 virtual channels, routed: the fewest with which ' '' \
  route check --topology torus:dims=8x8 --queue credit
for topology in dragonfly:p=2 slim_fly:q=5 hyperx:dims=4x4 fat_tree:k=4 megafly:p=2 jellyfish:n=16,r=4; do
  expect "no circle by default" 0 '^acyclic' '' route check --topology $topology --queue credit
done
expect "a tree" 0 '^acyclic' '' route check --topology fat_tree:k=4 --queue pfc
expect "cyclic as JSON" 3 '"acyclic": false' '' route check --topology torus:dims=8 --queue pfc --json
python3 - out.txt <<'PY' || { echo "FAILED: the check's values"; failed=1; }
import json, sys
a = json.load(open(sys.argv[1]))
assert (a["acyclic"], a["channels"], a["dependencies"], len(a["cycle"])) == (False, 16, 16, 8), a
for one, then in zip(a["cycle"], a["cycle"][1:] + a["cycle"][:1]):
    assert one["to"] == then["from"] and one["virtual_channel"] == 0, a
PY
expect "no lossless queue" 2 '' '^weft: queue droptail drops packets' \
  route check --topology torus:dims=8 --queue droptail
expect "no queue" 2 '' 'queue' route check --topology torus:dims=8
expect "no such selection" 2 '' 'it must be auto, by_hop, by_group, by_flow or routed' \
  route check --topology torus:dims=8 --queue credit:selection=any

# Policies that need no luck: with the channels that they choose themselves.
for policy in up_down dfsssp lash nue; do
  expect "$policy" 0 '^acyclic' '' route check --topology torus:dims=5x5 --routing $policy --queue credit:selection=routed,vcs=8
done
expect "fewer channels than chosen" 3 '^cyclic' '' \
  route check --topology torus:dims=5x5 --routing dfsssp --queue credit:selection=routed,vcs=1
expect "too few channels" 2 '' '^weft: lash: vcs is .1., but the ways of torus:dims=5.* need 2$' \
  route check --topology torus:dims=5 --routing lash:vcs=1 --queue credit:selection=routed
expect "too many pairs" 2 '' '^weft: routing policy lash: .* has 2,560,000 pairs of switches with hosts, and 1,000,000' \
  route show --topology torus:dims=40x40 --routing lash --from 0 --to 1
expect "no such root" 2 '' "^weft: up_down: root is 'top', but it must be auto, or the name or number" \
  route show --topology torus:dims=5 --routing up_down:root=top --from 0 --to 1

# A user's own.
leaves=leaf_spine:leaves=4,spines=2,hosts_per_leaf=2
printf 's0 s1 s4=3 s5  # three quarters\n"leaf 0" "host 5" "spine 1"\n' > t.txt
expect "tables" 0 '^ 75\.0000% +4  host 0 -> leaf 0 -> spine 0 -> leaf 1 -> host 2$' '' \
  route show --topology $leaves --routing tables:file=t.txt --from 0 --to 2
expect "what tables leave out" 0 't\.txt says the whole way of 0% of the pairs of hosts that share no switch, and something of that of 12\.5%' '' \
  route load --topology $leaves --routing tables:file=t.txt
printf 'h0 h2 s0 s4 s1 =3\nh0 h2 s0 s5 s2 s4 s1\n' > r.txt
expect "routes" 0 '^ 25\.0000% +6  host 0 -> leaf 0 -> spine 1 -> leaf 2 -> spine 0 -> leaf 1 -> host 2$' '' \
  route show --topology $leaves --routing routes:file=r.txt --from 0 --to 2
expect "routes are checked too" 0 '^acyclic' '' route check --topology $leaves --routing routes:file=r.txt --queue pfc
expect "a run with routes" 0 '' '' sim --quiet --traffic shift:by=2,size=100KB --topology $leaves \
  --routing routes:file=r.txt -o ROUTES
grep -q 'r\.txt has ways for 1\.786% of the pairs of hosts' ROUTES/summary.json || { echo "FAILED: what routes leave out"; failed=1; }
# expect_bad POLICY LINES MESSAGE
expect_bad() {
  printf "$2" > bad.txt
  expect "$1 of '$2'" 2 '' "^weft: bad\.txt$3" route show --topology $leaves --routing $1:file=bad.txt --from 0 --to 5
}
expect_bad tables 's0 h5\n' ":1: found 's0 h5', but expected a switch, a destination, and the switches that are next"
expect_bad tables '\n# no\nh0 h5 s1' ":3: found 'h0 h5 s1', but expected a switch, a destination"
expect_bad tables 's0 h0 s4' ':1: host 0 is at leaf 0 already'
expect_bad tables 's0 h5 s1' ':1: leaf 1 is no switch that leaf 0 is linked to'
expect_bad tables 's0 h5 h5' ':1: host 5 is no switch that leaf 0 is linked to'
expect_bad tables 's0 h5 s4=0' ":1: found the weight '=0', but expected a number above 0"
expect_bad tables 's0 h5 s4=1 =2' ":1: found 's0 h5 s4=1 =2', but expected a name before the weight"
expect_bad tables 's0 "h5' ':1: found .*, but expected a second " behind a name'
expect_bad tables 's0 zz s4' ":1: found 'zz', but expected the name of a host or switch of leaf_spine.*, like h0, s0, \"host 0\" or \"leaf 0\""
expect_bad tables 's0 h5 s4\ns0 h5 s5' ':2: line 1 already says where leaf 0 sends packets to host 5'
expect_bad tables 's0 h5 s4\ns4 h5 s0' ': packets to host 5 would go in a circle: leaf 0 -> spine 0 -> leaf 0'
expect_bad tables '# nothing' ': there is no line in this file'
expect_bad routes 'h0 h5 s0 s1' ':1: source route from host 0 to host 5: there is no link from leaf 0 to leaf 1'
expect_bad routes 'h0 h5 s0 s4' ':1: source route from host 0 to host 5: there is no link from spine 0 to host 5'
expect_bad routes 'h0 h5 s1' ':1: source route from host 0 to host 5: it must begin with leaf 0'
expect_bad routes 'h0 h5 s0 s4 s0' ':1: leaf 0 is there twice'
expect_bad routes 'h0 h0 s0' ":1: found 'h0 h0 s0', but expected two different hosts"
expect_bad routes 'h0 h5 s0=2 s4 s2' ":1: found 'h0 h5 s0=2 s4 s2', but expected two different hosts"
expect "no file" 2 '' "^weft: routes: file is '', but it must be the path of a file" \
  route show --topology $leaves --routing routes --from 0 --to 5
expect "no such file" 2 '' "^weft: nowhere: can't read the file: No such file" \
  route show --topology $leaves --routing tables:file=nowhere --from 0 --to 5
mkdir RUN0
expect "a folder" 2 '' "^weft: RUN0: can't read the file: it is a folder" \
  route show --topology $leaves --routing tables:file=RUN0 --from 0 --to 5

# A run says it before it starts; the results keep it.
expect "a run that may lock up" 0 '' '' sim --quiet --traffic shift:by=1,size=100KB --topology torus:dims=8 \
  --routing ecmp --queue credit:vcs=3 -o RUN
python3 - RUN/summary.json <<'PY' || { echo "FAILED: the run's warnings"; failed=1; }
import json, sys
found = [w for w in json.load(open(sys.argv[1]))["warnings"] if "in a circle" in w]
assert len(found) == 1 and "queue credit with routing ecmp" in found[0] and "(virtual channel 2)" in found[0], found
PY
expect "a run that can't" 0 '' '' sim --quiet --traffic shift:by=1,size=100KB --topology torus:dims=8 \
  --queue credit:vcs=4 -o SAFE
grep -q "can come to wait" SAFE/summary.json && { echo "FAILED: a warning without a reason"; failed=1; }
exit $failed
