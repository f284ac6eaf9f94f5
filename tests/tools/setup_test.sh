#!/bin/bash
# tools/setup against stand-ins for dpkg-query, apt-get and sudo: it touches apt only for what is missing.
set -uo pipefail
setup=$PWD/tools/setup
bin=$TEST_TMPDIR/bin
mkdir -p "$bin"
export PATH=$bin:$PATH APT_LOG=$TEST_TMPDIR/apt.log MISSING=""

cat > "$bin/dpkg-query" << 'STUB'
#!/bin/bash
package=${!#}
[[ " $MISSING " == *" $package "* ]] && exit 1
echo installed
STUB
cat > "$bin/apt-get" << 'STUB'
#!/bin/bash
echo "$@" >> "$APT_LOG"
[[ $1 == update ]] && exit "${UPDATE_STATUS:-0}"
exit 0
STUB
printf '#!/bin/bash\nexec "$@"\n' > "$bin/sudo"
chmod +x "$bin"/*

failures=0
expect() {
  if ! eval "$2"; then
    echo "FAILED: $1: $2"
    echo "output: $output"
    failures=$((failures + 1))
  fi
}
call() {
  rm -f "$APT_LOG"
  output=$("$setup" "$@" 2>&1)
  status=$?
}

call
expect "all present" '[[ $status == 0 && $output == "tools/setup: all "*" packages present" && ! -e $APT_LOG ]]'

MISSING="lammps hpcc" call
expect "installs what is missing" '[[ $status == 0 && $(grep -c . "$APT_LOG") == 2 ]]'
expect "and nothing else" '[[ $(tail -n 1 "$APT_LOG") == "install -y -q --no-install-recommends lammps hpcc" ]]'
expect "says so" '[[ $output == *"2 of "*" packages missing: lammps hpcc"* ]]'

MISSING="hpcc" UPDATE_STATUS=100 call
expect "a failed update does not stop it" '[[ $status == 0 && $(tail -n 1 "$APT_LOG") == install*hpcc ]]'

MISSING="hpcc" call --check
expect "--check only looks" '[[ $status == 1 && $output == *hpcc* && ! -e $APT_LOG ]]'

call --list
expect "--list names packages" '[[ $status == 0 && $output == *catch2* && $output != *tools/setup* ]]'

MISSING="clang-16" call
expect "Clang is for fuzzing alone" '[[ $status == 0 && ! -e $APT_LOG ]]'

MISSING="clang-16" call --fuzz
expect "--fuzz installs it" '[[ $status == 0 && $(tail -n 1 "$APT_LOG") == install*clang-16 ]]'

call --chek
expect "an unknown option" '[[ $status == 2 && $output == *"known: --check, --list, --fuzz"* && ! -e $APT_LOG ]]'

exit $((failures > 0))
