#!/bin/bash
# weft goodput: what it says of a time and of runs, and the exit status.
set -u
. tests/tools/weft/expect.sh

expect "nothing fails" 0 '^goodput +100.00%' '' goodput 4s --gpus 8 --mtbf never
expect "what it says itself" 0 '^  a device stops the job every 5.8 y: 419 unexpected' '' goodput 4s --gpus 16384
expect "until steps are done" 0 '^time +2.5 h' '' goodput 9s --gpus 8 --mtbf never --steps 1000
expect "stragglers" 0 '^goodput +80.00%' '' goodput 4s --gpus 8 --mtbf never --slow-steps 0.5 --slow-factor 1.5

# A machine fails every 6 h, a checkpoint takes 5 min, a restart 10: Daly's second case, 57 min.
daly="goodput 1s --gpus 100 --mtbf 600h --restart 10min --checkpoint-write 5min --days 300"
expect "Daly's second case" 0 'best: 56.7 min \(Daly 2006\), 60.0 min' '' $daly
expect "as JSON" 0 '"steps_between": 3403' '' $daly --json -o out.csv
python3 - out.txt out.csv <<'PY' || { echo "FAILED: the values of the JSON"; failed=1; }
import csv, json, math, sys
a = json.load(open(sys.argv[1]))
M, R, c, t = 360, 10, 5, 3403 / 60
expected = t / (M * math.exp(R / M) * math.expm1((t + c) / M))
assert abs(a["closed_form"]["goodput"] / expected - 1) < 1e-9 and a["closed_form"]["exact"], a
assert abs(a["goodput"]["mean"] / expected - 1) < 0.01, a
assert a["goodput"]["low"] < a["goodput"]["mean"] < a["goodput"]["high"], a
assert abs(sum(a["shares"].values()) - 1) < 1e-9, a
rows = list(csv.DictReader(open(sys.argv[2])))
assert [row["seed"] for row in rows] == [str(seed) for seed in range(1, 21)], rows
assert abs(sum(float(row["goodput"]) for row in rows) / 20 - a["goodput"]["mean"]) < 1e-6, rows
spent = sum(float(value) for name, value in rows[0].items() if name.endswith("_s") and name != "elapsed_s")
assert abs(spent / (300 * 86400) - 1) < 1e-6, rows[0]
PY

# 8 GPUs fail every 600 h together: 9 in 20 seeds of 11 days and 6 hours by expectation. None in so many seconds.
few="goodput 1s --gpus 8 --mtbf 4800h --days 11.25"
expect "few failures" 0 '^warning: only [0-9]+ failures in all seeds together: the interval is too narrow; take more days or seeds$' '' $few
expect "no failure" 0 '^warning: no failure in all seeds together' '' goodput 1s --gpus 8 --mtbf 4800h --days 0.001
expect "one seed" 0 '^warning: .* in the one seed: the goodput is one draw' '' $few --seeds 1
expect "few failures, as JSON" 0 '"warnings": \[$' '' $few --json -o out.csv
python3 - out.txt out.csv <<'PY' || { echo "FAILED: the failures of the JSON"; failed=1; }
import csv, json, sys
a = json.load(open(sys.argv[1]))
failures = sum(int(row["device_failures"]) + int(row["link_failures"]) for row in csv.DictReader(open(sys.argv[2])))
assert 0 < failures < 30, failures
assert a["failures"] == failures and len(a["warnings"]) == 1 and f"only {failures} failure" in a["warnings"][0], a
PY
for enough in "goodput 1s --gpus 8 --mtbf 4800h --days 112.5" "goodput 1s --gpus 8 --mtbf never"; do
  expect "enough, or none that could be: $enough" 0 '"warnings": \[\]' '' $enough --json
done

# Asynchronous checkpoints are not begun before the last is safe: 2 s apart by Daly, but written in 100 s.
expect "asynchronous" 0 'a checkpoint every 100 s \(100 steps\), which computing waits 10 us for' '' \
  goodput 1s --gpus 100 --mtbf 6000h --checkpoint-write 100s --asynchronous 10us

# Two steps of 4 GPUs, tp=2 and dp=2: 8 cables, those of a leaf-spine of two leaves.
sim="sim --traffic llm:model=tiny,tp=2,dp=2,iterations=2 --network flow -q"
fabric="--topology leaf_spine:leaves=2,spines=2,hosts_per_leaf=2"
"$weft" $sim $fabric -o RUN || exit 1
"$weft" $sim --topology leaf_spine:leaves=2,spines=2,hosts_per_leaf=2,link=10Gbps -o SLOW || exit 1
expect "a run" 0 '"gpus": 4' '' goodput RUN --elastic --link-failures retire --link-mtbf 8d --degraded SLOW --json --days 3000 --restart 1s
python3 - out.txt RUN SLOW <<'PY' || { echo "FAILED: what it takes of a run"; failed=1; }
import json, math, sys
a = json.load(open(sys.argv[1]))
run, slow = (json.load(open(folder + "/summary.json")) for folder in sys.argv[2:])
assert abs(a["step_s"] / (run["makespan_ns"] * 1e-9 / 2) - 1) < 1e-9, a
assert abs(a["tokens"] / (a["steps"]["mean"] * a["step_s"] * run["tokens_per_second"]) - 1) < 1e-9, a
assert abs(a["degraded_factor"] / (slow["makespan_ns"] / run["makespan_ns"]) - 1) < 1e-9, a
assert any("2 replicas" in each for each in a["assumptions"]), a
assert any("8 cables" in each for each in a["assumptions"]), a
# One of them fails a day, and is down for a day: some is, for 1 - 1/e of the time.
down = (1 - math.exp(-1)) * (1 - 1 / a["degraded_factor"])
assert abs(a["shares"]["degraded"] / down - 1) < 0.03, (a, down)
PY

