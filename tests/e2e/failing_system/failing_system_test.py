"""Every command under faults of the system: full disks, calls that fail, memory that is refused, sudden death.

Afterwards what it wrote is whole, or what was there before, or says that it isn't whole; and it ended with one
line that tells why. README.md says how it is done. By hand as many as wanted:

    failing_system_test.py WEFT LIBRARY --seeds 0-5000
    failing_system_test.py WEFT LIBRARY --every     (each position of each call)
"""

import os
import random
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import commands

# In the order of the library's counters.
CALLS = ["write", "print", "open", "close", "rename", "unlink", "mkdir", "truncate", "sync", "lock", "malloc", "thread"]
FILE_CALLS = ["write", "open", "close", "rename", "unlink", "mkdir", "truncate", "sync", "lock"]
REASONS = {"ENOSPC": "No space left on device", "EIO": "Input/output error", "EDQUOT": "Disk quota exceeded",
           "EAGAIN": "Resource temporarily unavailable", "EMFILE": "Too many open files", "EROFS": "Read-only file system"}
OLD = b"as an earlier command left it\n"
NO_FILTERS = 99  # how the library ends a program where it can't work
HANGS_AFTER_S = 60  # each takes a fraction of a second


@dataclass(frozen=True)
class Fault:
    calls: tuple
    action: str
    first: int
    step: int = 0  # 0: once

    def text(self):
        return f"{','.join(self.calls)}:{self.action}@{self.first}" + (f"+{self.step}" if self.step else "")


@dataclass
class Outcome:
    status: int
    stdout: bytes
    stderr: str
    counts: dict
    faults: int


class Trials:
    def __init__(self, weft, library, folder):
        self.weft, self.library, self.folder = weft, library, folder
        self.place = folder / "place"
        self.counters = folder / "counters"
        self.counters.write_bytes(bytes(4096))
        commands.make_inputs(weft, folder)
        # `weft trace` wants the tracer's libraries; what it runs here makes no use of them.
        for name in ("libweft_trace_mpi.so", "libweft_trace_nccl.so"):
            shutil.copy(library, folder / name)
        self.earlier = folder / "earlier"
        self.earlier.mkdir()
        commands.make_earlier_results(weft, self.earlier)
        self.right = {}  # command: how it ends without faults, and the files then
        self.ran = Counter()
        self.failed = 0

    def environment(self, fault):
        return {"LD_PRELOAD": self.library, "WEFT_FAULT": fault, "WEFT_FAULT_PROGRAM": Path(self.weft).name,
                "WEFT_FAULT_COUNTERS": str(self.counters), "WEFT_TRACER_DIR": str(self.folder)}

    def run(self, command, fault=None):
        """Runs it; without a fault, calls are only counted."""
        self.counters.write_bytes(bytes(4096))
        asked = fault.text() if fault else ",".join(CALLS if command.caught else ["malloc", "thread"]) + ":none@1"
        process = subprocess.Popen([self.weft, *command.arguments], cwd=self.place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, **self.environment(asked)})
        try:
            stdout, stderr = process.communicate(timeout=HANGS_AFTER_S)
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
            return Outcome(-1000, stdout, f"it hangs; {stderr.decode()}", {}, 1)
        numbers = struct.unpack_from(f"<{len(CALLS) + 1}Q", self.counters.read_bytes())
        return Outcome(process.returncode, stdout, stderr.decode(errors="replace"), dict(zip(CALLS, numbers)), numbers[-1])

    def set_up(self, command, fresh):
        """`fresh`: nothing is there from before."""
        commands.renew(self.place, self.earlier if command.folder and not fresh else None)
        for name in () if fresh else command.files:
            (self.place / name).write_bytes(OLD)
        return commands.contents(self.place)

    def expected(self, command):
        if command not in self.right:
            self.set_up(command, False)
            outcome = self.run(command)
            if outcome.status == NO_FILTERS:
                print("skipped: every command under faults of the system: seccomp filters are missing here")
                sys.exit(0)
            if outcome.status != 0:
                sys.exit(f"{command.name()}: status {outcome.status} without any fault: {outcome.stderr}")
            self.right[command] = outcome, commands.contents(self.place)
        return self.right[command]

    def try_fault(self, command, fault, fresh=False, must_fail=False):
        """Says what is wrong. `must_fail`: of this fault nothing but an error can come."""
        right, files = self.expected(command)
        before = self.set_up(command, fresh)
        outcome = self.run(command, fault)
        self.ran[fault.action if outcome.faults else "nothing failed"] += 1
        found = []
        after = commands.contents(self.place)
        if outcome.status == 0 and must_fail:
            found.append("status 0, though a call failed that matters")
        if outcome.status == 0:
            # A lock file that can't be removed holds nothing up.
            whole = {name: what for name, what in after.items() if "unlink" not in fault.calls or name != "RUN/.weft.lock"}
            if whole != files:
                found.append("status 0, but " + difference(whole, files))
            if command.steady and outcome.stdout != right.stdout:
                found.append("status 0, but it printed something else")
        else:
            found += judge_end(command, fault, outcome, right)
            found += judge_files(command, before, after, files)
            sudden = outcome.status == -signal.SIGKILL or "ends at once" in outcome.stderr
            if not sudden and "unlink" not in fault.calls:
                found += [f"{name} is left" for name in left_over(after)]
        if not found and outcome.status != 0:
            again = self.run(command)
            if again.status != 0:
                found.append(f"afterwards it ends with status {again.status}: {again.stderr}")
            elif commands.contents(self.place) != files:
                found.append("afterwards " + difference(commands.contents(self.place), files))
        if found:
            self.failed += 1
            words = [f"{key}={value}" for key, value in self.environment(fault.text()).items() if key.startswith(("LD", "WEFT_FAULT")) and key != "WEFT_FAULT_COUNTERS"]
            print(" ".join(words + [self.weft, *map(shlex.quote, command.arguments)]) + (" (fresh)" if fresh else ""))
            print("".join(f"  {sentence}\n" for sentence in found), end="", flush=True)


