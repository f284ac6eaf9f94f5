#!/bin/bash
# tools/fuzz as far as it goes without Clang: its options, and what each target must have.
set -uo pipefail
failures=0
expect() {
  if ! eval "$2"; then
    echo "FAILED: $1: $2"
    echo "output: $output"
    failures=$((failures + 1))
  fi
}
call() {
  output=$(tools/fuzz "$@" 2>&1)
  status=$?
}

call --help
expect "--help" '[[ $status == 0 && $output == *"--seconds 600"* && $output != *"set -euo"* ]]'
call --seconds
expect "no value" '[[ $status == 2 && $output == *"--seconds needs a value"* ]]'
call --jobs none
expect "a bad value" '[[ $status == 2 && $output == *"--jobs is '"'none'"'"* ]]'
call goal_txt
expect "an unknown target" '[[ $status == 2 && $output == *goal_text* ]]'

call --list
expect "--list" '[[ $status == 0 && $output == *goal_packed* ]]'
for target in $output; do
  expect "$target is built" 'grep -q "name = \"$target\"" tests/fuzz/BUILD.bazel'
  expect "$target has a row" 'grep -q "^|.*\`$target\`.*|$" tests/fuzz/README.md'
  expect "$target has inputs" '[[ -n $(ls "tests/fuzz/corpus/$target") ]]'
done

exit $((failures > 0))
