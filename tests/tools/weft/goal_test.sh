#!/bin/bash
# weft goal, from the command line: what it prints, where, and its exit status.
set -u
data=$PWD/tests/goal/text/data
. tests/tools/weft/expect.sh

cat > pair.goal << 'END'
num_ranks 2
rank 0 {
a: calc 1500
b: send 2000b to 1 tag 7
b requires a
allreduce 8b
}
rank 1 {
recv 2000b from -1 tag 7
allreduce 8b
}
END
printf 'num_ranks 1\nrank 0 {\nsend 8b to 0\n}\n' > lone.goal
printf 'num_ranks 1\nrank 0 {\nsend 8b to 3\n}\n' > bad.goal
printf 'num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 4b from 0\n}\n' > short.goal
printf 'num_ranks 1\nrank 0 {\ncalc 1 cpu 300\n}\n' > cpu.goal
printf 'num_ranks 1\nrank 0 {\nallreduce 10b elem 4\n}\n' > partial.goal
printf '\x1f\x8b\x08\x00' > zipped.goal

expect "help shows the path" 0 'weft import mpi DIR' '' --help
expect "version" 0 '^weft [0-9]+\.[0-9]+\.[0-9]+$' '' --version
expect "unknown subcommand" 2 '' "^weft: unknown subcommand 'gaol'; did you mean 'goal'\? \(see 'weft --help'\)$" gaol
expect "no second word" 2 '' "^weft goal: .*required \(see 'weft goal --help'\)$" goal
expect "help for no subcommand" 2 '' "^weft: unknown subcommand 'gaol'; did you mean 'goal'\?" gaol --help
expect "help for no second word" 2 '' "^weft goal: unknown subcommand 'inf'; did you mean 'info'\?" goal inf --help
expect "unknown second word" 2 '' "unknown subcommand 'inf'; did you mean 'info'\?" goal inf x
expect "unknown flag" 2 '' "^weft goal print: unknown option '--rnk'; did you mean '--rank'\?" goal print x --rnk 3
expect "one argument too many" 2 '' "'y' is one argument too many" goal info x y
expect "missing argument" 2 '' 'FILE is required' goal info

expect "info: operations" 0 '^operations +5 \(1 calc, 1 send, 1 recv, 2 collective\)$' '' goal info pair.goal
expect "info: messages" 0 '^messages +1, 2 kB in all, 2 kB the largest$' '' goal info pair.goal
expect "info: calc" 0 '^calc time +1\.5 us in all, 750 ns a rank on average, 1\.5 us at most \(rank 0\)$' '' goal info pair.goal
expect "info: collectives" 0 '^allreduce +2, over all ranks$' '' goal info pair.goal
expect "info: missing file" 2 '' '^weft: none.goal: can.t read the file: No such file' goal info none.goal
expect "info: a folder" 2 '' 'it is a folder' goal info .
expect "info: gzip" 2 '' 'zipped.goal: the file is compressed with gzip.*expected GOAL text' goal info zipped.goal

expect "check: sound" 0 '^pair.goal: sound \(2 ranks, 5 operations\)$' '' goal check pair.goal
expect "check: unmatched" 2 '^lone.goal: error: unmatched_send: no receive takes 1 message like operation 0 of rank 0' '' goal check lone.goal
expect "check: totals" 2 '^lone.goal: unmatched_send: 1 in all$' '' goal check lone.goal
expect "check: warnings are no failure" 0 '^short.goal: warning: short_receive: ' '' goal check short.goal
expect "check: bad text" 2 '' '^weft: bad.goal:3:12: rank 3 does not exist' goal check bad.goal

