#!/bin/bash
# Traces programs that use NCCL (a stand-in for it: tests/tracer/standin), alone and with MPI, imports the traces, and
# compares every rank's operations with what the program does. Computations vary with timing and are left out here.
set -euo pipefail
export LC_ALL=C
weft=$PWD/$1 programs=$PWD/$(dirname "$2") library=$PWD/$3
export LD_LIBRARY_PATH=$programs
cd "$TEST_TMPDIR"

operations() { sed -E 's/^l[0-9]+: //; s/ cpu [0-9]+//' "$1" | grep -Ev '^calc|requires|^$'; }

# The stand-in says that it chose what is in the words behind "by"; see its nccl.cc.
"$weft" trace -o calls -- "$programs/nccl_calls_program" 2> said
grep -q '4 processes with NCCL 2.23.4' said
grep -q '52 collectives, 8 messages (2.400 MB), 44 kernels, copies and graphs' said
grep -q '68 operations with algorithm, protocol and channels' said
# The same is told again of the folder.
"$weft" trace info calls > info
grep -q '52 collectives, 8 messages (2.400 MB), 44 kernels, copies and graphs' info
"$weft" import calls -o calls.goal --ignore-choices > summary
! grep -E '^ *(warning|error)' summary | grep -Ev 'untimed_kernels|not_replayed_cudalaunchhostfunc'
# Two by each of 4 processes, with what that could mean.
grep -q 'not_replayed_cudalaunchhostfunc: 8\. .* takes no time on its stream' summary
grep -q 'warning   8 calls of cudaLaunchHostFunc' info
ring='by nccl_ring:protocol=simple,channels=8' tree='by nccl_tree:protocol=ll,channels=2'
{
  echo num_ranks 4
  echo 'comm 1 { 2 0 }'
  echo 'comm 2 { 3 1 }'
  # Made by three ranks and used by none.
  echo 'comm 3 { 1-3 }'
  for rank in 0 1 2 3; do
    echo "rank $rank {"
    printf 'allreduce %sb elem 4\n' 400000 64
    cat << 'END'
reduce_scatter 400000b elem 4
allgather 400000b
bcast 400000b root 2
reduce 400000b root 1 elem 4
alltoall 400000b
gather 400000b root 3
scatter 400000b root 0
END
    right=$(((rank + 1) % 4)) left=$(((rank + 3) % 4))
    printf 'send 400000b to %d\nsend 200000b to %d\nrecv 400000b from %d\nrecv 200000b from %d\n' \
      $right $left $left $right
    half=$((rank % 2 + 1))
    echo "allgather 4b comm $half"
    echo 'allreduce 400000b elem 4'
    echo "allreduce 400000b elem 4 comm $half"
    # What was captured, once for each launch.
    printf 'allreduce 400000b elem 4\nallreduce 400000b elem 4\n}\n'
  done
} > expected
diff expected <(operations calls.goal)
"$weft" goal check calls.goal > /dev/null
"$weft" sim --goal calls.goal --network loggops:L=2000,o=500,g=10,G=0.04 -o run > /dev/null

# With the choices: all are matched, and those of collectives that have a model stay.
"$weft" import nccl calls -o choices.goal > summary
! grep -q unmatched_choices summary
[ "$(grep -c "^l[0-9]*: allreduce 400000b elem 4 $ring" choices.goal)" = 20 ]
[ "$(grep -c "^l[0-9]*: allreduce 64b elem 4 $tree" choices.goal)" = 4 ]
# The stand-in says RING of all others: gather, scatter and alltoall have no such algorithm, nor has the small allgather a
# tree. Each is counted on each rank, none is named, and what is left can be replayed.
grep -q 'choices_without_model: 16' summary
! grep -E '^l[0-9]*: (gather|scatter|alltoall) .* by ' choices.goal
! grep -E '^l[0-9]*: allgather 4b .* by ' choices.goal
"$weft" sim --goal choices.goal --network loggops:L=2000,o=500,g=10,G=0.04 -o run > /dev/null

# As where NCCL is linked statically: nothing is preloaded, and NCCL loads its profiler plugin. What was captured is told
# of once, whatever is launched.
for version in 4 6; do
  rm -rf static
  WEFT_STANDIN_PROFILER=$version WEFT_TRACE_DIR=$PWD/static NCCL_PROFILER_PLUGIN=$library "$programs/nccl_calls_program"
  "$weft" import static -o static.goal --ignore-choices > summary
  grep -q 'profiled_only: 68' summary
  diff <(sed '/^allreduce 400000b elem 4$/{$!N;/\nallreduce 400000b elem 4$/s/\n.*//}' expected) <(operations static.goal)
  "$weft" goal check static.goal > /dev/null
  "$weft" sim --goal static.goal --network loggops:L=2000,o=500,g=10,G=0.04 -o run > /dev/null
done

# MPI and NCCL in one process: one rank has both, in the order of the program.
for mpi in openmpi mpich; do
  "$weft" trace -o "$mpi" -- "mpirun.$mpi" -n 3 "$programs/mpi_nccl_${mpi}_program" 2> said
  grep -q '^weft trace: 3 ranks on 1 host' said
  grep -q '^weft trace: 3 processes with NCCL 2.23.4' said
  "$weft" import "$mpi" -o both.goal --ignore-choices > summary
  {
    echo num_ranks 3
    echo 'comm 1 { 2 1 0 }'
    for rank in 0 1 2; do
      printf 'rank %d {\nbcast 128b root 0\nallreduce 8000b elem 8 comm 1\nallreduce 8b elem 8\n' $rank
      printf 'send 8000b to %d comm 1\nrecv 8000b from %d comm 1\nbarrier\n}\n' $(((rank + 1) % 3)) $(((rank + 2) % 3))
    done
  } > expected
  diff expected <(operations both.goal)
  "$weft" goal check both.goal > /dev/null
  "$weft" sim --goal both.goal --network loggops:L=2000,o=500,g=10,G=0.04 -o run > /dev/null
  # MPI's part alone says what it leaves out.
  "$weft" import mpi "$mpi" -o mpi.goal > summary
  grep -q 'nccl_traces: 1' summary
done
