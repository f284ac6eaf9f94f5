#!/bin/bash
# What links carry of each job: all of it is somebody's, whatever the queues, and for any number of threads.
set -u
. tests/tools/weft/expect.sh

two() {
  local folder=$1
  shift
  expect "$folder" 0 '' '' sim -q --job 'traffic=[alltoall:size=20KB,ranks=8],placement=round_robin' \
    --job 'traffic=[shift:size=100KB,ranks=6],name=shift,placement=random' --topology fat_tree:k=4 --network packet \
    "$@" -o "$folder"
}
two fifo
two threads --threads 2 --set network.packet.partitions=4
two priority --queue priority
two credit --queue credit
two shared --queue shared
# Alone each job crosses what its paths have: within a switch of this leaf-spine 2 links, else 4.
near='traffic=[shift:size=100KB,ranks=4]'
far='traffic=[shift:by=4,size=100KB,ranks=8]'
expect "hops" 0 '' '' sim -q --job "$near" --job "$far" --network packet -o hops \
  --topology leaf_spine:leaves=4,spines=2,hosts_per_leaf=4
python3 - <<'PY' || { echo "FAILED: the jobs' shares of links"; failed=1; }
import collections, csv, json
def rows(path):
    with open(path) as file:
        return list(csv.DictReader(file))
for folder in ("fifo", "threads", "priority", "credit", "shared"):
    sums, shares = collections.Counter(), collections.Counter()
    for row in rows(f"{folder}/job_links.csv"):
        sums[row["link"]] += int(row["bytes"])
        shares[row["link"]] += float(row["share"])
    links = {row["link"]: row for row in rows(f"{folder}/links.csv")}
    assert sums == {n: int(row["bytes"]) for n, row in links.items() if row["bytes"] != "0"}, folder
    assert all(abs(share - 1) < 3e-6 for share in shares.values()), folder
    # On the cable of a host there is nobody but its job.
    hosts = {}
    for number, job in enumerate(rows(f"{folder}/jobs.csv")):
        for part in job["hosts"].split():
            first, _, last = part.partition("-")
            hosts.update({f"host {h}": str(number) for h in range(int(first), int(last or first) + 1)})
    cables = [r for r in rows(f"{folder}/job_links.csv") if r["from"] in hosts or r["to"] in hosts]
    assert cables and all(hosts[r["from"] if r["from"] in hosts else r["to"]] == r["job"] for r in cables), folder
# Threads change nothing.
assert rows("fifo/job_links.csv") == rows("threads/job_links.csv")
assert [float(job["hops"]) for job in rows("hops/jobs.csv")] == [2, 4]
assert [job["hops"] for job in json.load(open("hops/summary.json"))["jobs"]] == [2, 4]
PY
# A job alone has no such table.
expect "alone" 0 '' '' sim -q --traffic shift:size=1KB --topology fat_tree:k=4 -o alone
[[ -e alone/job_links.csv ]] && { echo "FAILED: a table for one job"; failed=1; }
exit "$failed"
