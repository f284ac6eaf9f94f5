#!/bin/bash
# weft goal gen, from the command line: what it writes and says, and its exit status.
set -u
. tests/tools/weft/expect.sh

expect "the list" 0 '^stencil +Ranks in a grid' '' goal gen --list
# One list for both uses.
"$weft" goal gen --list | awk '{print "traffic " $1}' | sort > gen.txt
"$weft" list --names | grep '^traffic ' | sort > traffic.txt
cmp -s gen.txt traffic.txt || { echo "FAILED: weft goal gen --list and weft list differ"; failed=1; }

expect "a stencil" 0 '^halo.weft: 8 ranks, 1040 operations, 1824 dependencies; ' '' \
  goal gen stencil:dims=[2,2,2],iterations=10,compute=1us --ranks 8 -o halo.weft
grep -q '^  messages     480 (15.729 MB)$' out.txt || { echo "FAILED: the summary's messages"; failed=1; }
expect "it is sound" 0 '^halo.weft: sound \(8 ranks, 1040 operations\)$' '' goal check halo.weft
expect "it says what it is" 0 '^generated +stencil:dims=\[2,2,2\],periodic=true,.*,ranks=8$' '' goal info halo.weft
expect "to text" 0 '' 'only packed graphs keep metadata' goal convert halo.weft halo.goal
expect "text" 0 '^again.goal: ' '' goal gen stencil:dims=3d,iterations=10,compute=1us --ranks 8 -o again.goal
cmp -s halo.goal again.goal || { echo "FAILED: packed and text hold different graphs"; failed=1; }

expect "to the screen" 0 '^l1: send 8b to 1$' '' goal gen ping_pong --ranks 2 -o -
expect "binary" 0 '^fan.bin: 9 ranks, 16 operations' '' goal gen incast:n=8 --ranks 9 -o fan.bin
expect "no collectives in binary" 2 '' "can't hold collective operations" goal gen collective --ranks 4 -o c.bin
expect "ranks as a parameter" 0 '^a.goal: 6 ranks' '' goal gen shift:ranks=6 -o a.goal
expect "ranks twice, the same" 0 '^a.goal: 6 ranks' '' goal gen shift:ranks=6 --ranks 6 -o a.goal
expect "ranks twice" 2 '' '^weft: --ranks 7: the workload says ranks=6; give it once$' goal gen shift:ranks=6 --ranks 7 -o a.goal
expect "no ranks" 2 '' 'give the number of ranks' goal gen shift -o a.goal
expect "no ranks either" 2 '' 'Value 0 not in range 1 to' goal gen shift --ranks 0 -o a.goal
expect "negative ranks" 2 '' 'ranks' goal gen shift:ranks=-1 -o a.goal

# In htsim a trigger acts at once; in a graph a message tells of it, which is said.
printf 'Nodes 4\nConnections 2\nTriggers 1\n0->1 id 1 start 0 size 1000 send_done_trigger 1\n2->3 id 2 trigger 1 size 1000\ntrigger id 1 oneshot\n' > x.cm
expect "a remark" 0 '^x.goal: 4 ranks' 'triggers act' goal gen connections:file=x.cm --ranks 4 -o x.goal

"$weft" goal gen permutation --ranks 32 --seed 5 -o - > five.txt
"$weft" goal gen permutation --ranks 32 --seed 5 -o - > again.txt
"$weft" goal gen permutation --ranks 32 --seed 6 -o - > six.txt
cmp -s five.txt again.txt || { echo "FAILED: the same seed gives another graph"; failed=1; }
cmp -s five.txt six.txt && { echo "FAILED: another seed gives the same graph"; failed=1; }

expect "no workload" 2 '' 'WORKLOAD is required' goal gen --ranks 4 -o a.goal
expect "no output" 2 '' '-o is required' goal gen shift --ranks 4
expect "unknown workload" 2 '' "'stensil' is not a workload; did you mean 'stencil'\?" goal gen stensil --ranks 4 -o a.goal
expect "unknown parameter" 2 '' "'dim' is not a parameter of stencil; did you mean 'dims'\?" goal gen stencil:dim=2d --ranks 4 -o a.goal
expect "the nearest possible" 2 '' 'multiply to the number of ranks, 64: \[4,4,4\] would do$' \
  goal gen stencil:dims=[4,4,5] --ranks 64 -o no.goal
expect "too large" 2 '' 'of 32 bytes each$' goal gen shift:iterations=2000000000 --ranks 64 -o no.goal
expect "unknown ending" 2 '' 'no.txt: expected a name that ends in .weft' goal gen shift --ranks 4 -o no.txt
[[ ! -e no.goal ]] || { echo "FAILED: a refused workload left a file"; failed=1; }

# As traffic, where the hosts are counted. T = 2o + L + (s-1)G = 200 + 1000 + 7 * 2 ns; 5 round trips.
expect "ping-pong as traffic" 0 'simulated runtime +12\.140 us' '' sim \
  --traffic ping_pong:iterations=5,ranks=2 --network loggops:L=1000,o=100,g=10,G=2,O=0 -o run_a
expect "ping-pong from a file" 0 '^pp.weft: ' '' goal gen ping_pong:iterations=5 --ranks 2 -o pp.weft
expect "replayed" 0 'simulated runtime +12\.140 us' '' sim --goal pp.weft --network loggops:L=1000,o=100,g=10,G=2,O=0 -o run_b
expect "on packets" 0 'simulated runtime' '' sim --traffic stencil:iterations=3,compute=5us,allreduce=2 \
  --topology fat_tree:k=4 -o run_c

((failed)) || echo "all as expected"
exit $failed
