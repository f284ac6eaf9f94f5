#!/bin/bash
# weft goal's transforms, from the command line: what they write, tell and refuse.
set -u
. tests/tools/weft/expect.sh

cat > four.goal << 'END'
num_ranks 4
rank 0 {
a: calc 1000
b: send 2000b to 1 tag 7
b requires a
}
rank 1 {
recv 2000b from 0 tag 7
send 10b to 2
}
rank 2 {
recv 10b from 1
calc 500 cpu 1
}
rank 3 {
calc 3000
}
END
printf 'num_ranks 2\nrank 0 {\nallreduce 8b\n}\nrank 1 {\nallreduce 8b\n}\n' > pair.goal
printf 'num_ranks 1\nrank 0 {\nrecv 8b from 0\n}\n' > stuck.goal

expect "merge" 0 '^m.weft: 6 ranks, 9 operations, 1 dependencies$' '' goal merge four.goal pair.goal -o m.weft
expect "merge is sound" 0 'sound' '' goal check m.weft
expect "merge keeps jobs apart" 0 '^comm 2 "pair: world" \{ 4 5 \}$' '' goal print m.weft
expect "merge is recorded" 0 '^transform 1 +merge four.goal pair.goal$' '' goal info m.weft
expect "merge: one job" 0 'one.goal: 4 ranks' '' goal merge four.goal -o one.goal
"$weft" goal print four.goal > want.goal
cmp -s one.goal want.goal || { echo "FAILED: one job merged is not the job"; failed=1; }
expect "an LLM" 0 'llm.weft: ' '' goal gen llm:model=tiny,tp=2,dp=4,device=h100 -o llm.weft
"$weft" goal merge llm.weft -o alone.weft > out.txt
"$weft" goal info llm.weft | sed 1d > want.txt
"$weft" goal info alone.weft | sed 1d > got.txt
grep -q overlap_slowdown want.txt || { echo "FAILED: an LLM without overlap_slowdown"; failed=1; }
cmp -s want.txt got.txt || { echo "FAILED: one job merged knows less than the job"; diff want.txt got.txt; failed=1; }
expect "merge: what all jobs know" 0 'two.weft' '' goal merge llm.weft llm.weft -o two.weft
expect "merge: it stays known" 0 '^overlap_slowdown ' '' goal info two.weft
one=$("$weft" goal info llm.weft | sed -n 's/^tokens *//p') two=$("$weft" goal info two.weft | sed -n 's/^tokens *//p')
((two == 2 * one && one > 0)) || { echo "FAILED: two jobs of $one tokens have $two"; failed=1; }
expect "merge: what they differ in" 0 'mixed.weft' "^weft: jobs differ in nccl_library \\(NCCL, none\\)" goal merge llm.weft pair.goal -o mixed.weft
expect "merge: no output" 2 '' '--output is required' goal merge four.goal
expect "merge: unknown ending" 2 '' 'x.txt: expected a name that ends in .weft' goal merge four.goal -o x.txt

expect "scale" 0 's.goal: 4 ranks' '' goal scale four.goal --calc 2 --calc 0.1@cpu=1@ranks=2-3 -o s.goal
expect "scale: both rules" 0 '^calc 100 cpu 1$' '' goal print s.goal
expect "scale: one rule" 0 '^calc 6000$' '' goal print s.goal
expect "scale: not a number" 2 '' "--calc 'fast': 'fast' is not a number" goal scale four.goal --calc fast -o x.goal
expect "scale: unknown word" 2 '' "'gpu=1' is neither cpu=" goal scale four.goal --calc 2@gpu=1 -o x.goal
expect "scale: no such rank" 2 '' "rank 9 does not exist; the graph has 4" goal scale four.goal --calc 2@ranks=9 -o x.goal
expect "scale: negative" 2 '' "at least 0" goal scale four.goal --calc=-2 -o x.goal

expect "scale: nothing fits" 0 's.goal' "^weft: --calc '2@cpu=9' fits no calc, and changes nothing; the graph's highest cpu is 1" \
  goal scale four.goal --calc 2@cpu=9 -o s.goal
expect "perturb: nothing fits" 0 's.goal' '^weft: what --ranks and --cpu choose fits no calc' \
  goal perturb four.goal --noise gaussian --cpu 7 -o s.goal
expect "perturb" 0 'p.weft: ' '' goal perturb four.goal --noise stragglers:ranks=3,factor=3 --noise periodic:length=0ns -o p.weft
expect "perturb: the straggler" 0 '^calc 9000$' '' goal print p.weft
expect "perturb is recorded" 0 'perturb four.goal --noise stragglers:ranks=3,factor=3 --noise periodic:length=0ns$' '' goal info p.weft
expect "perturb: the file may come last" 0 'q.weft: ' '' goal perturb -o q.weft --noise gaussian four.goal
expect "perturb: unknown noise" 2 '' "'gausian' is not a noise; did you mean 'gaussian'" goal perturb four.goal --noise gausian -o x.goal
expect "perturb: help lists noises" 0 '^  recorded ' '' goal perturb --help
for name in a b; do "$weft" goal perturb four.goal --noise gaussian --seed 5 -o $name.goal > out.txt; done
cmp -s a.goal b.goal || { echo "FAILED: one seed gave two results"; failed=1; }

expect "slice" 0 'warning +receives_cut: 1\. ' '' goal slice four.goal --ranks 1,3 -o part.weft
expect "slice of time" 0 'calcs_cut: 3' '' goal slice four.goal --from 100ns --until 500ns -o cut.goal
expect "slice: cut in time" 0 '^calc 400$' '' goal print cut.goal
expect "slice of nothing" 0 'nothing_left: 1\. No operation is in the stretch; .* ends at 3000 ns' '' \
  goal slice four.goal --from 500s -o none.goal
