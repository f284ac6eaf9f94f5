#!/bin/bash
# The Debian package, installed where nothing else of Weft is: it runs, traces an MPI program, gives plug-ins their
# headers, and leaves nothing behind.
set -uo pipefail
if [[ ${1:-} != inside ]]; then
  made=$(tools/package "$TEST_TMPDIR" --from "$PWD") || { echo "FAILED: tools/package"; exit 1; }
  [[ $made == "$TEST_TMPDIR"/weft_*_amd64.deb ]] || { echo "FAILED: it made '$made'"; exit 1; }
  for wrong in "tools/package --no" "tools/install" "tools/install --prefix here" "tools/install --prefix /a:b" "tools/install --what"; do
    $wrong > /dev/null 2> "$TEST_TMPDIR/message"
    [[ $? == 2 && $(wc -l < "$TEST_TMPDIR/message") == 1 ]] || { echo "FAILED: $wrong: $(cat "$TEST_TMPDIR/message")"; exit 1; }
  done
  unshare --mount --fork true 2> /dev/null || { echo "skipped: no right to a mount namespace"; exit 0; }
  exec unshare --mount --pid --fork "$0" inside "$made" "$(readlink -f tools/install)" "$(readlink -f tools/weft/weft)"
fi

# A copy of this system in which changes are lost, without the folders where the tree and what was built of it lie.
package=$2
layers=$TEST_TMPDIR/layers
mkdir -p "$layers"
mount -t tmpfs tmpfs "$layers" && mkdir "$layers"/{upper,work,root} || { echo "skipped: no right to mount"; exit 0; }
root=$layers/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$layers/upper,workdir=$layers/work" "$root" || { echo "skipped: no overlay file system"; exit 0; }
cp "$package" "$root/weft.deb"
for path in "${@:3}" /tmp/; do
  top=/$(cut -d/ -f2 <<< "$path")
  case "$top" in
    /usr | /lib* | /etc | /bin | /sbin | /var | /opt | /dev | /proc) ;;
    *) mount -t tmpfs tmpfs "$root$top" ;;
  esac
done
mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && chroot "$root" /bin/true || {
  echo "skipped: no right to a root of its own"
  exit 0
}
cat > "$root/tmp/hello.c" << 'PROGRAM'
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
PROGRAM
cat > "$root/tmp/check" << 'CHECK'
set -u
cd /tmp
failures=0
expect() { eval "$2" > /tmp/said 2>&1 || { echo "FAILED: $1: $2"; tail -5 /tmp/said; failures=$((failures + 1)); }; }
[[ -z $(command -v weft) ]] || { echo "skipped: weft is installed here"; exit 0; }
expect "it installs" 'dpkg -i /weft.deb'
expect "it runs" 'weft sim --traffic alltoall:size=20KB,ranks=8 --topology fat_tree:k=4 -q -o run && weft report run -o page.html'
expect "manual pages" '[[ -s /usr/share/man/man1/weft-sim.1.gz ]] && zcat /usr/share/man/man1/weft-sim.1.gz | grep -q "weft sim"'
expect "completion" 'bash -n /usr/share/bash-completion/completions/weft'
expect "plug-ins" 'g++ -std=c++20 -fPIC -shared -I /usr/include/weft /usr/share/doc/weft/examples/my_policy.cc -o policy.so && weft list routing --plugin ./policy.so | grep -q sticky'
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
for mpi in openmpi mpich; do
  expect "a program of $mpi" "mpicc.$mpi hello.c -o $mpi.out && weft trace -o $mpi -- mpirun.$mpi -n 2 ./$mpi.out && weft import mpi $mpi -o $mpi.weft"
done
expect "it goes" 'dpkg -r weft'
expect "whole" '[[ ! -e /usr/bin/weft && ! -e /usr/lib/weft && ! -e /usr/include/weft && ! -e /usr/share/doc/weft ]]'
exit "$failures"
CHECK
chroot "$root" /bin/bash /tmp/check
