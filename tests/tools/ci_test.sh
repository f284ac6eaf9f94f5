#!/bin/bash
# .ci/run with stand-ins for tools/test and tools/presubmit: its last line is the totals, its status both results.
set -uo pipefail
tree=$TEST_TMPDIR/tree
mkdir -p "$tree/.ci" "$tree/tools"
cp .ci/run "$tree/.ci/run"

failures=0
# expect STATUS LAST_LINE: what .ci/run should end with, given the stand-ins' output and status.
expect() {
  local output status
  output=$(cd / && CI=true bash "$tree/.ci/run" < /dev/null 2>&1)
  status=$?
  if [[ $status != "$1" || ${output##*$'\n'} != "$2" ]]; then
    printf 'FAILED: wanted status %s and "%s", got status %s and:\n%s\n' "$1" "$2" "$status" "$output"
    failures=$((failures + 1))
  fi
}
stand_in() {
  printf '#!/bin/bash\nprintf "%s\\n"\nexit %s\n' "$2" "$3" > "$tree/tools/$1"
  chmod +x "$tree/tools/$1"
}

stand_in presubmit "presubmit: tidy: ok" 0
stand_in test "1 passed, 2 failed of what\n12 passed, 0 failed" 0
expect 0 "12 passed, 0 failed"
stand_in test "12 passed, 0 failed, 3 skipped" 0
expect 0 "12 passed, 0 failed, 3 skipped"
stand_in test "11 passed, 1 failed" 1
expect 1 "11 passed, 1 failed"
stand_in test "no compiler" 127
expect 1 "0 passed, 1 failed"
stand_in test "12 passed, 0 failed" 0
stand_in presubmit "presubmit: tidy: FAILED" 1
expect 1 "12 passed, 0 failed"

exit $((failures > 0))
