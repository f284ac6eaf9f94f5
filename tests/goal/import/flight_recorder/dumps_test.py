"""Flight recorders' dumps, written by Python's own pickle and JSON in the form of PyTorch's, imported, replayed, and asked who waits."""

import json
import pickle
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from weft_command import ImportTest  # noqa: E402

MB = 1_000_000


def call(record, sequence, name, created, duration=None, elements=(), dtype="Float", group="0", state="completed", outputs=None, **more):
    """An entry; times in us."""
    made = {"record_id": record, "pg_id": int(group), "process_group": (group, "default_pg"), "collective_seq_id": sequence,
            "p2p_seq_id": 0, "op_id": record, "profiling_name": "nccl:" + name, "time_created_ns": 10**18 + created * 1000,
            "input_sizes": [list(elements)], "input_dtypes": [dtype], "output_sizes": [list(outputs or elements)], "output_dtypes": [dtype],
            "state": state, "time_discovered_started_ns": None, "time_discovered_completed_ns": None, "retired": state == "completed",
            "timeout_ms": 600000, "is_p2p": False, "frames": [{"name": "f\"\\\n", "filename": "é.py", "line": 3}]}
    if duration is not None:
        made["duration_ms"] = duration / 1000
    return made | more


def dump(entries, groups):
    return {"version": "2.4", "pg_config": {name: {"name": name, "desc": "d", "ranks": str(ranks)} for name, ranks in groups.items()},
            "pg_status": {"0": {"last_enqueued_collective": 2}}, "entries": entries, "nccl_comm_state": {}}


FORMS = {"pickle2": lambda d: pickle.dumps(d, 2), "pickle4": lambda d: pickle.dumps(d, 4), "text": lambda d: pickle.dumps(d, 0),
         "json": lambda d: json.dumps(d).encode()}


