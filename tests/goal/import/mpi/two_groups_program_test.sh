#!/bin/bash
# Traces two_groups.c under each MPI library that is installed, imports the traces, compares every rank's
# operations with what the program does, checks the graph and replays it. Compute and dependencies vary with
# timing and are left out of the comparison.
#
# The order: an agreement in the world, one between the groups; then, with the root's group first, bcast 12 ints
# (rank 1 to 4), reduce 5 doubles (0 to 2), gather 3 ints each (4 to 0), gatherv i + 1 ints (to 4), scatter 7 ints
# each (3 to 0), scatterv i + 1 ints (from 0); barrier, allreduce 6 doubles, allgather 2 and 3 ints, allgatherv 1, 2
# and 10, 11, 12 ints, alltoall 2 and 5 ints, alltoallv and alltoallw, reduce_scatter 6 ints as 2, 4 and 1, 2, 3,
# reduce_scatter_block 6 ints; at once allreduce 2 doubles and bcast 9 ints (4 to 0).
# All messages are in communicator 2, with the number of the collective as tag; ranks 0 and 4 lead their groups.
set -euo pipefail
export LC_ALL=C
weft=$1 source=$2
for mpi in openmpi mpich; do
  compiler=mpicc.$mpi launcher=mpirun.$mpi
  if ! command -v "$compiler" > /dev/null || ! command -v "$launcher" > /dev/null; then
    echo "skipped: $mpi: $compiler or $launcher is not installed"
    continue
  fi
  work=$TEST_TMPDIR/$mpi
  mkdir -p "$work"
  "$compiler" -O1 -Wno-stringop-overflow -o "$work/program" "$source"
  "$weft" trace -o "$work/traces" -- "$launcher" -n 5 "$work/program"
  "$weft" import mpi "$work/traces" -o "$work/program.goal"
  sed -E 's/^l[0-9]+: //' "$work/program.goal" | grep -Ev '^calc|requires|^$' > "$work/found"
  cat > "$work/expected" << 'END'
