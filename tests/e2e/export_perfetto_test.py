"""weft export perfetto: the trace, read by the numbers of Perfetto's public schema, against the tables of the run."""

import json
import os
import random
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter, defaultdict
from itertools import groupby
from pathlib import Path

WEFT = Path(sys.argv.pop(1)).resolve()

# google/perfetto, protos/perfetto/trace: number -> (name, type), where a type is a wire type of protobuf or a message.
# Anything else in a trace is an error.
VARINT, DOUBLE, FIXED64, STRING = "varint", "double", "fixed64", "string"
EVENT_NAME = {1: ("iid", VARINT), 2: ("name", STRING)}
SCHEMA = {1: ("packet", {
    8: ("timestamp", VARINT),
    10: ("trusted_packet_sequence_id", VARINT),
    11: ("track_event", {
        4: ("debug_annotations", {1: ("name_iid", VARINT), 3: ("uint_value", VARINT)}),
        9: ("type", VARINT), 10: ("name_iid", VARINT), 11: ("track_uuid", VARINT), 44: ("double_counter_value", DOUBLE),
        47: ("flow_ids", FIXED64), 48: ("terminating_flow_ids", FIXED64)}),
    12: ("interned_data", {2: ("event_names", EVENT_NAME), 3: ("debug_annotation_names", EVENT_NAME)}),
    13: ("sequence_flags", VARINT),
    60: ("track_descriptor", {
        1: ("uuid", VARINT), 2: ("name", STRING), 5: ("parent_uuid", VARINT),
        3: ("process", {1: ("pid", VARINT), 6: ("process_name", STRING)}),
        4: ("thread", {1: ("pid", VARINT), 2: ("tid", VARINT), 5: ("thread_name", STRING)}),
        8: ("counter", {3: ("unit", VARINT)})})})}
SLICE_BEGIN, SLICE_END, COUNTER = 1, 2, 4
REPEATED = {"packet", "debug_annotations", "event_names", "debug_annotation_names", "flow_ids", "terminating_flow_ids"}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def decode(data, schema):
    """A message as a dictionary; fields that repeat as lists."""
    message, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        name, kind = schema[key >> 3]
        if key & 7 == 0:
            value, at = varint(data, at)
            assert kind == VARINT, name
        elif key & 7 == 1:
            value, at = struct.unpack_from({DOUBLE: "<d", FIXED64: "<Q"}[kind], data, at)[0], at + 8
        else:
            assert key & 7 == 2, name
            length, at = varint(data, at)
            part, at = data[at:at + length], at + length
            assert len(part) == length
            value = part.decode() if kind == STRING else decode(part, kind)
        if name in REPEATED:
            message.setdefault(name, []).append(value)
        else:
            assert name not in message, name
            message[name] = value
    return message


class Trace:
    """What Perfetto would make of it: tracks with their slices and counters."""

    def __init__(self, data):
        self.tracks, self.slices, self.counters, self.open = {}, defaultdict(list), defaultdict(list), {}
        names = {"event_names": {}, "debug_annotation_names": {}}
        packets = decode(data, SCHEMA)["packet"]
        assert packets[0]["sequence_flags"] & 1, "the first packet clears what was interned"
        for packet in packets:
            assert packet["trusted_packet_sequence_id"] == 1
            for kind, entries in packet.get("interned_data", {}).items():
                for entry in entries:
                    assert entry["iid"] > 0 and entry["iid"] not in names[kind]
                    names[kind][entry["iid"]] = entry["name"]
            if "track_descriptor" in packet:
                track = packet["track_descriptor"]
                assert track["uuid"] > 0 and track["uuid"] not in self.tracks
                self.tracks[track["uuid"]] = track
                continue
            event = packet["track_event"]
            assert event["track_uuid"] in self.tracks
            if "name_iid" in event:
                assert packet["sequence_flags"] & 2, "what was interned is needed"
            self.add(packet["timestamp"], event, names)
        assert not self.open

    def add(self, time, event, names):
        track = event["track_uuid"]
        if event["type"] == COUNTER:
            self.counters[track].append((time, event["double_counter_value"]))
        elif event["type"] == SLICE_BEGIN:
            assert track not in self.open, "slices of a track overlap"
            self.open[track] = {"start": time, "name": names["event_names"][event["name_iid"]],
                                "flows": event.get("flow_ids", []), "ends": event.get("terminating_flow_ids", []),
                                **{names["debug_annotation_names"][a["name_iid"]]: a["uint_value"] for a in event.get("debug_annotations", [])}}
        else:
            assert event["type"] == SLICE_END
            self.slices[track].append({**self.open.pop(track), "end": time})

    def named(self, name):
        return [uuid for uuid, track in self.tracks.items() if name == track.get("name", track.get("thread", {}).get("thread_name"))]


