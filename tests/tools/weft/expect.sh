# To be sourced by tests of the weft program, which get its path as their argument: goes to a folder of the test's
# own, and brings `expect` and `failed`.
weft=$PWD/$1
work=${TEST_TMPDIR:-$(mktemp -d)}/$(basename "$0" .sh)
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1

failed=0
# expect NAME STATUS STDOUT-PATTERN STDERR-PATTERN ARGUMENT…: extended regular expressions; "" wants nothing at all.
expect() {
  local name=$1 status=$2 out=$3 err=$4
  shift 4
  local got=0
  "$weft" "$@" > out.txt 2> err.txt || got=$?
  local bad=
  [[ $got == "$status" ]] || bad="exit status $got, not $status"
  matches "$out" out.txt || bad="$bad; standard output does not match '$out'"
  matches "$err" err.txt || bad="$bad; standard error does not match '$err'"
  [[ -z $bad ]] && return
  echo "FAILED: $name: weft $*: $bad"
  sed 's/^/  out: /' out.txt | head -20
  sed 's/^/  err: /' err.txt | head -20
  failed=1
}
matches() {
  if [[ -z $1 ]]; then [[ ! -s $2 ]]; else grep -Eq -- "$1" "$2"; fi
}
