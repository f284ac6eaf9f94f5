#!/bin/bash
# What weft trace and weft import do around the work itself: exit statuses, refusals, messages. No MPI needed.
set -uo pipefail
weft=$PWD/$1
cd "$TEST_TMPDIR" || exit 1
failed=0

# expect STATUS TEXT COMMAND…: the command ends with this status and says this on standard output or error.
expect() {
  local status=$1 text=$2
  shift 2
  local said
  said=$("$@" 2>&1)
  local got=$?
  if [ "$got" != "$status" ] || [[ "$said" != *"$text"* ]]; then
    printf 'FAILED: %s\n  status %s, expected %s; expected to read: %s\n%s\n' "$*" "$got" "$status" "$text" "$said"
    failed=1
  fi
}

# The command's exit status and output are passed on, its arguments are left alone.
expect 3 "arguments: -o goal --help" "$weft" trace -o a -- sh -c 'echo "arguments: $*"; exit 3' sh -o goal --help
# So they are without the --, and names of the command aren't subcommands.
expect 3 "arguments: -o goal --help --force" "$weft" trace -o a sh -c 'echo "arguments: $*"; exit 3' sh -o goal --help --force
expect 4 "got info" "$weft" trace --output a sh -c 'echo "got $1"; exit 4' sh info
expect 2 "unknown option '--ouput'; did you mean '--output'?" "$weft" trace --ouput a sh -c true
expect 137 "left no trace" "$weft" trace -o a -- sh -c 'kill -9 $$'
# A command that worked but was no MPI program is bad input: there is nothing to go on with.
expect 2 "'true' left no trace: no process in it called MPI_Init" "$weft" trace -o a -- true
expect 2 "cannot run 'no_such_program': No such file" "$weft" trace -o a -- no_such_program
expect 2 "no command" "$weft" trace -o a
expect 2 "--output is required, before the command" "$weft" trace -- true -o a
# Nothing that was given stays unused without a word.
expect 2 "--json goes with --check" "$weft" trace -o a --json true
expect 2 "--check runs nothing, and so takes no command: 'true'" "$weft" trace --check "$weft" true
expect 2 " excludes --" "$weft" trace -o a --check "$weft"
expect 2 "--output before 'info' would be for a command to trace" "$weft" trace -o b info a
# The command finds the trace directory as an absolute path, and what was preloaded before stays.
expect 0 "$TEST_TMPDIR/a" sh -c "'$weft' trace -o a -- sh -c 'echo \$WEFT_TRACE_DIR; exit 0' || true"
expect 0 "libweft_trace_mpi.so:libm.so.6" env LD_PRELOAD=libm.so.6 sh -c \
  "'$weft' trace -o a -- sh -c 'echo \$LD_PRELOAD' || true"
# NCCL is told of the profiler plugin, but not if the user has one.
expect 0 "plugin=/" sh -c "'$weft' trace -o a -- sh -c 'echo plugin=\$NCCL_PROFILER_PLUGIN' || true"
expect 0 "plugin=mine" env NCCL_PROFILER_PLUGIN=mine sh -c \
  "'$weft' trace -o a -- sh -c 'echo plugin=\$NCCL_PROFILER_PLUGIN' || true"
# So is the address sanitizer told to let other libraries be preloaded, but not if the user has said so or otherwise.
expect 0 "options=verify_asan_link_order=0." sh -c "'$weft' trace -o a -- sh -c 'echo options=\$ASAN_OPTIONS.' || true"
for given in exitcode=9 verify_asan_link_order=1; do
  kept=$given
  [ $given = exitcode=9 ] && kept=$given:verify_asan_link_order=0
  expect 0 "options=$kept." env ASAN_OPTIONS=$given sh -c "'$weft' trace -o a -- sh -c 'echo options=\$ASAN_OPTIONS.' || true"
done
# Traces are not mixed or overwritten unasked.
touch a/rank-000000.wtrc a/nccl-host-1.wtrc a/notes.txt
expect 2 "a already holds 2 traces" "$weft" trace -o a -- true
expect 5 "left no trace" "$weft" trace --force -o a -- sh -c 'exit 5'
[ ! -e a/rank-000000.wtrc ] && [ ! -e a/nccl-host-1.wtrc ] && [ -e a/notes.txt ] || { echo "FAILED: --force deletes traces and nothing else"; failed=1; }
expect 2 "'no_such_program': there is no such file, here or in" "$weft" trace --check no_such_program
expect 2 "notes.txt: byte 0: no program or shared library of this machine" "$weft" trace --check a/notes.txt
expect 2 "true' is linked to no shared MPI library" "$weft" trace --check true
head -c 3000 /bin/true > cut_program
expect 2 "cut_program: byte 3000: the file ends inside its table of sections" "$weft" trace --check ./cut_program
touch file
expect 2 "cannot make this directory" "$weft" trace -o file/a -- true
expect 2 "tracer's library was not found (tried nowhere/libweft_trace_mpi.so)" \
  env WEFT_TRACER_DIR=nowhere "$weft" trace -o a -- true

expect 2 "no NCCL traces here" "$weft" import nccl a -o x.weft
expect 2 "no MPI traces here" "$weft" import mpi a -o x.weft
expect 2 "not a directory" "$weft" import mpi nowhere -o x.weft
expect 2 "a: no importer knows this; looked for: a folder with files rank-*.wtrc (mpi)" "$weft" import a -o x.weft
expect 2 "nowhere: there is no such file or folder" "$weft" import nowhere -o x.weft
mkdir logs
echo 'host1:12:34 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f recvbuff 0x7f count 8 datatype 7 op 0 root 0' > logs/nccl.log
expect 2 "what NCCL prints with NCCL_DEBUG lacks the times" "$weft" import logs/nccl.log -o x.weft
expect 2 "logs: what NCCL prints with NCCL_DEBUG" "$weft" import logs -o x.weft
expect 2 "'mpy' is not a trace format; did you mean 'mpi'?" "$weft" import mpy a -o x.weft
expect 2 "'mpi' is a format; give the path of the trace too" "$weft" import mpi -o x.weft
expect 2 "mpi traces are read from one file or folder, and 2 were given" "$weft" import mpi a b -o x.weft
expect 2 "-o is missing" "$weft" import mpi a
expect 0 "Traces of an MPI program, as 'weft trace' writes them. Reads a folder" "$weft" import --list
expect 2 "--poll-gap: mpi: poll_gap: 'soon'" "$weft" import mpi a -o x.weft --poll-gap soon
expect 2 "mpi: poll_gap: 'soon'" "$weft" import mpi:poll_gap=soon a -o x.weft
expect 2 "parameter of mpi; did you mean 'partial'?" "$weft" import mpi:partail=true a -o x.weft
expect 2 "x.txt: expected a name that ends in .weft" "$weft" import mpi a -o x.txt
expect 2 "a: no MPI traces here" "$weft" trace info a
expect 2 "nowhere: no MPI traces here" "$weft" trace info nowhere --json
expect 2 "DIR is required" "$weft" trace info
expect 2 "m.gif: expected a name that ends in .svg, .png or .pgm" "$weft" trace info a --matrix m.gif
echo "no trace" > a/rank-000000.wtrc
expect 2 "rank-000000.wtrc: byte 0: not a trace file" "$weft" trace info a
expect 2 "rank-000000.wtrc: byte 0: not a trace file" "$weft" import mpi a -o x.weft
expect 2 "rank-000000.wtrc: byte 0: not a trace file" "$weft" import a -o x.weft --partial
exit $failed