def rows(folder, query):
    with sqlite3.connect(f"file:{folder}/results.sqlite?mode=ro", uri=True) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute(query)]


class ExportPerfetto(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        cls.weft("sim", "-q", "--job", "traffic=[stencil:dims=[4,2],ranks=8,iterations=4,compute=10us]", "--job",
                 'traffic=[collective:kind=alltoall,ranks=6,size=40KB],name=the "other"', "--topology", "fat_tree:k=4", "--queue", "ecn",
                 "--sample", "5us", "-o", "RUN")
        cls.run_folder = cls.folder / "RUN"

    @classmethod
    def weft(cls, *arguments, status=0):
        run = subprocess.run([WEFT, *arguments], cwd=cls.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert run.returncode == status, (run.returncode, run.stderr)
        return run

    def export(self, run="RUN"):
        self.weft("export", "perfetto", run, "-o", "trace")
        return Trace((self.folder / "trace").read_bytes())

    def test_slices_are_those_of_the_timeline(self):
        trace = self.export()
        processes = {track["process"]["pid"]: track["process"]["process_name"] for track in trace.tracks.values() if "process" in track}
        self.assertEqual(list(processes.values()), ["job 0: stencil", 'job 1: the "other"', "network"])
        found = Counter()
        for uuid, slices in trace.slices.items():
            thread = trace.tracks[uuid].get("thread")
            if thread is None:
                continue
            self.assertEqual(slices, sorted(slices, key=lambda s: (s["start"], s["end"])))
            for one in slices:
                found[processes[thread["pid"]][4], thread["thread_name"], one["name"], one["start"], one["end"], one.get("op"),
                      one.get("peer"), one.get("bytes"), one.get("message")] += 1
        expected = Counter()
        for row in rows(self.run_folder, "SELECT * FROM timeline"):
            name = row["kind"].replace("_", " ")
            expected[str(row["job"]), f"rank {row['rank']}", f"{row['collective']}: {name}" if row["collective"] else name,
                     round(row["start_ns"] * 1000) // 1000, round(row["end_ns"] * 1000) // 1000, row["op"], row["peer"], row["bytes"],
                     row["message"]] += 1
        self.assertEqual(found, expected)

    def test_compute_adds_up(self):
        trace = self.export()
        for row in rows(self.run_folder, "SELECT * FROM ranks WHERE job = 0"):
            [track] = [uuid for uuid in trace.named(f"rank {row['rank']}") if trace.tracks[uuid]["thread"]["pid"] == 1]
            compute = sum(one["end"] - one["start"] for one in trace.slices[track] if one["name"] == "compute")
            self.assertAlmostEqual(compute, row["compute_ns"], delta=len(trace.slices[track]))  # whole nanoseconds

    def test_arrows_lead_from_send_to_message_to_receive(self):
        trace = self.export()
        arrows = defaultdict(list)
        for uuid, slices in trace.slices.items():
            for one in slices:
                for flow in one["flows"] + one["ends"]:
                    arrows[flow].append((one["start"], one["name"].split(": ")[-1], one["message"], bool(one["ends"])))
        messages = rows(self.run_folder, "SELECT * FROM timeline_messages")
        self.assertEqual(len(arrows), len(messages))
        self.assertGreater(len(messages), 0)
        for flow, parts in arrows.items():
            self.assertEqual({part[2] for part in parts}, {flow - 1})
            parts = {part[1]: part for part in parts}
            self.assertEqual(set(parts), {"send", "message", "receive"})
            self.assertLessEqual(parts["send"][0], parts["message"][0])
            self.assertLess(parts["message"][0], parts["receive"][0])
            self.assertEqual([name for name, part in parts.items() if part[3]], ["receive"])

    def test_counters_are_the_samples(self):
        trace = self.export()
        by_link = defaultdict(list)
        for row in rows(self.run_folder, 'SELECT s.*, l."from", l."to" FROM samples s JOIN links l USING (link) ORDER BY s.rowid'):
            by_link[f"{row['from']} -> {row['to']}"].append(row)
        self.assertGreater(len(by_link), 4)
        for link, samples in by_link.items():
            for name, column, factor, when in (("utilization (%)", "utilization", 100, -1), ("queue (bytes)", "queue_bytes", 1, 0)):
                [track] = trace.named(f"{link}: {name}")
                values = trace.counters[track]
                self.assertEqual([time for time, _ in values], sorted(time for time, _ in values))
                self.assertEqual(len({time for time, _ in values}), len(values))
                at = dict(values)
                for row in samples:
                    end = int(row["time_ns"])
                    time = end if when == 0 else (end - 1) // 5000 * 5000
                    self.assertEqual(at.pop(time), row[column] * factor, (link, name, row))
                self.assertEqual(set(at.values()) - {0}, set())  # what remains are intervals without a row
        [track] = trace.named("packets in flight")
        flight = [(int(row["time_ns"]), row["packets_in_flight"]) for row in rows(self.run_folder, "SELECT * FROM network_samples ORDER BY rowid")]
        self.assertEqual([value for value in trace.counters[track] if value in flight], flight)

    def test_idle_links_go_back_to_zero(self):
        self.weft("sim", "-q", "--traffic", "stencil:dims=[2],iterations=3,compute=100us,ranks=2", "--topology", "fat_tree:k=4",
                  "--placement", "random", "--sample", "5us", "-o", "IDLE")
        trace = self.export("IDLE")
        for uuid, values in trace.counters.items():
            if "utilization" in trace.tracks[uuid]["name"]:
                self.assertEqual([value > 0 for value, _ in groupby(values, key=lambda value: value[1] > 0)][:2], [True, False])
                self.assertEqual(values[-1][1], 0)

    def test_json(self):
        self.weft("export", "perfetto", "RUN", "--format", "json", "-o", "trace.json")
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        of = defaultdict(list)
        for event in events:
            of[event["ph"]].append(event)
        timeline = rows(self.run_folder, "SELECT * FROM timeline")
        self.assertEqual(Counter((round(e["ts"] * 1e6), round(e["dur"] * 1e6)) for e in of["X"]),
                         Counter((round(r["start_ns"] * 1000), round((r["end_ns"] - r["start_ns"]) * 1000)) for r in timeline))
        messages = len(rows(self.run_folder, "SELECT * FROM timeline_messages"))
        for phase in "sfbe":
            self.assertEqual(sorted(event["id"] for event in of[phase]), list(range(messages)), phase)
        trace = self.export()
        self.assertEqual(len(of["C"]), sum(len(values) for values in trace.counters.values()))
        self.assertIn('job 1: the "other"', [event["args"]["name"] for event in of["M"] if event["name"] == "process_name"])

    def test_the_name_of_the_file_tells_the_format(self):
        for name, words in (("n.json", []), ("n.pftrace", []), ("p.json", ["--format", "protobuf"]), ("n", ["--format", "json"])):
            self.weft("export", "perfetto", "RUN", *words, "-o", name)
        self.weft("export", "perfetto", "RUN", "--format", "json", "-o", "trace.json")
        json.loads((self.folder / "n.json").read_text())
        for one, other in (("n.json", "n"), ("n.json", "trace.json"), ("n.pftrace", "p.json")):
            self.assertEqual((self.folder / one).read_bytes(), (self.folder / other).read_bytes())

    def test_left_out_rows_are_told(self):
        self.weft("sim", "-q", "--traffic", "alltoall:size=1KB,ranks=300", "-o", "THIN")
        told = self.weft("export", "perfetto", "THIN", "-o", "trace").stdout
        self.assertRegex(told, r"timeline: \d+ of 2\d\d\d\d\d rows: ranks whose number, jobs behind each other, is a multiple of 4")
        self.assertLess((self.folder / "trace").stat().st_size, 20e6)
        wrong = self.weft("export", "perfetto", "THIN", "-o", "trace.json")
        self.assertEqual(wrong.stderr, "")

    def test_bad_input(self):
        def refused(*arguments):
            run = self.weft("export", "perfetto", *arguments, "-o", "bad", status=2)
            self.assertFalse((self.folder / "bad").exists())
            self.assertEqual(run.stderr.count("\n"), 1)
            return run.stderr

        self.assertIn("NOWHERE: there is no such file", refused("NOWHERE"))
        self.assertIn("'xml' is neither protobuf nor json", refused("RUN", "--format", "xml"))
        (self.folder / "text").write_text("x" * 5000)
        self.assertIn("text: can't read this as the results of a run: file is not a database", refused("text"))
        self.weft("sim", "-q", "--traffic", "incast:n=3", "--topology", "fat_tree:k=4", "--set", "output.timeline=off", "-o", "NONE")
        self.assertIn("neither a timeline (not asked for) nor samples; repeat it with --set output.timeline=on", refused("NONE"))
        whole = (self.run_folder / "results.sqlite").read_bytes()
        chance = random.Random(1)
        for _ in range(30):  # none of them may crash or hang
            damaged = bytearray(whole)
            for _ in range(50):
                damaged[chance.randrange(100, len(damaged))] = chance.randrange(256)
            (self.folder / "damaged").write_bytes(damaged)
            run = subprocess.run([WEFT, "export", "perfetto", "damaged", "-o", os.devnull], cwd=self.folder, capture_output=True, timeout=60)
            self.assertIn(run.returncode, (0, 2), run.stderr)


if __name__ == "__main__":
    unittest.main()
