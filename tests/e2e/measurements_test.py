"""What weft sim records over time: samples that add up to the totals, and a capture file read by an independent parser."""

import csv
import ipaddress
import json
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())

# Six senders into one: queues build up, mark and overflow.
CROWD = ["--traffic", "incast:n=6,size=300KB,to=0,senders=first", "--topology", "fat_tree:k=4", "--routing", "spray",
         "--congestion", "dctcp"]


def run(folder, *arguments, queue="ecn:capacity=60KB,kmin=10KB,kmax=20KB"):
    subprocess.run([WEFT, "sim", *CROWD, "--queue", queue, "-o", "RUN", "-q", *arguments], cwd=folder, check=True, capture_output=True)
    return Path(folder) / "RUN"


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def read_pcapng(data):
    """Interfaces and packets of a capture file, by draft-ietf-opsawg-pcapng, checking its structure on the way."""
    interfaces, packets = [], []
    offset = 0
    while offset < len(data):
        kind, length = struct.unpack_from("<II", data, offset)
        assert length % 4 == 0 and length >= 12 and offset + length <= len(data), "a block's length"
        assert struct.unpack_from("<I", data, offset + length - 4)[0] == length, "a block's second length"
        body = data[offset + 8:offset + length - 4]
        if kind == 0x0A0D0D0A:
            assert offset == 0 and struct.unpack_from("<IHHq", body) == (0x1A2B3C4D, 1, 0, -1), "the section header"
            options = body[16:]
        elif kind == 1:
            link_type, _, snap = struct.unpack_from("<HHI", body)
            options = body[8:]
            interfaces.append({"link_type": link_type, "snap": snap})
        else:
            assert kind == 6, "an unknown block"
            interface, high, low, captured, original = struct.unpack_from("<IIIII", body)
            padded = (captured + 3) // 4 * 4
            packets.append({"interface": interface, "ns": high << 32 | low, "original": original,
                            "bytes": body[20:20 + captured]})
            assert not any(body[20 + captured:20 + padded]), "padding"
            options = body[20 + padded:]
        found = {}
        while options:
            code, size = struct.unpack_from("<HH", options)
            if code == 0:
                break
            found[code] = options[4:4 + size]
            options = options[4 + (size + 3) // 4 * 4:]
        if kind == 1:
            interfaces[-1].update(name=found[2].decode(), bps=struct.unpack("<Q", found[8])[0], resolution=found[9][0])
        if kind == 6:
            packets[-1]["outbound"] = {1: False, 2: True}[struct.unpack("<I", found[2])[0]]
        offset += length
    return interfaces, packets


def read_frame(frame):
    """Ethernet, IPv4, UDP and the payload of a captured packet."""
    ether, ip, udp, payload = frame[:14], frame[14:34], frame[34:42], frame[42:]
    assert ether[12:] == b"\x08\x00" and ip[0] == 0x45 and ip[9] == 17
    words = struct.unpack(">10H", ip)
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    assert total == 0xFFFF, "the checksum of the IP header"
    flow, number, flags = struct.unpack(">III", payload)
    ports = struct.unpack_from(">HH", udp)
    host = lambda at: int(ipaddress.ip_address(ip[at:at + 4])) - int(ipaddress.ip_address("10.0.0.0"))
    assert int.from_bytes(ether[2:6], "big") == host(16) and int.from_bytes(ether[8:12], "big") == host(12)
    return {"source": host(12), "destination": host(16), "ecn": ip[1] & 3, "ip_bytes": words[1],
            "udp_bytes": struct.unpack_from(">H", udp, 4)[0], "ports": ports, "flow": flow, "packet": number,
            "ack": bool(flags & 1), "marked": bool(flags & 2)}


class Measurements(unittest.TestCase):
    def test_an_empty_packet_log_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            for pair, words in (("0-1", "host 0 sent nothing to host 1"), ("1-0#5", "host 1 sent fewer than 6 messages to host 0"),
                                ("1-0", None)):
                results = run(folder, "--packet-log", pair)
                told = [text for text in json.loads((results / "summary.json").read_text())["warnings"] if "packets.csv" in text]
                self.assertEqual(len(told), 1 if words else 0, told)
                self.assertEqual(rows(results / "packets.csv") == [], bool(words))
                if words:
                    self.assertIn(words, told[0])

    def test_samples_add_up_to_the_totals(self):
        with tempfile.TemporaryDirectory() as folder:
            results = run(folder, "--sample", "777ns", "--sample-links", "all")
            sampled = Counter()
            for row in rows(results / "series.csv"):
                sampled[row["link"]] += int(row["bytes"])
                self.assertLessEqual(float(row["utilization"]), 1.001)  # a byte at either end is rounded
            links = rows(results / "links.csv")
            self.assertEqual(sampled, Counter({row["link"]: int(row["bytes"]) for row in links if row["bytes"] != "0"}))
            most_queued = max(int(row["queue_bytes"]) for row in rows(results / "series.csv"))
            self.assertGreater(most_queued, 20_000)  # the ECN threshold was passed
            self.assertLessEqual(most_queued, 60_000)
            network = rows(results / "network_series.csv")
            summary = json.loads((results / "summary.json").read_text())
            for key, total in (("packets_injected", summary["packets"]["injected"]),
                               ("packets_delivered", summary["packets"]["delivered"]),
                               ("drops", summary["packets"]["dropped"]),
                               ("bytes_delivered", summary["wire_bytes"]["delivered"]),
                               ("ecn_marks", summary["signals"]["ecn_mark"])):
                self.assertEqual(sum(int(row[key]) for row in network), total, key)
                self.assertGreater(total, 0, key)
            self.assertEqual(network[-1]["packets_in_flight"], "0")

    def test_the_end_of_the_run_cuts_the_last_interval_short(self):
        """Timers go off after it, in the packet-level model: the run ends when its last rank does."""
        with tempfile.TemporaryDirectory() as folder:
            for network in ("packet", "flow"):
                subprocess.run([WEFT, "sim", "--traffic", "alltoall:size=1MB,ranks=4", "--topology", "single_switch:hosts=4,link=100Gbps", "--network",
                                network, "--sample", "200us", "-o", network, "-q"], cwd=folder, check=True, capture_output=True)
                results = Path(folder) / network
                makespan = json.loads((results / "summary.json").read_text())["makespan_ns"]
                self.assertNotEqual(makespan % 200_000, 0)
                begin = makespan // 200_000 * 200_000
                self.assertAlmostEqual(float(rows(results / "network_series.csv")[-1]["time_ns"]), makespan, delta=1)
                last = [row for row in rows(results / "series.csv") if float(row["time_ns"]) > begin]
                self.assertEqual(len(last), 4)
                for row in last:
                    self.assertAlmostEqual(float(row["time_ns"]), makespan, delta=1)
                    # 12.5 bytes a nanosecond.
                    self.assertAlmostEqual(float(row["utilization"]), int(row["bytes"]) / (12.5 * (makespan - begin)), delta=0.001)
                    self.assertGreater(float(row["utilization"]), 0.9)

    def test_sampled_links_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            results = run(folder, "--sample", "1us", "--sample-links", "edge 0.0 -> *, host 1 -> edge ?.?")
            names = {row["link"]: f"{row['from']} -> {row['to']}" for row in rows(results / "links.csv")}
            seen = {names[row["link"]] for row in rows(results / "series.csv")}
            self.assertIn("edge 0.0 -> host 0", seen)
            self.assertIn("host 1 -> edge 0.0", seen)
            self.assertFalse({name for name in seen if not name.startswith("edge 0.0 ") and name != "host 1 -> edge 0.0"})

    def test_recording_changes_no_result(self):
        with tempfile.TemporaryDirectory() as folder:
            digests = {json.loads((run(folder, *more) / "summary.json").read_text())["digest"]
                       for more in ([], ["--sample", "1us"], ["--packet-log", "1-0", "--pcapng", "0"])}
            self.assertEqual(len(digests), 1)

    def test_figures_of_flows_do_not_depend_on_the_file_of_flows(self):
        with tempfile.TemporaryDirectory() as folder:
            summary = json.loads((run(folder) / "summary.json").read_text())
            finished = sorted(float(row["finish_ns"]) - float(row["start_ns"]) for row in rows(Path(folder) / "RUN/flows.csv"))
            self.assertEqual(summary["flows"]["count"], len(finished))
            completion = summary["flows"]["completion"]
            self.assertAlmostEqual(completion["mean_ns"], sum(finished) / len(finished), places=3)
            # Nearest rank of 6 values: the third for the median, the last from p90 on.
            for key, exact in (("p50_ns", finished[2]), ("p90_ns", finished[5]), ("max_ns", finished[5])):
                self.assertAlmostEqual(completion[key] / exact, 1, delta=1 / 512)
            hosts = rows(Path(folder) / "RUN/hosts.csv")
            self.assertEqual(int(hosts[0]["bytes_received"]), 6 * 300_000)
            self.assertEqual(int(hosts[0]["goodput_bps"]), summary["goodput"]["receiver_max_bps"])

    def test_capture_agrees_with_the_packet_log(self):
        self.check_capture(queue="ecn:capacity=60KB,kmin=10KB,kmax=20KB")

    def test_capture_of_nics_with_queues_of_their_own(self):
        # Hosts are paused too, so that packets wait in their NICs.
        self.check_capture(queue="pfc:xoff=20KB,kmin=5KB,kmax=15KB")

    def check_capture(self, queue):
        with tempfile.TemporaryDirectory() as folder:
            results = run(folder, "--pcapng", "0, 1", "--packet-log", "1-0", queue=queue)
            interfaces, packets = read_pcapng((results / "capture.pcapng").read_bytes())
            self.assertEqual([i["name"] for i in interfaces], ["host 0 nic 0", "host 1 nic 0"])
            for interface in interfaces:
                self.assertEqual((interface["link_type"], interface["bps"], interface["resolution"]), (1, 400 * 10**9, 9))
            times = [packet["ns"] for packet in packets]
            self.assertEqual(times, sorted(times))
            captured = []
            ecn = Counter()
            for packet in packets:
                frame = read_frame(packet["bytes"])
                self.assertEqual((frame["ip_bytes"], frame["udp_bytes"]), (packet["original"] - 14, packet["original"] - 34))
                ecn[frame["ack"], frame["marked"], frame["ecn"]] += 1
                port = frame["ports"][0 if not frame["ack"] else 1]
                self.assertGreaterEqual(port, 49152)
                self.assertEqual(frame["ports"][1 if not frame["ack"] else 0], 49151)
                # A host sends what comes from it, and receives what is for it.
                self.assertEqual(frame["source" if packet["outbound"] else "destination"], packet["interface"])
                if frame["source"] + frame["destination"] == 1:
                    captured.append((packet["ns"], packet["outbound"], frame["flow"], frame["packet"], frame["ack"],
                                     packet["original"], frame["marked"]))
            # Data says ECT(0) or CE, ACKs neither.
            self.assertEqual(set(ecn), {(False, False, 2), (False, True, 3), (True, False, 0), (True, True, 0)})
            logged = []
            for row in rows(results / "packets.csv"):
                # A departure is known when the packet joins a queue or, in some, when it goes on the wire.
                sent = row["departure_ns"] != "" and row["place"].startswith("host ")
                received = row["event"] == "arrive" and row["place"].endswith((" -> host 0", " -> host 1"))
                if sent or received:
                    logged.append((int(row["time_ns"].split(".")[0]), sent, int(row["flow"]), int(row["packet"]),
                                   row["ack"] == "1", int(row["bytes"]), row["marked"] == "1"))
            self.assertEqual(captured, logged)
            self.assertGreater(len(captured), 200)

    def test_the_log_says_when_packets_leave_queues_that_decide_packet_by_packet(self):
        for queue in ("priority:capacity=60KB,kmin=10KB,kmax=20KB", "composite:capacity=40KB,kmin=10KB,kmax=20KB",
                      "pfc:xoff=20KB,kmin=5KB,kmax=15KB"):
            with self.subTest(queue), tempfile.TemporaryDirectory() as folder:
                logged = rows(run(folder, "--packet-log", "5-0", queue=queue) / "packets.csv")
                count = Counter(row["event"] for row in logged)
                at, waited = {}, []  # by packet: the row that said last where it is
                free = {}  # by link: when it is
                for row in logged:
                    packet = (row["packet"], row["ack"])
                    last = at.get(packet)
                    now = float(row["time_ns"])
                    event = row["event"]
                    own_queue = not row["place"].startswith("host ") or queue.startswith("pfc")
                    self.assertEqual(row["departure_ns"] != "",
                                     event == "transmit" or (event == "enqueue" and not own_queue), row)
                    if event in ("transmit", "trim"):
                        self.assertIn(last["event"], ("enqueue", "trim"))
                        self.assertEqual(last["place"], row["place"])
                    if event == "transmit":
                        waited.append(now - float(last["time_ns"]))
                        self.assertEqual(last["bytes"], row["bytes"])
                        self.assertGreaterEqual(now, free.get(row["place"], 0))
                        free[row["place"]] = float(row["departure_ns"])
                        # 400 Gb/s are 20 ps a byte.
                        self.assertAlmostEqual(float(row["departure_ns"]), now + int(row["bytes"]) * 0.02, places=3)
                    if event == "trim":
                        self.assertEqual(row["bytes"], "64")
                    if event == "arrive":
                        self.assertEqual(last["place"], row["place"])
                        self.assertAlmostEqual(now, float(last["departure_ns"]) + 500, places=3)
                    at[packet] = row
                self.assertGreater(count["transmit"], 400)
                self.assertGreater(max(waited), 500)
                self.assertEqual(count["trim"] > 0, queue.startswith("composite"))
                self.assertEqual(count["drop"] > 0, queue.startswith("priority"))

    def test_a_folder_keeps_no_files_of_an_earlier_run(self):
        with tempfile.TemporaryDirectory() as folder:
            results = run(folder)
            usual = {path.name for path in results.iterdir()}
            run(folder, "--sample", "1us", "--packet-log", "1-0", "--pcapng", "0")
            self.assertEqual({path.name for path in results.iterdir()} - usual,
                             {"series.csv", "network_series.csv", "packets.csv", "capture.pcapng"})
            run(folder, "--no-flows")
            self.assertEqual({path.name for path in results.iterdir()}, usual - {"flows.csv"})

    def test_one_flow_of_several_is_logged(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "twice.cm").write_text("Nodes 2\nConnections 3\n0->1 id 1 start 0 size 5000\n"
                                                   "0->1 id 2 start 50000 size 9000\n1->0 id 3 start 0 size 9000\n")
            subprocess.run([WEFT, "sim", "--traffic", "connections:file=twice.cm", "--topology", "single_switch:hosts=2",
                            "--packet-log", "0-1#1", "-o", "RUN", "-q"], cwd=folder, check=True, capture_output=True)
            logged = rows(Path(folder) / "RUN/packets.csv")
            self.assertEqual({row["flow"] for row in logged}, {"1"})
            # 9,000 bytes are three packets.
            self.assertEqual(sum(row["event"] == "deliver" and row["ack"] == "0" for row in logged), 3)


if __name__ == "__main__":
    unittest.main()