expect "slice: a rank twice" 0 'none.goal: 2 ranks' "^weft: --ranks '3,2-3' names a rank more than once" \
  goal slice four.goal --ranks 3,2-3 -o none.goal
expect "slice keeps counters" 0 '^warning +receives_cut: 1\.' '' goal info part.weft
expect "slice: of what" 2 '' 'Give --ranks, --from or --until' goal slice four.goal -o x.goal
expect "slice: time" 2 '' '^weft: --from: ' goal slice four.goal --from soon -o x.goal
expect "slice: stuck program" 2 '' 'slice: 1 operations of the graph can never run' goal slice stuck.goal --from 1us -o x.goal

expect "regroup" 0 'info +local_copies: 1\.' '' \
  goal regroup four.goal --ranks-per-node 2 --copy-latency 1us --copy-bandwidth 2GB/s -o r.weft
expect "regroup: a copy of 2000 bytes" 0 ': calc 2000$' '' goal print r.weft
expect "regroup: collectives" 2 '' 'collective with two ranks of one node' goal regroup pair.goal --ranks-per-node 2 -o x.goal
expect "regroup: bandwidth" 2 '' '^weft: --copy-bandwidth: ' \
  goal regroup four.goal --ranks-per-node 2 --copy-bandwidth fast -o x.goal
told='^weft: algorithms of collectives by the profile mpich, as the graph names no library; --profile says other$'
expect "regroup: collectives spelled out" 0 'n.goal: 1 ranks, 4 operations' "$told" goal regroup pair.goal --ranks-per-node 2 --expand -o n.goal

# Grown from 3 x 3 it is what the generator makes of 5 x 5.
expect "a small stencil" 0 'small.goal: 9 ranks' '' goal gen stencil:dims=[3,3],periodic=false,compute=1us --ranks 9 -o small.goal
expect "a large one" 0 'large.goal: 25 ranks' '' goal gen stencil:dims=[5,5],periodic=false,compute=1us --ranks 25 -o large.goal
expect "extrapolate" 0 '^messages on a 3x3 grid, made a 5x5 grid$' '' goal extrapolate small.goal --ranks 25 --dims 5,5 -o grown.goal
"$weft" goal print large.goal > want.goal
cmp -s grown.goal want.goal || { echo "FAILED: the grown stencil is not the large one"; failed=1; }
expect "extrapolate: no such shape" 2 '' "can't be laid out like the program's 3x3 grid" goal extrapolate small.goal --ranks 23 -o x.goal
expect "extrapolate: no pattern" 2 '' 'differs from rank' goal extrapolate four.goal --ranks 8 -o x.goal

expect "stats" 0 '^critical path +3 us of calc, 0 messages' '' goal stats four.goal
expect "stats: sizes" 0 '^ +1024 +1 +2000$' '' goal stats four.goal
expect "stats: files" 0 'longest message chain +1' '' goal stats four.goal --matrix m.csv --picture m.svg
printf 'from,to,messages,bytes\n0,1,1,2000\n1,2,1,10\n' | cmp -s - m.csv || { echo "FAILED: the matrix"; failed=1; }
grep -q '<title>0 to 1: 2000 B</title>' m.svg || { echo "FAILED: the picture"; failed=1; }
expect "stats: json" 0 '"longest_message_chain": 1' '' goal stats four.goal --json
cp out.txt stats.json
python3 -m json.tool stats.json > parsed.json || { echo "FAILED: not JSON"; failed=1; }
expect "stats: collectives spelled out" 0 '^messages +2, 16 B$' '' goal stats pair.goal --expand --algorithm allreduce=recursive_doubling
expect "stats: picture of what kind" 2 '' 'm.gif: expected a name that ends in .svg, .png or .pgm' goal stats four.goal --picture m.gif
expect "stats: algorithm without expanding" 2 '' 'do nothing without --expand' goal stats pair.goal --algorithm allreduce=ring

expect "export" 0 'e.bin: 2 ranks, 4 operations' "$told" goal export pair.goal --expand -o e.bin
expect "export: NCCL's" 0 'llm.bin: ' '^weft: algorithms of collectives by the profile nccl, as the graph.s collectives are those of NCCL, on nodes of dgx_h100' \
  goal export llm.weft --expand -o llm.bin
"$weft" goal print llm.bin > by_default.goal
expect "export: NCCL's when asked for" 0 'llm.bin: ' '' goal export llm.weft --expand --profile nccl -o llm.bin
"$weft" goal print llm.bin | cmp -s - by_default.goal || { echo "FAILED: --expand is not NCCL's"; failed=1; }
expect "export: MPICH's when asked for" 0 'llm.bin: ' '' goal export llm.weft --expand --profile mpich -o llm.bin
"$weft" goal print llm.bin | cmp -s - by_default.goal && { echo "FAILED: NCCL's is MPICH's"; failed=1; }
expect "export is plain" 0 '^send 8b to 1$' '' goal print e.bin
expect "export: collectives" 2 '' 'spell collectives out first' goal export pair.goal -o x.bin
expect "export: unknown kind" 2 '' "did you mean 'allreduce'" goal export pair.goal --expand --algorithm allreduc=ring -o x.bin
expect "export: unknown algorithm" 2 '' "did you mean 'ring'" goal export pair.goal --expand --algorithm allreduce=rng -o x.bin
expect "export: form" 2 '' 'expected KIND=NAME' goal export pair.goal --expand --algorithm ring -o x.bin
[[ ! -e x.goal && ! -e x.bin ]] || { echo "FAILED: a refused transform left a file"; failed=1; }

((failed)) || echo "all as expected"
exit $failed