class Dumps(ImportTest):
    def write(self, ranks, form="pickle2", name="nccl_trace_rank_{}"):
        for rank, (entries, groups) in enumerate(ranks):
            (self.folder / "dumps").mkdir(exist_ok=True)
            (self.folder / "dumps" / name.format(rank)).write_bytes(FORMS[form](dump(entries, groups)))
        return self.folder / "dumps"

    def step(self, rank):
        """100 us of compute, 4 MB allreduced in 1 ms and waited for, 200 us, then a gather among pairs."""
        pair = [rank // 2 * 2, rank // 2 * 2 + 1]
        return ([call(0, 1, "all_reduce", 0, 1000, (1000, 1000)), call(1, 2, "all_reduce", 1200, 500, (250, 1000), "BFloat16"),
                 call(2, 1, "_all_gather_base", 1300, 50, (10,), "Long", group="1", outputs=(20,))],
                {"0": [0, 1, 2, 3], "1": pair})

    def test_sizes_that_are_not_told(self):
        """A dump may lack them; a barrier has none."""
        for sizes, count in ((None, 2), ([], 2), ([[None, 8]], 2), ([[8, 8]], 0)):
            entries = [call(0, 1, "all_reduce", 0, 1000, (8, 8)) | {"input_sizes": sizes, "output_sizes": sizes},
                       call(1, 2, "barrier", 2000, 10) | {"input_sizes": [], "output_sizes": []}]
            said = self.imported(self.write([(entries, {"0": [0, 1]})] * 2))
            self.assertEqual(f"communication_of_unknown_size: {count}." in said, count > 0, said)

    def test_what_is_not_read_is_told(self):
        """Members of dumps, groups and entries; times and sizes stand first. A version that nobody knows, too."""
        entries = [call(0, 1, "all_reduce", 0, 1000, (8,), planned_bytes=7)]
        said = self.imported(self.write([(entries, {"0": [0, 1]})] * 2))
        self.assertIn("(sizes, rates and times first: 3): planned_bytes (2), time_discovered_started_ns (2), timeout_ms (2), "
                      "nccl_comm_state (2), pg_config desc (2), pg_config name (2), pg_status (2), retired (2).", said)
        self.assertNotIn("other_versions", said)
        for rank in range(2):
            (self.folder / f"dumps/nccl_trace_rank_{rank}").write_text(json.dumps(dump(entries, {"0": [0, 1]}) | {"version": "9.1"}))
        self.assertRegex(self.imported(self.folder / "dumps"), r"warning +other_versions: 2\..*\('9.1'\)")

    def test_every_form_gives_the_same_graph(self):
        texts = set()
        for form in FORMS:
            said = self.imported(self.write([self.step(rank) for rank in range(4)], form, "rank_{}." + form if form == "json" else "nccl_trace_rank_{}"))
            self.assertIn("assumed_waits: 4.", said)
            self.assertNotIn("warning", said)
            texts.add(self.text())
            for file in (self.folder / "dumps").iterdir():
                file.unlink()
        self.assertEqual(len(texts), 1)
        words = [line.split(": ", 1)[1] for line in self.ranks()[0] if ": " in line]
        # The second call came 200 us after the first was over; the third 100 us later, while the second went on.
        self.assertEqual([w.split()[1] for w in words if w.startswith("calc")], ["0", "200000", "100000"])
        for part in (f"allreduce {4 * MB}b elem 4", f"allreduce {MB // 2}b elem 2", "allgather 80b"):
            self.assertTrue(any(w.startswith(part) for w in words), (part, words))
        self.assertIn("{ 0 1 }", self.text())
        self.assertIn("{ 2 3 }", self.text())
        self.assertGreater(self.replayed()["makespan_ns"], 300_000)

    def test_waits(self):
        """Two calls far apart: without a network's cost the replay takes the host's time, and twice the calls' with --blocking."""
        entries = [call(0, 1, "all_reduce", 0, 400, (1000,)), call(1, 2, "all_reduce", 100, 400, (1000,)), call(2, 3, "all_reduce", 200, 400, (1000,))]
        path = self.write([(entries, {"0": [0, 1]})] * 2)
        self.imported(path)
        self.weft("sim", "--goal", "x.weft", "--network", "loggops:L=1000000,o=0,g=0,G=0", "-o", "free")
        self.imported(path, "--blocking")
        self.weft("sim", "--goal", "x.weft", "--network", "loggops:L=1000000,o=0,g=0,G=0", "-o", "blocked")
        times = [json.loads((self.folder / name / "summary.json").read_text())["makespan_ns"] for name in ("free", "blocked")]
        # In one stream calls follow each other either way; blocked, the host's twice 100 us between them come on top.
        self.assertEqual(times[1] - times[0], 200_000)

    def test_messages_go_by_ranks_of_their_group(self):
        groups = {"0": [0, 1, 2], "1": [1, 2]}
        first = [call(0, 0, "all_reduce", 0, 5, (8,), collective_seq_id=1)]
        send = [call(0, 0, "all_reduce", 0, 5, (8,), collective_seq_id=1), call(1, 0, "send 0->1", 10, 5, (25,), group="1", is_p2p=True, p2p_seq_id=1)]
        receive = [call(0, 0, "all_reduce", 0, 5, (8,), collective_seq_id=1), call(1, 0, "recv 1<-0", 10, 5, (25,), group="1", is_p2p=True, p2p_seq_id=1)]
        self.imported(self.write([(first, groups), (send, groups), (receive, groups)]))
        self.assertEqual(self.sends(), {(1, 2): 100})

    def test_all_to_alls(self):
        """A list of tensors has one for each rank; of a single one the record has no splits."""
        def ranks(sizes):
            return [([call(0, 1, "all_to_all", 0, 5, dtype="BFloat16") | {"input_sizes": mine, "input_dtypes": ["BFloat16"] * len(mine),
                      "output_sizes": theirs, "output_dtypes": ["BFloat16"] * len(mine)}], {"0": [0, 1]}) for mine, theirs in sizes]
        said = self.imported(self.write(ranks([([[1000], [24]], [[1000], [24]]), ([[24], [3, 500]], [[24], [3, 500]])])))
        self.assertNotIn("assumed_splits", said)
        self.replayed()
        self.assertEqual(self.flows()[0], {(0, 1): 48, (1, 0): 48})
        said = self.imported(self.write(ranks([([[1024]], [[1024]])] * 2)))
        self.assertIn("assumed_splits: 2.", said)
        self.replayed()
        self.assertEqual(self.flows()[0], {(0, 1): 1024, (1, 0): 1024})

    def test_shares_that_differ(self):
        """1000 and 1500 floats in, 2500 out, and the reverse."""
        def ranks(second):
            return [([call(0, 1, "all_gather", 0, 5, (mine,), outputs=(2500,)), call(1, 2, "reduce_scatter", 10, 5, (2500,), outputs=(mine,))],
                     {"0": [0, 1]}) for mine in (1000, second)]
        self.imported(self.write(ranks(1500)))
        for rank in self.ranks():
            words = " ".join(rank)
            self.assertIn("allgather [4000 6000]b", words)
            self.assertIn("reduce_scatter [4000 6000]b", words)
        self.assertIn("of 10000 bytes in all, but the shares of its 2 ranks, 4000 bytes here, have 10400", self.refused(self.write(ranks(1600))))

    def test_names_that_say_nothing(self):
        entries = [call(0, 1, "all_reduce", 0, 10, (100,)), call(1, 2, "foo", 50, 10, (100,)), call(2, 2, "bar", 70, 10, (100,), is_p2p=True)]
        said = self.imported(self.write([(entries, {"0": [0, 1]})] * 2))
        self.assertIn("unknown_calls: 4.", said)
        self.assertIn("'nccl:bar', 'nccl:foo'", said)
        self.assertNotIn("without_partner", said)
        self.assertNotIn("without_peer", said)

    def test_a_job_that_hangs_with_dropped_calls(self):
        """Rank 1 went on, and its recorder keeps calls 6 to 9 only; rank 2 ended at 4, of which its recorder keeps 3 and 4."""
        kept = {0: range(1, 9), 1: range(6, 10), 2: range(3, 5)}
        path = self.write([([call(number - 1, number, "all_reduce", 100 * number, 10 if number < 5 else None, (100,),
                                  state="completed" if number < 5 else "started" if number == 5 else "scheduled")
                             for number in kept[rank]], {"0": [0, 1, 2]}) for rank in kept])
        told = json.loads(self.weft("trace", "info", path, "--json"))["stuck"]
        self.assertEqual([(each["sequence"], each["waiting"], each["missing"], each["dropped"]) for each in told], [(5, [0], [2], [1])])
        self.assertIn("no longer in the dump, which keeps later calls only, of rank: 1", self.weft("trace", "info", path))

    def test_a_job_that_hangs(self):
        """Rank 2 never came to the second call, rank 3 called something else there."""
        def entries(rank):
            made = [call(0, 1, "all_reduce", 0, 10, (100,))]
            if rank == 3:
                made.append(call(1, 2, "broadcast", 50, None, (100,), state="scheduled"))
            elif rank != 2:
                made.append(call(1, 2, "all_reduce", 50, None, (100,), state="started"))
            return made
        path = self.write([(entries(rank), {"0": [0, 1, 2, 3]}) for rank in range(4)])
        said = self.weft("trace", "info", path)
        for part in ("collective 2 of group '0' (nccl:all_reduce, 400 bytes) is not over", "waiting in it of 2 ranks: 0, 1",
                     "never called it of rank: 2", "called something else in its place of rank: 3"):
            self.assertIn(part, said)
        told = json.loads(self.weft("trace", "info", path, "--json"))
        self.assertEqual(told["stuck"], [{"group": "0", "name": "nccl:all_reduce", "sequence": 2, "bytes": 400, "waiting": [0, 1],
                                          "missing": [2], "others": [3], "dropped": [], "no_dump": []}])
        said = self.imported(path)
        self.assertIn("calls_without_partner: 3.", said)
        self.assertEqual(sum("allreduce" in line for line in self.ranks()[0]), 1)

    def test_ranks_that_call_something_else(self):
        """One rank gathers where the others reduce: neither can be replayed, what came before can."""
        ranks = [([call(0, 1, "all_reduce", 0, 10, (100,)), call(1, 2, "all_gather" if rank == 2 else "all_reduce", 50, None, (100,), state="started")],
                  {"0": [0, 1, 2]}) for rank in range(3)]
        self.assertIn("calls_without_partner: 3. Collectives that some ranks' dumps lack", self.imported(self.write(ranks)))
        self.assertEqual([sum("all" in line for line in rank) for rank in self.ranks()], [1, 1, 1])

    def simulated(self, latency_us):
        """The makespan in us where a message takes that long, and nothing else costs anything."""
        self.weft("sim", "--goal", "x.weft", "--network", f"loggops:L={latency_us * 1000},o=0,g=0,G=0", "-o", "run")
        return json.loads((self.folder / "run/summary.json").read_text())["makespan_ns"] / 1000

    def test_batches_of_messages(self):
        """As PyTorch leaves batch_isend_irecv: its members stay 'scheduled' and untimed, the bracket has state and time."""
        def batch(rank, record, at, number):
            shared = {"p2p_seq_id": number, "is_p2p": True}
            member = shared | {"state": "scheduled"}
            # The receive first: one after the other, each rank of the ring would wait for the one before it.
            return [call(record, 0, f"recv {rank}<-{(rank - 1) % 4}", at, None, (25,), **member),
                    call(record + 1, 0, f"send {rank}->{(rank + 1) % 4}", at + 1, None, (25,), **member),
                    call(record + 2, 0, "coalesced", at + 2, 300, **shared) | {"input_sizes": [], "output_sizes": []}]
        path = self.write([(batch(rank, 0, 0, 1) + batch(rank, 3, 500, 2), {"0": [0, 1, 2, 3]}) for rank in range(4)])
        said = self.imported(path)
        self.assertNotIn("warning", said)
        self.assertNotIn("untimed", said)
        self.assertEqual(self.sends(), {(rank, (rank + 1) % 4): 200 for rank in range(4)})
        # The host's 2 us to the first bracket, 100 to have the messages, its 200 from their end (302) to the second's (502), 100.
        self.assertEqual(self.simulated(100), 2 + 100 + 200 + 100)
        told = json.loads(self.weft("trace", "info", path, "--json"))
        self.assertEqual((told["stuck"], told["stuck_messages"]), ([], []))

    def test_coalesced_collectives(self):
        def entries(state):
            return [call(0, 1, "_all_gather_base", 0, None, (1000,), outputs=(2000,), state="scheduled"),
                    call(1, 1, "_all_gather_base", 1, None, (3000,), outputs=(6000,), state="scheduled"),
                    call(2, 1, "coalesced", 2, 50 if state == "completed" else None, state=state),
                    call(3, 2, "all_reduce", 100, 10, (8,))]
        path = self.write([(entries("completed"), {"0": [0, 1]})] * 2)
        said = self.imported(path)
        self.assertNotIn("calls_under_way", said)
        self.assertEqual([sum(f"allgather {4 * n}b" in line for line in self.ranks()[0]) for n in (1000, 3000)], [1, 1])
        # The host waits for both: from their end (52) to 100 it computes 48 us.
        self.assertTrue(any(line.endswith(": calc 48000") for line in self.ranks()[0]), self.text())
        self.assertIn("every collective that was kept is over", self.weft("trace", "info", path))
        said = self.weft("trace", "info", self.write([(entries("started"), {"0": [0, 1]})] * 2))
        self.assertIn("collective 1 of group '0' (nccl:_all_gather_base, 12000 bytes) is not over", said)

    def test_messages_outside_of_a_batch(self):
        """PyTorch has a stream for each peer: a ring of receives, each asked for before the send, goes on."""
        ranks = [([call(0, 0, f"recv {rank}<-{(rank - 1) % 3}", 0, 50, (25,), is_p2p=True, p2p_seq_id=1),
                   call(1, 0, f"send {rank}->{(rank + 1) % 3}", 10, 50, (25,), is_p2p=True, p2p_seq_id=2)], {"0": [0, 1, 2]}) for rank in range(3)]
        path = self.write(ranks)
        self.imported(path)
        self.assertEqual(self.simulated(100), 10 + 100)
        for entries, _ in ranks[1:2]:
            entries[0] |= {"state": "started", "duration_ms": None}
        path = self.write(ranks)
        said = self.weft("trace", "info", path)
        self.assertIn("messages that are not over: 1\n  rank 1: nccl:recv 1<-0 of group '0', 100 bytes, number 1", said)
        told = json.loads(self.weft("trace", "info", path, "--json"))
        self.assertEqual(told["stuck_messages"], [{"group": "0", "name": "nccl:recv 1<-0", "rank": 1, "sequence": 1, "bytes": 100}])

    def test_messages_of_a_recorder_that_kept_the_last(self):
        """Rank 1 no longer has its receive of the first send: the last ones belong together."""
        sends = [call(i, 0, "send 0->1", 1000 * i, 50, (25,), is_p2p=True, p2p_seq_id=i + 1) for i in range(2)]
        receive = call(7, 0, "recv 1<-0", 900, 50, (25,), is_p2p=True, p2p_seq_id=2)
        groups = {"0": [0, 1]}
        self.assertIn("communication_without_partner: 1.", self.imported(self.write([(sends, groups), ([receive], groups)])))
        # The first stays compute of 50 us, the host goes on for 950 until it sends, and 100 us later the message is there.
        self.assertEqual(self.simulated(100), 50 + 950 + 100)

    def test_a_recorder_that_kept_the_last_calls(self):
        ranks = [([call(i, i + 1, "all_reduce", 100 * i, 10, (100,)) for i in range(first, 6)], {"0": [0, 1]}) for first in (2, 3)]
        said = self.imported(self.write(ranks))
        self.assertIn("kept_last_calls: 2.", said)
        self.assertIn("calls_without_partner: 1.", said)
        self.assertEqual([sum("allreduce" in line for line in rank) for rank in self.ranks()], [3, 3])

    def test_several_files(self):
        path = self.write([self.step(rank) for rank in range(4)])
        self.weft("import", "flight_recorder", *sorted(path.iterdir()), "-o", "x.weft")
        self.assertEqual(len(self.ranks()), 4)
        self.assertIn("the dump of rank 1 is missing (1 of 4 ranks have one)", self.refused(path / "nccl_trace_rank_0"))

    def test_what_is_refused(self):
        good = dump(*self.step(0))
        def said(data, name="nccl_trace_rank_0"):
            (self.folder / name).write_bytes(data)
            return self.weft("import", "flight_recorder", name, "-o", "x.weft", status=2)
        for cut in range(1, len(pickle.dumps(good, 2)) - 1, 97):
            self.assertIn("nccl_trace_rank_0", said(pickle.dumps(good, 2)[:cut]))

        class Evil:
            def __reduce__(self):
                return print, ("run",)
        self.assertIn("only plain data is read", said(pickle.dumps(good | {"x": Evil()}, 4)))
        loop = []
        for _ in range(40):
            loop = [loop, loop]
        self.assertIn("unfolds to more than", said(pickle.dumps(good | {"x": loop}, 4)))
        ring = []
        ring.append(ring)
        self.assertIn("values stand in more than 64 others", said(pickle.dumps(good | {"x": ring}, 2)))
        self.assertIn("a whole number of more than 64 bits", said(pickle.dumps(good | {"x": 1 << 70}, 2)))
        broken = dump([call(0, 1, "all_reduce", 0, 1, (8,), record_id="first")], {"0": [0]})
        self.assertIn("'record_id' is 'first', where a whole number from 0 is expected", said(json.dumps(broken).encode()))
        for more, words in (({"input_sizes": [[-8]]}, "'input_sizes' has a size '-8', where a whole number from 0 is expected"),
                            ({"duration_ms": "long"}, "'duration_ms' is 'long', where a number of milliseconds from 0 is expected")):
            self.assertIn(words, said(json.dumps(dump([call(0, 1, "all_reduce", 0, 1, (8,)) | more], {"0": [0]})).encode()))
        self.assertIn("'rank' is '-5', where a whole number from 0 is expected", said(json.dumps(good | {"rank": -5}).encode()))
        self.assertIn("the recorder kept no calls", said(pickle.dumps({"version": 5}, 2)))
        broken = dump([call(0, 1, "all_reduce", 0, 1, (8,), state="lost")], {"0": [0]})
        self.assertIn("'state' is 'lost'", said(json.dumps(broken).encode()))
        for name in ("one", "nccl_trace_rank_0"):
            (self.folder / name).write_bytes(json.dumps(dump([], {"0": [0]})).encode())
        self.assertIn("says of which rank it is", self.weft("import", "flight_recorder", "one", "nccl_trace_rank_0", "-o", "x.weft", status=2))


if __name__ == "__main__":
    unittest.main()