expect "more replicas" 0 '^tokens ' '' goodput RUN --gpus 4096 --mtbf never --steps 1000
python3 - out.txt RUN <<'PY' || { echo "FAILED: tokens of more replicas"; failed=1; }
import json, re, sys
tokens = float(re.search(r"^tokens +(\S+)", open(sys.argv[1]).read(), re.M)[1])
run = json.load(open(sys.argv[2] + "/summary.json"))
# Two steps of 4 GPUs in the run, 1,000 of 1,024 times as many here.
assert abs(tokens / (run["tokens_per_second"] * run["makespan_ns"] * 1e-9 / 2 * 1024 * 1000) - 1) < 1e-3, tokens
PY
expect "no GPUs" 2 '' 'weft goodput: --gpus: 0 is not a number above 0 ' goodput 4s --gpus 0
expect "half a replica" 2 '' '^weft: --gpus is 3, but a replica of RUN has 2 GPUs$' goodput RUN --gpus 3
expect "no such folder" 2 '' '^weft: nowhere/run: there is no such folder of a run$' goodput nowhere/run
expect "neither run nor time" 2 '' "^weft: the step .no folder of a run. is 'RUM'; expected a time above 0 like 3.9s" goodput RUM
expect "no GPUs" 2 '' '^weft: a time .* use --gpus$' goodput 3s
expect "no unit" 2 '' "^weft: --restart is '5'; expected a time" goodput 3s --gpus 8 --restart 5
expect "not at all" 2 '' "expected a time above 0" goodput 0s --gpus 8
expect "a word" 2 '' "^weft: --link-failures is 'retired'; expected restart or retire$" goodput 3s --gpus 8 --link-failures retired
expect "no effect" 2 '' '^weft: --degraded does nothing without --link-failures' goodput 3s --gpus 8 --degraded 4s
expect "no detection" 2 '' '^weft: --detection does nothing without --link-failures retire' goodput 3s --gpus 8 --link-failures restart --detection 1s
expect "no replicas" 2 '' '^weft: --elastic needs to know how many replicas' goodput 3s --gpus 8 --elastic
expect "faster when degraded" 2 '' 'less than the whole network' goodput 3s --gpus 8 --link-failures retire --degraded 2s
expect "longer than whole" 2 '' 'longer than the 10 s' goodput 3s --gpus 8 --checkpoint-write 10s --asynchronous 20s
expect "no end" 2 '' '^weft: so many steps would take longer' goodput 3s --gpus 1000000 --mtbf 1h --steps 1000
expect "too many" 2 '' '^weft: there would be ' goodput 1us --gpus 8 --checkpoint 1us

# Replicas that go on lose nothing that others don't hold: no checkpoints. With one replica a failure takes all.
expect "elastic" 0 ', failures every 3.1 h,' '' goodput 3.9s --gpus 16384 --elastic --replicas 128
expect "elastic without checkpoints" 0 '^no checkpoints' '' goodput 3.9s --gpus 16384 --elastic --replicas 128
expect "elastic, by the run's failures" 0 '"daly_s": null' '' goodput 3.9s --gpus 16384 --elastic --replicas 128 --json
expect "elastic of one" 0 'best: .* \(Daly 2006\)' '' goodput 3.9s --gpus 128 --elastic --replicas 1 --mtbf 100h --checkpoint-write 60s
expect "more replicas than there are" 2 '' '^weft: --replicas is 4, but the run has 2' goodput RUN --elastic --replicas 4

# ResNet-50's 25,557,032 parameters, 14 bytes each; of a file as of the workload.
"$weft" sim --traffic resnet:ranks=4,iterations=2 --network flow -q $fabric -o RESNET || exit 1
expect "of a resnet" 0 'a checkpoint is 35[78][^ ]* MB: 14 bytes a parameter' '' goodput RESNET --days 1
"$weft" goal gen resnet:ranks=4,iterations=2 -o resnet.weft && "$weft" sim --goal resnet.weft $fabric --network flow -q -o FILE || exit 1
expect "of a file" 0 'a checkpoint is 35[78][^ ]* MB: 14 bytes a parameter' '' goodput FILE --run-steps 2 --days 1
"$weft" sim --traffic permutation:size=8B $fabric --network flow -q -o NOTHING || exit 1
expect "trains nothing" 0 'this run is no training step: its traffic is permutation' '' goodput NOTHING --run-steps 1 --checkpoint 10min --days 1

"$weft" goal gen shift:ranks=4,size=8B -o a.weft && "$weft" sim --goal a.weft $fabric --network flow -q -o GRAPH || exit 1
expect "a graph doesn't tell its steps" 2 '' '^weft: GRAPH: .* use --run-steps$' goodput GRAPH
expect "its steps are told" 0 '^4 GPUs, steps of ' '' goodput GRAPH --run-steps 10 --checkpoint 10min --days 1

exit "$failed"