def difference(found, expected):
    names = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
    return ", ".join(f"{name} is {'missing' if name not in found else 'left' if name not in expected else 'different'}" for name in names)


def left_over(after):
    return [name for name in after if Path(name).name.startswith(".") or name.endswith(".partial")]


def judge_end(command, fault, outcome, right):
    """How it ended, which was not with 0."""
    if outcome.status == -signal.SIGKILL:
        return [] if fault.action == "kill" else ["it was killed"]
    if fault.action not in REASONS and fault.action != "ENOMEM":
        return [f"status {outcome.status}, though it could go on: {outcome.stderr}"]
    allowed = {4} if fault.calls == ("malloc",) else {2}
    if outcome.status not in allowed:
        return [f"status {outcome.status}: {outcome.stderr!r}"]
    lines = [line for line in outcome.stderr.splitlines() if line not in right.stderr.splitlines()]
    if fault.calls == ("malloc",):  # some libraries tell of it too
        last = lines[-1] if lines else ""
        fine = last.startswith("weft: out of memory") and not any(line.startswith(("weft", "term")) for line in lines[:-1])
        return [] if fine else [f"expected one line of ours that memory is refused, found {lines}"]
    if len(lines) != 1 or not lines[0].startswith("weft: "):
        return [f"expected one more line on standard error, found {lines}"]
    found = [] if REASONS[fault.action] in lines[0] or "print" in fault.calls else [f"the reason is not told: {lines[0]}"]
    places = [*command.files, "RUN", "weft-verify-", "standard output", "thread"]
    return found + ([] if any(place in lines[0] for place in places) else [f"the place is not told: {lines[0]}"])


def judge_files(command, before, after, right):
    """What is there, of which not all may be new."""
    if command.folder:
        if "RUN/INCOMPLETE" in after:
            return []
        visible = {name: what for name, what in after.items() if not Path(name).name.startswith(".")}
        if visible in (before, right):
            return []
        return [f"RUN does not say that it isn't complete; of the earlier results {difference(visible, before)}; "
                f"of the new ones {difference(visible, right)}"]
    return [f"{name} is neither the old one nor the new one" for name in command.files
            if after.get(name) not in (before.get(name), right.get(name))]


