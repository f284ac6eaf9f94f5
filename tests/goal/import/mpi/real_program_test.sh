#!/bin/bash
# Traces real_program.c under each MPI library that is installed, imports the traces and compares every rank's
# operations with what the program does. Compute and dependencies vary with timing and are left out here.
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
  # MPICH marks MPI_STATUSES_IGNORE, an address without room, as what its calls write to.
  "$compiler" -O1 -Wno-stringop-overflow -o "$work/program" "$source"
  "$weft" trace -o "$work/traces" -- "$launcher" -n 4 "$work/program"
  "$weft" import mpi "$work/traces" -o "$work/program.goal"
  sed -E 's/^l[0-9]+: //' "$work/program.goal" | grep -Ev '^calc|requires' |
    # Rank 0 takes any source: the order is the run's, the set is not.
    awk '/tag 10[0-9]$/ && /^recv/ { print | "sort"; next } { close("sort"); print; fflush() }' > "$work/found"
  cat > "$work/expected" << 'END'
num_ranks 4
comm 1 "comm1" { 2 0 }
comm 2 "comm2" { 3 1 }

rank 0 {
recv 80b from 3 tag 1
send 80b to 1 tag 1
recv 16b from 2 tag 102
recv 24b from 3 tag 103
recv 8b from 1 tag 101
allreduce 8b elem 8
recv 20b from 2 tag 7 comm 1
allreduce 24b elem 8 comm 1
send 16b to 1 tag 9
recv 16b from 1 tag 9
send 16b to 1 tag 9
recv 16b from 1 tag 9
alltoall [4 4 4 4]b receives [4 8 12 16]b v
barrier
bcast 48b root 2
gather 24b root 1
gather 4b root 1 v
scatter 8b root 3
scatter 4b root 3 v
allgather 8b
allgather [4 8 12 16]b v
alltoall 12b
reduce 40b root 0 elem 8
reduce_scatter [4 8 12 16]b elem 4 v
reduce_scatter 8b elem 4
scan 56b elem 8
exscan 64b elem 8
}

rank 1 {
recv 80b from 0 tag 1
send 80b to 2 tag 1
send 8b to 0 tag 101
allreduce 8b elem 8
recv 20b from 3 tag 7 comm 2
allreduce 24b elem 8 comm 2
send 16b to 0 tag 9
recv 16b from 0 tag 9
send 16b to 0 tag 9
recv 16b from 0 tag 9
alltoall [8 8 8 8]b receives [4 8 12 16]b v
barrier
bcast 48b root 2
gather 24b root 1
gather [4 8 12 16]b root 1 v
scatter 8b root 3
scatter 8b root 3 v
allgather 8b
allgather [4 8 12 16]b v
alltoall 12b
reduce 40b root 0 elem 8
reduce_scatter [4 8 12 16]b elem 4 v
reduce_scatter 8b elem 4
scan 56b elem 8
exscan 64b elem 8
}

rank 2 {
recv 80b from 1 tag 1
send 80b to 3 tag 1
send 16b to 0 tag 102
allreduce 8b elem 8
send 20b to 0 tag 7 comm 1
allreduce 24b elem 8 comm 1
send 16b to 3 tag 9
recv 16b from 3 tag 9
send 16b to 3 tag 9
recv 16b from 3 tag 9
alltoall [12 12 12 12]b receives [4 8 12 16]b v
barrier
bcast 48b root 2
gather 24b root 1
gather 12b root 1 v
scatter 8b root 3
scatter 12b root 3 v
allgather 8b
allgather [4 8 12 16]b v
alltoall 12b
reduce 40b root 0 elem 8
reduce_scatter [4 8 12 16]b elem 4 v
reduce_scatter 8b elem 4
scan 56b elem 8
exscan 64b elem 8
}

rank 3 {
recv 80b from 2 tag 1
send 80b to 0 tag 1
send 24b to 0 tag 103
allreduce 8b elem 8
send 20b to 1 tag 7 comm 2
allreduce 24b elem 8 comm 2
send 16b to 2 tag 9
recv 16b from 2 tag 9
send 16b to 2 tag 9
recv 16b from 2 tag 9
alltoall [16 16 16 16]b receives [4 8 12 16]b v
barrier
bcast 48b root 2
gather 24b root 1
gather 16b root 1 v
scatter 8b root 3
scatter [4 8 12 16]b root 3 v
allgather 8b
allgather [4 8 12 16]b v
alltoall 12b
reduce 40b root 0 elem 8
reduce_scatter [4 8 12 16]b elem 4 v
reduce_scatter 8b elem 4
scan 56b elem 8
exscan 64b elem 8
}
END
  # Labels and blank lines are the printer's business.
  diff <(grep -v '^$' "$work/expected") <(grep -v '^$' "$work/found")
  # No test or probe in vain, nothing dropped, nothing guessed that the program did not ask for.
  "$weft" import mpi "$work/traces" -o "$work/program.weft" > "$work/summary"
  ! grep -E '^ *(warning|error)' "$work/summary"
  grep -q 'communicator_creations: 4' "$work/summary"
done