num_ranks 5
comm 1 "group1" { 0 1 }
comm 2 "between1" all
comm 3 "group2" { 4 3 2 }
rank 0 {
allreduce 8b elem 8
reduce 8b root 0 elem 8 comm 1
recv 8b from 4 comm 2
send 8b to 4 comm 2
bcast 8b root 0 comm 1
reduce 40b root 0 elem 8 comm 1
send 40b to 2 tag 2 comm 2
recv 36b from 4 tag 3 comm 2
send 4b to 4 tag 4 comm 2
recv 56b from 3 tag 5 comm 2
scatter 28b root 0 comm 1
send 4b to 4 tag 6 comm 2
send 8b to 3 tag 6 comm 2
send 12b to 2 tag 6 comm 2
barrier comm 1
recv 1b from 4 tag 7 comm 2
send 1b to 4 tag 7 comm 2
bcast 1b root 0 comm 1
reduce 48b root 0 elem 8 comm 1
recv 48b from 4 tag 8 comm 2
send 48b to 4 tag 8 comm 2
bcast 48b root 0 comm 1
gather 8b root 0 comm 1
recv 36b from 4 tag 9 comm 2
send 16b to 4 tag 9 comm 2
bcast 36b root 0 comm 1
recv 40b from 4 tag 10 comm 2
recv 44b from 3 tag 10 comm 2
recv 48b from 2 tag 10 comm 2
send 4b to 4 tag 10 comm 2
bcast 132b root 0 comm 1
neighbor_alltoall [8 8 8]b receives [20 20 20]b to [4 3 2] from [4 3 2] v comm 2
neighbor_alltoall [4 12 20]b receives [16 16 16]b to [4 3 2] from [4 3 2] v comm 2
neighbor_alltoall [4 12 20]b receives [16 16 16]b to [4 3 2] from [4 3 2] v comm 2
reduce 24b root 0 elem 4 comm 1
recv 24b from 4 tag 14 comm 2
send 24b to 4 tag 14 comm 2
scatter [8 16]b root 0 v comm 1
reduce 24b root 0 elem 4 comm 1
recv 24b from 4 tag 15 comm 2
send 24b to 4 tag 15 comm 2
scatter 12b root 0 comm 1
reduce 16b root 0 elem 8 comm 1
recv 16b from 4 tag 16 comm 2
send 16b to 4 tag 16 comm 2
bcast 16b root 0 comm 1
recv 36b from 4 tag 17 comm 2
bcast 36b root 0 comm 1
}
rank 1 {
allreduce 8b elem 8
reduce 8b root 0 elem 8 comm 1
bcast 8b root 0 comm 1
send 48b to 4 tag 1 comm 2
reduce 40b root 0 elem 8 comm 1
send 8b to 4 tag 4 comm 2
scatter 28b root 0 comm 1
barrier comm 1
bcast 1b root 0 comm 1
reduce 48b root 0 elem 8 comm 1
bcast 48b root 0 comm 1
gather 8b root 0 comm 1
bcast 36b root 0 comm 1
send 8b to 4 tag 10 comm 2
bcast 132b root 0 comm 1
neighbor_alltoall [8 8 8]b receives [20 20 20]b to [4 3 2] from [4 3 2] v comm 2
neighbor_alltoall [8 16 24]b receives [16 16 16]b to [4 3 2] from [4 3 2] v comm 2
neighbor_alltoall [8 16 24]b receives [16 16 16]b to [4 3 2] from [4 3 2] v comm 2
reduce 24b root 0 elem 4 comm 1
scatter [8 16]b root 0 v comm 1
reduce 24b root 0 elem 4 comm 1
scatter 12b root 0 comm 1
reduce 16b root 0 elem 8 comm 1
bcast 16b root 0 comm 1
bcast 36b root 0 comm 1
}
rank 2 {
allreduce 8b elem 8
reduce 8b root 0 elem 8 comm 3
bcast 8b root 0 comm 3
bcast 48b root 0 comm 3
recv 40b from 0 tag 2 comm 2
gather 12b root 0 comm 3
recv 12b from 0 tag 6 comm 2
barrier comm 3
bcast 1b root 0 comm 3
reduce 48b root 0 elem 8 comm 3
bcast 48b root 0 comm 3
gather 12b root 0 comm 3
bcast 16b root 0 comm 3
send 48b to 0 tag 10 comm 2
bcast 12b root 0 comm 3
neighbor_alltoall [20 20]b receives [8 8]b to [0 1] from [0 1] v comm 2
neighbor_alltoall [16 16]b receives [20 24]b to [0 1] from [0 1] v comm 2
neighbor_alltoall [16 16]b receives [20 24]b to [0 1] from [0 1] v comm 2
reduce 24b root 0 elem 4 comm 3
scatter [4 8 12]b root 0 v comm 3
reduce 24b root 0 elem 4 comm 3
scatter 8b root 0 comm 3
reduce 16b root 0 elem 8 comm 3
bcast 16b root 0 comm 3
}
rank 3 {
allreduce 8b elem 8
reduce 8b root 0 elem 8 comm 3
bcast 8b root 0 comm 3
bcast 48b root 0 comm 3
gather 12b root 0 comm 3
send 56b to 0 tag 5 comm 2
recv 8b from 0 tag 6 comm 2
barrier comm 3
bcast 1b root 0 comm 3
reduce 48b root 0 elem 8 comm 3
bcast 48b root 0 comm 3
gather 12b root 0 comm 3
bcast 16b root 0 comm 3
send 44b to 0 tag 10 comm 2
bcast 12b root 0 comm 3
neighbor_alltoall [20 20]b receives [8 8]b to [0 1] from [0 1] v comm 2
neighbor_alltoall [16 16]b receives [12 16]b to [0 1] from [0 1] v comm 2
neighbor_alltoall [16 16]b receives [12 16]b to [0 1] from [0 1] v comm 2
reduce 24b root 0 elem 4 comm 3
scatter [4 8 12]b root 0 v comm 3
reduce 24b root 0 elem 4 comm 3
scatter 8b root 0 comm 3
reduce 16b root 0 elem 8 comm 3
bcast 16b root 0 comm 3
}
rank 4 {
allreduce 8b elem 8
reduce 8b root 0 elem 8 comm 3
recv 8b from 0 comm 2
send 8b to 0 comm 2
bcast 8b root 0 comm 3
recv 48b from 1 tag 1 comm 2
bcast 48b root 0 comm 3
gather 12b root 0 comm 3
send 36b to 0 tag 3 comm 2
recv 4b from 0 tag 4 comm 2
recv 8b from 1 tag 4 comm 2
recv 4b from 0 tag 6 comm 2
barrier comm 3
recv 1b from 0 tag 7 comm 2
send 1b to 0 tag 7 comm 2
bcast 1b root 0 comm 3
reduce 48b root 0 elem 8 comm 3
recv 48b from 0 tag 8 comm 2
send 48b to 0 tag 8 comm 2
bcast 48b root 0 comm 3
gather 12b root 0 comm 3
recv 16b from 0 tag 9 comm 2
send 36b to 0 tag 9 comm 2
bcast 16b root 0 comm 3
recv 4b from 0 tag 10 comm 2
recv 8b from 1 tag 10 comm 2
send 40b to 0 tag 10 comm 2
bcast 12b root 0 comm 3
neighbor_alltoall [20 20]b receives [8 8]b to [0 1] from [0 1] v comm 2
neighbor_alltoall [16 16]b receives [4 8]b to [0 1] from [0 1] v comm 2
neighbor_alltoall [16 16]b receives [4 8]b to [0 1] from [0 1] v comm 2
reduce 24b root 0 elem 4 comm 3
recv 24b from 0 tag 14 comm 2
send 24b to 0 tag 14 comm 2
scatter [4 8 12]b root 0 v comm 3
reduce 24b root 0 elem 4 comm 3
recv 24b from 0 tag 15 comm 2
send 24b to 0 tag 15 comm 2
scatter 8b root 0 comm 3
reduce 16b root 0 elem 8 comm 3
recv 16b from 0 tag 16 comm 2
send 16b to 0 tag 16 comm 2
bcast 16b root 0 comm 3
send 36b to 0 tag 17 comm 2
}
END
  diff "$work/expected" "$work/found"
  # Nothing is left out, and the replay comes to its end: 29 messages and 690 bytes between the groups, which
  # are the sends above, beside those of the groups' own collectives.
  "$weft" import mpi "$work/traces" -o "$work/program.weft" > "$work/summary"
  grep -q 'messages     29 ' "$work/summary"
  grep -q 'intercommunicator_collectives: 85' "$work/summary" # 17 by each of 5 ranks
  "$weft" goal check "$work/program.weft" | grep -q 'sound (5 ranks'
  [ "$(awk '/^send/ { sum += $2 } END { print sum }' "$work/found")" = 690 ]
  "$weft" sim --goal "$work/program.weft" --network loggops -o "$work/run" > /dev/null
done