# Collectives that ranks call with other sizes: told by the check, by an import, and by a run, whether it ends or not.
printf 'num_ranks 2\nrank 0 {\nbcast 8b\n}\nrank 1 {\nbcast 16b\n}\n' > sizes.goal
printf 'num_ranks 2\nrank 0 {\nbcast 8b root 1\n}\nrank 1 {\nbcast 8b root 0\n}\n' > roots.goal
first='operation 0 of rank 1 \(bcast 16b root 0\) and operation 0 of rank 0 \(bcast 8b root 0\)'
expect "check: sizes that differ" 2 "error: collective_mismatch: $first" '' goal check sizes.goal
expect "check: parts of elements" 0 'warning: partial_element: operation 0 of rank 0' '' goal check partial.goal
expect "import: sizes that differ" 0 "warning +collective_mismatch: 1\\. .*$first" '' import sizes.goal -o sizes.weft
for graph in sizes.goal sizes.weft; do
  expect "sim: sizes that differ" 0 "a rank calls collectives of other kinds, roots or sizes .* the first: $first" '' \
    sim --goal $graph --network loggops -o sizes_run
done
expect "sim: roots that differ" 3 'incomplete' 'rank 1 .bcast 8b root 0. and operation 0 of rank 0 .bcast 8b root 1. are the same' \
  sim --goal roots.goal --network loggops -o roots_run
expect "print" 0 '^recv 2000b from -1 tag 7$' '' goal print pair.goal
expect "print one rank" 0 '^rank 1 \{$' '' goal print pair.goal --rank 1
expect "print no such rank" 2 '' '^weft: --rank 2: pair.goal has 2 ranks' goal print pair.goal --rank 2
expect "print a negative rank" 2 '' '^weft goal print: .*--rank' goal print pair.goal --rank=-1

expect "convert: its own example" 0 'weft goal convert lj.weft lj.goal$' '' goal convert --help
expect "convert to packed" 0 '' '' goal convert pair.goal pair.weft
expect "packed is sound" 0 'sound' '' goal check pair.weft
expect "convert to a format by name" 0 '' '' goal convert pair.weft copy.txt --to text
"$weft" goal print pair.goal > want.txt
cmp -s want.txt copy.txt || { echo "FAILED: text through packed is not the printed text"; failed=1; }
expect "convert: collectives to binary" 2 '' "binary GOAL can't hold collective operations: operation 2 of rank 0" goal convert pair.goal pair.bin
expect "convert: cpu to binary" 2 '' "can't hold a cpu above 255" goal convert cpu.goal cpu.bin
[[ ! -e pair.bin && ! -e cpu.bin ]] || { echo "FAILED: a refused conversion left a file"; failed=1; }
expect "convert: unknown ending" 2 '' 'x.xyz: expected a name that ends in .weft' goal convert pair.goal x.xyz
expect "convert: unknown format" 2 '' "'xml' is not a format" goal convert pair.goal x.xyz --to xml
expect "convert: no such folder" 2 '' "no/x.weft: can't write the file" goal convert pair.goal no/x.weft
head -c 60 pair.weft > cut.weft
expect "a packed file cut short" 2 '' '^weft: cut.weft: byte [0-9]+: the file ends within the block of the program of rank 0' goal info cut.weft

# Text to binary to packed and back is the identity on a schedule of the peers.
for file in "$data"/*.goal; do
  expect "to binary" 0 '' '' goal convert "$file" x.bin
  expect "to packed" 0 '' '' goal convert x.bin x.weft
  expect "to text" 0 '' '' goal convert x.weft x.goal
  expect "to binary again" 0 '' '' goal convert x.goal y.bin
  cmp -s x.bin y.bin || { echo "FAILED: $file changed on the way through the formats"; failed=1; }
done

expect "metadata is not lost silently" 0 '' 'note: only packed graphs keep metadata' \
  goal convert "$OLDPWD/tests/goal/pack/data/version_1.weft" v.goal
expect "info shows metadata" 0 '^application +lmp$' '' goal info "$OLDPWD/tests/goal/pack/data/version_1.weft"
expect "info shows anomalies" 0 '^warning +unknown_calls: 3\. Calls the tracer' '' \
  goal info "$OLDPWD/tests/goal/pack/data/version_1.weft"

((failed)) || echo "all as expected"
exit $failed
