#!/bin/bash
# What links carry of each job: all of it is somebody's, whatever the queues, and for any number of threads.
set -u
. tests/tools/weft/expect.sh

two() {
  local folder=$1 network=$2 topology=$3
  shift 3
  expect "$folder" 0 '' '' sim -q --job 'traffic=[alltoall:size=20KB,ranks=8],placement=round_robin' \
    --job 'traffic=[shift:size=100KB,ranks=6],name=shift,placement=random' --topology "$topology" --network "$network" \
    "$@" -o "$folder"
}
tree=fat_tree:k=4 fluids=flow:mtu=4096,header=64
two fifo packet $tree
two packets packet:mtu=4096,header=64,ack=64 $tree --routing ecmp
two flow $fluids $tree --routing ecmp
# Divided evenly, by weights, and, on another network, by what is loaded; around a switch that fails.
two spray $fluids $tree --routing spray
two wcmp $fluids $tree --routing wcmp
two fault $fluids $tree --routing spray --fault 'link=core 0 / *,at=5us'
two balance $fluids dragonfly:p=2 --routing ugal
two threads packet $tree --threads 2 --set network.packet.partitions=4
two priority packet $tree --queue priority
two credit packet $tree --queue credit
two shared packet $tree --queue shared
# Alone each job crosses what its paths have: within a switch of this leaf-spine 2 links, else 4.
near='traffic=[shift:size=100KB,ranks=4]'
far='traffic=[shift:by=4,size=100KB,ranks=8]'
expect "hops" 0 '' '' sim -q --job "$near" --job "$far" --network packet -o hops \
  --topology leaf_spine:leaves=4,spines=2,hosts_per_leaf=4
expect "hops_flow" 0 '' '' sim -q --job "$near" --job "$far" --network flow -o hops_flow \
  --topology leaf_spine:leaves=4,spines=2,hosts_per_leaf=4
python3 - <<'PY' || { echo "FAILED: the jobs' shares of links"; failed=1; }
import collections, csv, json
def rows(path):
    with open(path) as file:
        return list(csv.DictReader(file))
for folder in ("fifo", "threads", "priority", "credit", "shared", "flow", "spray", "wcmp", "fault", "balance"):
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
for folder in ("hops", "hops_flow"):
    assert [float(job["hops"]) for job in rows(f"{folder}/jobs.csv")] == [2, 4], folder
    assert [job["hops"] for job in json.load(open(f"{folder}/summary.json"))["jobs"]] == [2, 4], folder
# As fluids, messages take the ways that their packets take; there are no ACKs, 64 bytes for each 4160.
parts = [{(r["link"], r["job"]): int(r["bytes"]) for r in rows(f"{f}/job_links.csv")} for f in ("packets", "flow")]
most = max(parts[1].values())
assert parts[1].keys() <= parts[0].keys()
assert all(0 <= b - parts[1].get(part, 0) <= 0.04 * most for part, b in parts[0].items())
# What leaves hosts is counted to the byte: 7 messages of 20 kB in 5 packets each, 6 of 100 kB in 25.
def sent(folder, job):
    return sum(int(r["bytes"]) for r in rows(f"{folder}/job_links.csv") if r["job"] == job and r["from"].startswith("host"))
for folder in ("flow", "spray", "wcmp", "fault", "balance"):
    assert [sent(folder, "0"), sent(folder, "1")] == [56 * (20000 + 5 * 64), 6 * (100000 + 25 * 64)], folder
PY
# A job alone has no such table.
expect "alone" 0 '' '' sim -q --traffic shift:size=1KB --topology fat_tree:k=4 -o alone
[[ -e alone/job_links.csv ]] && { echo "FAILED: a table for one job"; failed=1; }
exit "$failed"
