"""weft explain: what it says of runs whose time is known in closed form, and what it refuses."""

import csv
import json
import unittest

from weft_command import WeftTest

TREE = ["--topology", "fat_tree:k=4,link=100Gbps"]


class Explain(WeftTest):
    def explain(self, *options, sim):
        self.weft("sim", *sim, "-q", "-o", "RUN")
        return json.loads(self.weft("explain", "RUN", "--json", *options).stdout)

    def csv(self, name):
        with open(self.folder / name, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_shares_and_reruns_of_each_level(self):
        for network in (["--network", "flow", *TREE], TREE):
            with self.subTest(network=network):
                told = self.explain(sim=["--traffic", "stencil:dims=2d,iterations=5,compute=300us,ranks=16", *network])
                self.assertEqual(told["bound_by"], "compute")
                self.assertAlmostEqual(sum(told["critical_path"].values()), 1, 9)
                self.assertEqual(list(told["critical_path"]), ["compute", "overhead", "latency", "bandwidth", "queueing", "matching"])
                self.assertEqual(told["jobs"][0]["bound_by"], "compute")
                # Half of 1.5 ms is gained, and nothing else is worth as much.
                best = told["what_would_help"][0]
                self.assertEqual(best["change"], "compute_x2")
                self.assertAlmostEqual(best["gain"] * told["makespan_ns"], 750000, delta=20000)
                self.assertEqual(told["bounds"]["compute_ns"], 1500000)
                for bound in told["bounds"].values():
                    self.assertLessEqual(bound, told["makespan_ns"])
                self.assertEqual(told["remarks"], [])

    def test_tolerance_is_exact_where_time_is_linear(self):
        # There and back ten times: 20 (2 o + L + 999 G) = 20 (600 + 2000 + 999 / 2) ns.
        told = self.explain("--tolerance", sim=["--traffic", "ping_pong:sizes=1000B,iterations=10,ranks=2", "--network",
                                                "loggops:L=2000,o=300,g=0,G=0.5,O=0,S=1MB"])
        time = 20 * (600 + 2000 + 999 / 2)
        self.assertEqual(told["makespan_ns"], time)
        self.assertEqual([each["at_least"] for what in told["tolerance"].values() for each in what], 6 * [False])
        for each in told["tolerance"]["latency"]:
            self.assertAlmostEqual(each["factor"], 1 + each["slowdown"] * time / (20 * 2000), delta=0.011)
        for each in told["tolerance"]["bandwidth"]:
            self.assertAlmostEqual(each["factor"], 1 + each["slowdown"] * time / (20 * 999 / 2), delta=0.02)
        gains = {each["change"]: each["gain"] for each in told["what_would_help"]}
        self.assertAlmostEqual(gains["no_latency"], 20 * 2000 / time, 3)
        self.assertAlmostEqual(gains["no_overhead"], 20 * 600 / time, 3)
        self.assertAlmostEqual(gains["bandwidth_x4"], 0.75 * 20 * 999 / 2 / time, 3)
        self.assertEqual(gains["compute_x2"], 0)

    def test_tolerance_beyond_what_is_tried_is_told(self):
        # A network without a latency bears any.
        sim = ["--traffic", "ping_pong:sizes=1000B,iterations=10,ranks=2", "--network", "loggops:L=0,o=300,g=0,G=0.5,O=0,S=1MB"]
        told = self.explain("--tolerance", sim=sim)["tolerance"]
        self.assertEqual([(each["factor"], each["at_least"]) for each in told["latency"]], 3 * [(2 * 4**9, True)])
        self.assertEqual([each["at_least"] for each in told["bandwidth"]], 3 * [False])

    def test_what_channels_cost_goes_with_the_overhead(self):
        # 8 ranks hand 576,000 bytes on in one chunk: 5 us of launch, then a step of 1 us and copies of 57.6 us on each.
        told = self.explain(sim=["--traffic", "collective:kind=bcast,size=576000B,ranks=8", "--network", "flow", "--topology", "scale_up:node=dgx_h100",
                                 "--set", "collectives.profile=nccl:launch=5us,step=1us,copy=10GB/s",
                                 "--set", "collectives.bcast=nccl_ring:chunk=576000B,channels=1"])
        self.assertEqual(told["bound_by"], "overhead")
        best = told["what_would_help"][0]
        self.assertEqual(best["change"], "no_overhead")
        self.assertGreater(best["gain"] * told["makespan_ns"], 5000 + 7 * 58600)

    def test_a_rank_is_as_long_as_its_first_cpu_computes(self):
        told = self.explain(sim=["--traffic", "llm:model=tiny,tp=2,dp=2,micro_batches=2", "--network", "flow",
                                               "--topology", "scale_up:node=dgx_h100"])
        run = json.loads((self.folder / "RUN/summary.json").read_text(encoding="utf-8"))
        self.assertGreater(run["first_cpu"]["compute_share"], 0.1)
        share = told["bounds"]["compute_ns"] / run["makespan_ns"]
        self.assertLess(share, run["first_cpu"]["compute_share"])
        self.assertGreater(share, run["first_cpu"]["compute_share"] / 1.16)

    def test_each_job_has_its_cause(self):
        told = self.explain(sim=["--job", "traffic=[alltoall:size=1MB,ranks=8],name=busy", "--job",
                                 "traffic=[stencil:dims=2d,iterations=5,compute=300us,ranks=4],name=calm", *TREE])
        self.assertEqual([job["bound_by"] for job in told["jobs"]], ["bandwidth", "compute"])
        self.assertIn("bound_by", (self.folder / "RUN/jobs.csv").read_text().splitlines()[0])
        text = self.weft("explain", "RUN", "--no-rerun").stdout
        self.assertIn("busy is bound by bandwidth", text)
        self.assertIn("calm is bound by compute", text)

    def where(self, *sim, job=0):
        told = self.explain(sim=sim)
        where = told["jobs"][job]["where"]
        for name, shares in where.items():
            self.assertAlmostEqual(sum(each["share"] for each in shares), 1, 9, name)
            largest = [each["share"] for each in shares if "others" not in each]
            self.assertEqual(largest, sorted(largest, reverse=True))
            self.assertFalse(any("others" in each for each in shares[:len(largest)]))
        return told, where

    def test_where_a_chain_of_ranks_spends_its_time(self):
        # Rank 0 computes 10 us, rank 1 30 us, then rank 2 60 us, with a message in between: what is on its way
        # to a rank is that rank's.
        (self.folder / "a.goal").write_text(
            "num_ranks 3\nrank 0 {\nl1: calc 10000\nl2: send 50000b to 1 tag 1\nl2 requires l1\n}\n"
            "rank 1 {\nl1: recv 50000b from 0 tag 1\nl2: calc 30000\nl3: send 50000b to 2 tag 2\nl2 requires l1\nl3 requires l2\n}\n"
            "rank 2 {\nl1: recv 50000b from 1 tag 2\nl2: calc 60000\nl2 requires l1\n}\n")
        told, where = self.where("--goal", "a.goal", "--set", "hosts.S=1MB", "--set", "hosts.o=0ns", *TREE)
        makespan = told["makespan_ns"]
        ranks = {each["rank"]: each["share"] * makespan for each in where["ranks"]}
        self.assertEqual(list(ranks), [2, 1, 0])
        self.assertAlmostEqual(ranks[0], 10000, 3)
        self.assertAlmostEqual(sum(ranks.values()), makespan, 3)
        self.assertGreater(ranks[1], 30000)
        self.assertGreater(ranks[2], 60000)
        what = {each["kind"]: each for each in where["activities"]}
        self.assertEqual({kind: each["count"] for kind, each in what.items()}, {"computation": 3, "point to point": 2})
        self.assertAlmostEqual(what["computation"]["share"] * makespan, 100000, 3)
        on_links = sum(told["critical_path"][part] for part in ("bandwidth", "queueing"))
        links = {each["from"]: each["share"] for each in where["links"] if "from" in each}
        self.assertAlmostEqual(sum(links.values()), on_links, 9)
        self.assertEqual(where["links"][-1]["others"], "no link: work of hosts, latency")

    def test_where_collectives_and_a_shared_link_show(self):
        # Fifteen senders to one host: its link is the fullest of each way, and all that isn't latency is there.
        told, where = self.where("--traffic", "incast:n=15,size=100kB,ranks=16", *TREE)
        self.assertEqual([each["to"] for each in where["links"] if "to" in each], ["host 0"])
        # Five allreduces: each is counted once, whichever ranks the path meets it on.
        for network in (["--network", "flow", *TREE], TREE, ["--network", "loggops:L=2000,o=300,g=0,G=0.5,O=0,S=1MB"]):
            told, where = self.where("--traffic", "collective:size=1MB,iterations=5,compute=10us,ranks=16", *network)
            what = {each["kind"]: each for each in where["activities"]}
            self.assertEqual(what["allreduce"]["count"], 5)
            self.assertEqual(what["computation"]["count"], 5)
            self.assertAlmostEqual(what["computation"]["share"] * told["makespan_ns"], 50000, 3)

    def test_where_jobs_stand(self):
        # The second starts at 3 ms, and lasts as long as its five times 300 us; the first is done long before.
        told, where = self.where("--job", "traffic=[alltoall:size=1kB,ranks=4],name=early", "--job",
                                 "traffic=[stencil:dims=2d,iterations=5,compute=300us,ranks=4],name=late,at=3ms", *TREE, job=1)
        late, before = told["by_job"]
        self.assertEqual((late["name"], before["others"]), ("late", "before it was submitted"))
        self.assertAlmostEqual(before["share"] * told["makespan_ns"], 3e6, 3)
        self.assertAlmostEqual(late["share"] + before["share"], 1, 9)
        text = self.weft("explain", "RUN").stdout
        self.assertIn("by rank", text)
        self.assertIn("by job", text)

    def test_bisection_bound_in_closed_form(self):
        # All-to-all of b bytes on n hosts: (n / 2)^2 b cross in either direction.
        for topology, hosts, crossing_gbps in (
                ("fat_tree:k=4,oversubscription=4,link=100Gbps", None, None),
                ("torus:dims=[8],link=100Gbps", 8, 2 * 100), ("torus:dims=[4,4],link=100Gbps", 16, 2 * 4 * 100)):
            told = self.explain(sim=["--traffic", "alltoall:size=100kB", "--topology", topology, "--network", "flow"])
            if hosts is None:
                info = json.loads(self.weft("topo", "analyze", topology, "--only", "bisection", "--json").stdout)
                hosts = info["endpoints"]
                crossing_gbps = hosts / 2 * 100 / 4
            self.assertAlmostEqual(told["bounds"]["bisection_ns"] * crossing_gbps, 8 * (hosts / 2)**2 * 100000, delta=1)
            self.assertLessEqual(told["bounds"]["bisection_ns"], told["makespan_ns"])

    def test_a_bound_left_out_is_told(self):
        # What it keeps of messages follows from how many the run says it had.
        for topology, divides in (("torus:dims=[8],link=100Gbps", True), ("single_switch:hosts=8", False)):
            self.weft("sim", "--traffic", "alltoall:size=100kB", "--topology", topology, "--network", "flow", "-q", "-o", "RUN")
            for messages in (10**7, 10**7 + 1):
                with self.subTest(topology=topology, messages=messages):
                    summary = json.loads((self.folder / "RUN/summary.json").read_text(encoding="utf-8"))
                    (self.folder / "RUN/summary.json").write_text(json.dumps(summary | {"messages": messages}), encoding="utf-8")
                    told = json.loads(self.weft("explain", "RUN", "--json").stdout)
                    self.assertEqual("bisection_ns" in told["bounds"], divides and messages == 10**7)
                    is_told = [remark for remark in told["remarks"] if "two halves of the hosts is left out" in remark] != []
                    self.assertEqual(is_told, divides and messages > 10**7)
                    self.assertEqual("two halves of the hosts is left out" in self.weft("explain", "RUN").stdout, is_told)

    def test_a_wait_for_the_window_is_named(self):
        # There and back 1 MB takes 20 us of two links each, and 20 us of its bytes. Windows of 10 packets of 4 KiB, which
        # double with each round trip of 80 us, hold the 245 packets in 10 + 20 + 40 + 80 + 160: the last waits for 4.
        sim = ["--traffic", "ping_pong:ranks=2,sizes=1MB", "--topology", "single_switch:hosts=2,link=400Gbps,latency=20us"]
        told = self.explain(sim=[*sim, "--congestion", "newreno"])
        best = {each["change"]: each for each in told["what_would_help"]}["constant_window"]
        self.assertAlmostEqual(told["makespan_ns"] - best["makespan_ns"], 2 * 4 * 80000, delta=0.05 * 2 * 4 * 80000)
        self.assertAlmostEqual(best["makespan_ns"], 2 * (40000 + 20000), delta=3000)
        self.assertIn("for the congestion window of newreno", "".join(told["remarks"]))
        # The same as a run of its own; of that there is no window to speak of.
        told = self.explain(sim=[*sim, "--congestion", "fixed_window"])
        self.assertEqual(told["makespan_ns"], best["makespan_ns"])
        self.assertNotIn("constant_window", [each["change"] for each in told["what_would_help"]])

    def test_queues_are_no_wait_for_windows(self):
        # Seven hosts send one 1 MB each: its link is full all the time, whatever the windows.
        told = self.explain(sim=["--traffic", "incast:size=1MB,n=7", "--topology", "single_switch:hosts=8,link=100Gbps", "--congestion", "swift"])
        gains = {each["change"]: each["gain"] for each in told["what_would_help"]}
        self.assertLess(gains["constant_window"], 0.1)
        self.assertNotIn("congestion window", "".join(told["remarks"]))

    def test_settings_that_changed_nothing(self):
        def told(*sim):
            return [each["setting"] for each in self.explain(sim=sim)["without_effect"]]

        calm = ["--traffic", "ping_pong:sizes=1000B,iterations=3,ranks=2", *TREE]
        busy = ["--traffic", "incast:n=15,size=1MB,ranks=16", *TREE]
        control = ["--congestion", "dctcp", "--set", "network.packet.min_timeout=50us"]
        self.assertEqual(told(*calm, *control), ["congestion=dctcp", "network.packet.min_timeout=50us"])
        self.assertEqual(told(*busy, *control), [])
        self.assertGreater(json.loads((self.folder / "RUN/summary.json").read_text())["signals"]["timeout"], 0)
        # Two hosts at one switch have one path; hosts of different pods four.
        self.assertEqual(told(*calm, "--routing", "d_mod_k"), ["routing=d_mod_k"])
        self.assertEqual(told("--traffic", "permutation:size=1MB", *TREE, "--routing", "d_mod_k"), [])
        # Messages of 1,000 bytes are near no limit of 5,000; those of 10,000 bytes are above it.
        self.assertEqual(told(*calm, "--set", "hosts.S=5kB"), ["hosts.S=5kB"])
        self.assertEqual(told("--traffic", "ping_pong:sizes=10kB,iterations=3,ranks=2", *TREE, "--set", "hosts.S=5kB"), [])
        # A queue that is never so long; one that is.
        self.assertEqual(told(*calm, "--congestion", "dctcp", "--set", "queue.ecn.kmin=50kB"), ["congestion=dctcp", "queue.ecn.kmin=50kB"])
        self.assertEqual(told(*busy, "--congestion", "dctcp", "--set", "queue.ecn.kmin=10kB"), [])
        self.assertEqual(told(*calm), [])
        # Virtual channels that the run chose are nobody's setting.
        self.assertEqual([each for each in told(*calm, "--queue", "credit") if each.startswith("queue")], [])
        self.assertGreater(json.loads((self.folder / "RUN/summary.json").read_text())["queue_reason"], "")

    def without_effect(self, *sim):
        return [each["setting"] for each in self.explain(sim=sim)["without_effect"]]

    def test_collectives_that_do_not_occur_or_are_as_they_would_be(self):
        # 4 ranks: in a ring six steps of a quarter, by recursive doubling two of the whole.
        allreduce = ["--traffic", "collective:kind=allreduce,size=1MB,ranks=4", *TREE]
        told = [self.explain(sim=[*allreduce, "--set", f"collectives.allreduce={name}"]) for name in ("ring", "recursive_doubling")]
        self.assertNotEqual(told[0]["makespan_ns"], told[1]["makespan_ns"])
        usual = self.explain(sim=allreduce)
        self.assertEqual(usual["without_effect"], [])
        for name, each in zip(("ring", "recursive_doubling"), told):
            named = [f"collectives.allreduce={name}"] if each["makespan_ns"] == usual["makespan_ns"] else []
            self.assertEqual([row["setting"] for row in each["without_effect"]], named)
        # Point to point there is none; nor is a broadcast an allreduce.
        other = ["--set", "collectives.allreduce=ring"]
        self.assertEqual(self.without_effect("--traffic", "ping_pong:sizes=1000B,iterations=3,ranks=2", *TREE, *other), ["collectives.allreduce=ring"])
        self.assertEqual(self.without_effect("--traffic", "collective:kind=bcast,size=1MB,ranks=4", *TREE, *other), ["collectives.allreduce=ring"])
        # Of two jobs one has it.
        pair = ["--job", "traffic=[ping_pong:sizes=1000B,iterations=3,ranks=2],name=a", "--job"]
        self.assertEqual(self.without_effect(*pair, "traffic=[collective:kind=allreduce,size=1MB,ranks=4],name=b", *TREE,
                                             "--set", f"collectives.allreduce={'ring' if told[0]['makespan_ns'] != usual['makespan_ns'] else 'recursive_doubling'}"), [])
        self.assertEqual(self.without_effect(*pair, "traffic=[ping_pong:sizes=2000B,iterations=3,ranks=2],name=b", *TREE, *other),
                         ["collectives.allreduce=ring"])

    def test_hosts_of_several_jobs(self):
        # Messages of 1,000 and 2,000 bytes are near no limit of 5,000; those of 10,000 bytes are above it.
        pair = ["--job", "traffic=[ping_pong:sizes=1000B,iterations=3,ranks=2],name=a", "--job"]
        limit = [*TREE, "--set", "hosts.S=5kB"]
        self.assertEqual(self.without_effect(*pair, "traffic=[ping_pong:sizes=2000B,iterations=3,ranks=2],name=b", *limit), ["hosts.S=5kB"])
        self.assertEqual(self.without_effect(*pair, "traffic=[ping_pong:sizes=10kB,iterations=3,ranks=2],name=b", *limit), [])

    def test_placement_where_there_is_no_choice(self):
        # All hosts of a switch are alike; those of a tree are two, four or six links from each other.
        pair = ["--traffic", "ping_pong:sizes=1000B,iterations=3,ranks=2"]
        switch = ["--topology", "single_switch:hosts=8,link=100Gbps"]
        for placement in "random", "packed":
            self.assertEqual(self.without_effect(*pair, *switch, "--placement", placement), ["placement=" + placement])
        # Every rank on the one host that they share.
        together = ["--traffic", "ping_pong:sizes=1000B,iterations=3,ranks=2", "--topology", "single_switch:hosts=1,link=100Gbps", "--set", "hosts.ranks_per_host=2"]
        self.assertIn("placement=packed", self.without_effect(*together, "--placement", "packed"))
        # Sixteen neighbours of a stencil over pods, or scattered.
        spread = ["--traffic", "stencil:dims=2d,iterations=2,compute=10us,ranks=16", *TREE]
        for placement in "random", "packed":
            self.assertEqual(self.without_effect(*spread, "--placement", placement), [])

    def test_seeds_nics_connections_and_times(self):
        pair = ["--traffic", "ping_pong:sizes=1000B,iterations=3,ranks=2", *TREE]
        self.assertEqual(self.without_effect(*pair, "--seed", "7"), ["seed=7"])
        # The seed draws who sends to whom, in traffic that is generated.
        self.assertEqual(self.without_effect("--traffic", "permutation:size=1MB", *TREE, "--seed", "7"), [])
        # Hosts with one NIC, and with several.
        nics = ["--set", "network.packet.nic_choice=round_robin"]
        self.assertEqual(self.without_effect(*pair, *nics), ["network.packet.nic_choice=round_robin"])
        self.assertEqual(self.without_effect("--traffic", "alltoall:size=1MB,ranks=4", "--topology", "multi_plane:planes=2,k=4", *nics), [])
        # Each host sends one message: it has a connection for itself either way. Six that share two don't.
        self.assertEqual(self.without_effect("--traffic", "permutation:size=1MB", "--network", "flow", *TREE, "--set", "connections=per_pair"),
                         ["connections=per_pair"])
        self.assertEqual(self.without_effect(*pair, "--set", "connections=per_message"), [])
        # Nothing is computed, or 300 us are.
        self.assertEqual(self.without_effect("--job", "traffic=[ping_pong:sizes=1000B,iterations=3,ranks=2],compute_scale=2", *TREE), ["compute_scale=2"])
        self.assertEqual(self.without_effect("--job", "traffic=[stencil:dims=2d,iterations=2,compute=300us,ranks=16],compute_scale=2", *TREE), [])

    def test_reruns_that_are_chance_say_so(self):
        # DCTCP's windows overflow queues of one round trip, and a lost tail waits for its timeout.
        told = self.explain(sim=["--traffic", "alltoall:size=200KB", "--topology", "fat_tree:k=4", "--congestion", "dctcp"])
        self.assertLess(min(each["gain"] for each in told["what_would_help"]), -0.01)
        self.assertTrue(any("timeouts" in remark for remark in told["remarks"]))
        self.assertTrue(any("capacity=auto" in remark for remark in told["remarks"]))
        self.assertEqual(self.explain(sim=["--traffic", "ping_pong:sizes=1000B,iterations=3,ranks=2", *TREE])["remarks"], [])

    ONE_MESSAGE = "num_ranks 8\nrank 0 {\nl1: send 4000000b to 4\n}\n" + "".join(
        f"rank {rank} {{\n{'l1: recv 4000000b from 0' if rank == 4 else ''}\n}}\n" for rank in range(1, 8))

    def one_message(self, topology, *options):
        (self.folder / "one.goal").write_text(self.ONE_MESSAGE)
        told = self.explain(sim=["--goal", "one.goal", "--topology", "leaf_spine:leaves=2,spines=1,hosts_per_leaf=4," + topology, *options])
        return told, told["jobs"][0]["where"]["links"][0]

    def test_a_link_slowed_by_a_fault_is_as_one_built_so(self):
        fault = ["--fault", "link=leaf 0 / spine 0,rate=0.1"]
        for network in ([], ["--network", "flow"], ["--routing", "ecmp"]):
            with self.subTest(network=network):
                slowed, link = self.one_message("link=100Gbps", *network, *fault)
                built, same = self.one_message("link=10Gbps,host_link=100Gbps", *network)
                self.assertEqual((slowed["bound_by"], link["from"], link["to"]), ("bandwidth", "leaf 0", "spine 0"))
                self.assertEqual((link["from"], link["to"]), (same["from"], same["to"]))
                self.assertAlmostEqual(link["share"], same["share"], 2)
                for part, share in built["critical_path"].items():
                    self.assertAlmostEqual(slowed["critical_path"][part], share, delta=0.01, msg=part)
                # 4 MB at 10 Gb/s are 3.2 ms, and 1.5% or 3% more with headers; a host's link has 100 Gb/s.
                self.assertAlmostEqual(slowed["bounds"]["link_ns"], built["bounds"]["link_ns"], delta=0.2e6)
                self.assertGreater(slowed["bounds"]["link_ns"], 3.2e6)
                self.assertEqual(slowed["bounds"]["host_ns"], 320000)
        slowed, link = self.one_message("link=100Gbps", "--fault", "link=host 0 / leaf 0,rate=0.1")
        self.assertEqual((slowed["bound_by"], link["from"], slowed["bounds"]["host_ns"]), ("bandwidth", "host 0", 3.2e6))
        # What should help makes it longer, without a timeout.
        self.assertLess(min(each["gain"] for each in slowed["what_would_help"]), -0.01)
        self.assertTrue(any("one draw" in remark for remark in slowed["remarks"]))

    def test_a_link_that_was_down_is_named(self):
        told, _ = self.one_message("link=100Gbps", "--fault", "link=leaf 0 / spine 0,rate=0,at=100us,until=900us")
        self.assertTrue(any("leaf 0 / spine 0 down for 800.000 us" in remark for remark in told["remarks"]), told["remarks"])
        self.assertEqual(told["bound_by"], "queueing")

    def test_what_was_sent_again_is_no_bound(self):
        # The link has carried 991,995 ns; 12 MB and a header for each of 2,930 packets take 975 us.
        incast = ["--traffic", "incast:n=6,size=2MB", "--topology", "leaf_spine:leaves=2,spines=2,hosts_per_leaf=4,link=100Gbps"]
        told = self.explain(sim=[*incast, "--congestion", "fixed_window", "--recovery", "go_back_n", "--queue", "droptail:capacity=60kB"])
        run = json.loads((self.folder / "RUN/summary.json").read_text(encoding="utf-8"))
        self.assertGreater(run["signals"]["retransmit"], 0)
        busy = max(float(row["busy_ns"]) for row in self.csv("RUN/links.csv"))
        once = 8 * 6 * (2e6 + 64 * 489) / 100
        self.assertGreater(busy, once)
        self.assertLessEqual(told["bounds"]["link_ns"], once)
        self.assertGreater(told["bounds"]["link_ns"], 0.999 * once)
        # No packet is sent again at flow level, whose headers are as long here.
        told = self.explain(sim=[*incast, "--network", "flow:header=64"])
        self.assertAlmostEqual(told["bounds"]["link_ns"], once, delta=1)

    def test_computing_that_collectives_slow_down_is_bound_without(self):
        def step(rate):
            return ["--traffic", "resnet:ranks=4,iterations=1", "--topology", f"single_switch:hosts=4,link={rate}", "--network", "flow"]

        told = self.explain(sim=step("25Gbps"))
        computed = max(float(row["compute_ns"]) for row in self.csv("RUN/ranks.csv"))
        self.assertLess(told["bounds"]["compute_ns"], computed)
        self.assertGreater(told["bounds"]["compute_ns"], computed / 1.16)
        # Where collectives take next to no time, hardly anything is slowed down.
        self.weft("sim", *step("10Tbps"), "-q", "-o", "FAST")
        fast = json.loads((self.folder / "FAST/summary.json").read_text(encoding="utf-8"))["makespan_ns"]
        self.assertLess(fast, computed)
        self.assertLessEqual(told["bounds"]["compute_ns"], fast)
        self.assertGreater(told["bounds"]["compute_ns"], 0.98 * fast)

    def test_combining_is_computing(self):
        def allreduce(cost):
            return ["--traffic", "collective:kind=allreduce,size=10MB,ranks=4", "--topology", "single_switch:hosts=4,link=100Gbps",
                    "--network", "flow", "--set", f"hosts.reduction_per_byte={cost}"]

        told = self.explain(sim=allreduce(0.5))
        self.assertEqual((told["bound_by"], told["what_would_help"][0]["change"]), ("compute", "compute_x2"))
        self.weft("sim", *allreduce(0.25), "-q", "-o", "HALF")
        half = json.loads((self.folder / "HALF/summary.json").read_text(encoding="utf-8"))
        self.assertEqual(told["what_would_help"][0]["makespan_ns"], half["makespan_ns"])

    def test_copies_within_a_host_are_said_to_be_faster(self):
        # On one host no link carries anything.
        told = self.explain(sim=["--traffic", "alltoall:size=10MB,ranks=4", "--topology", "single_switch:hosts=4,link=100Gbps",
                                 "--network", "flow", "--set", "hosts.ranks_per_host=4"])
        best = told["what_would_help"][0]
        self.assertAlmostEqual(best["gain"], 0.75, 2)
        self.assertIn("copies within hosts", best["words"])

    def test_ways_that_nothing_took_have_no_share(self):
        # Four flows are hashed to four ways; some way has none.
        told, where = self.where("--traffic", "shift:by=4,size=4MB", "--topology", "leaf_spine:leaves=2,spines=4,hosts_per_leaf=4,link=100Gbps",
                                 "--network", "flow", "--routing", "ecmp")
        unused = {(row["from"], row["to"]) for row in self.csv("RUN/links.csv") if row["bytes"] == "0"}
        self.assertTrue(any(start == "leaf 0" for start, _ in unused))
        named = [(each["from"], each["to"]) for each in where["links"] if "from" in each]
        self.assertFalse(unused.intersection(named))
        self.assertIn(("leaf 0", "spine 0"), named)
        self.assertGreater(where["links"][named.index(("leaf 0", "spine 0"))]["share"], 0.45)

    def test_a_run_that_changed_is_told(self):
        (self.folder / "a.goal").write_text("num_ranks 2\nrank 0 {\nl1: send 1000b to 1\n}\nrank 1 {\nl1: recv 1000b from 0\n}\n")
        self.explain(sim=["--goal", "a.goal", *TREE])
        (self.folder / "a.goal").write_text("num_ranks 2\nrank 0 {\nl1: send 9000b to 1\n}\nrank 1 {\nl1: recv 9000b from 0\n}\n")
        self.assertIn("another course", json.loads(self.weft("explain", "RUN", "--json").stdout)["remarks"][0])

    def test_what_is_refused(self):
        self.assertIn("summary.json", self.weft("explain", "nowhere", status=2).stderr)
        (self.folder / "RUN").mkdir()
        for text in ("[]", "{}", '{"outcome": "complete", "digest": 5}', '{"outcome": "complete", "digest": "0", "makespan_ns": 1, '
                     '"topology": "", "network": "", "jobs": [{"name": 1}]}'):
            (self.folder / "RUN/summary.json").write_text(text)
            self.weft("explain", "RUN", status=2)


if __name__ == "__main__":
    unittest.main()