def sampled(draw, count, most):
    """Positions of calls, from 1."""
    return range(1, count + 1) if count <= most else sorted(draw.sample(range(1, count + 1), most))


def systematic(trials, command, draw, most):
    """Each kind of fault, at up to `most` positions; of allocations always a sample."""
    counts = trials.expected(command)[0].counts
    if command.caught:
        count = sum(counts[call] for call in FILE_CALLS)
        for position in sampled(draw, count, most):
            trials.try_fault(command, Fault(tuple(FILE_CALLS), "kill", position), fresh=position % 2 == 0)
            trials.try_fault(command, Fault(tuple(FILE_CALLS), "EIO", position), fresh=position % 2 == 1)
            trials.try_fault(command, Fault(tuple(FILE_CALLS), draw.choice(["ENOSPC", "EDQUOT", "EROFS"]), position, 1))
        # The last one that a run closes is its lock, which holds nothing.
        for position in sampled(draw, counts["close"] - (1 if command.folder else 0), most):
            trials.try_fault(command, Fault(("close",), "EIO", position), must_fail=True)
        if count:
            trials.try_fault(command, Fault(("write",), "short", 1, 1))
            trials.try_fault(command, Fault(("write",), "EINTR", 1, 2))
            trials.try_fault(command, Fault(("lock",), "ENOLCK", 1, 1))
        if counts["print"]:
            trials.try_fault(command, Fault(("print",), "short", 1, 1))
            trials.try_fault(command, Fault(("print",), "ENOSPC", 1, 1))
            trials.try_fault(command, Fault(("print",), "EIO", draw.randint(1, counts["print"])))
    for position in sampled(draw, counts["thread"], most):
        trials.try_fault(command, Fault(("thread",), "EAGAIN", position))
    for position in sampled(draw, counts["malloc"], min(most, 6)):
        trials.try_fault(command, Fault(("malloc",), "ENOMEM", position, draw.randint(0, 1)))


def at_random(trials, seed):
    draw = random.Random(seed)
    command = draw.choice(commands.COMMANDS)
    counts = trials.expected(command)[0].counts
    kinds = [("malloc",), ("thread",)] + ([tuple(FILE_CALLS), ("write",), ("print",), ("close",), ("rename",)] if command.caught else [])
    calls = draw.choice([kind for kind in kinds if any(counts[call] for call in kind)])
    action = {"malloc": "ENOMEM", "thread": "EAGAIN"}.get(calls[0]) or draw.choice(["ENOSPC", "EIO", "EDQUOT", "kill"])
    step = 0 if action == "kill" else draw.choice([0, 0, 1, 2, 3])
    position = draw.randint(1, sum(counts[call] for call in calls))
    trials.try_fault(command, Fault(calls, action, position, step), fresh=draw.random() < 0.5)


def main():
    weft, library = (str(Path(word).resolve()) for word in sys.argv[1:3])
    missing = commands.what_is_not_covered(weft)
    for words in missing:
        print(f"commands.py has no 'weft {words}'")
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(weft, library, Path(folder))
        if sys.argv[3:4] == ["--seeds"]:
            first, last = (int(word) for word in sys.argv[4].split("-"))
            for seed in range(first, last + 1):
                at_random(trials, seed)
        else:
            draw = random.Random(1)
            every = sys.argv[3:4] == ["--every"]
            for command in commands.COMMANDS:
                systematic(trials, command, draw, sys.maxsize if every else 10 if command.folder else 4)
        print(f"{sum(trials.ran.values())} trials {dict(sorted(trials.ran.items()))}, {trials.failed} failed")
        # Faults that never act would prove nothing.
        acted = sum(trials.ran.values()) - trials.ran["nothing failed"]
        sys.exit(1 if missing or trials.failed or acted <= trials.ran["nothing failed"] else 0)


if __name__ == "__main__":
    main()
