"""imports.py: each row of the architecture's table, one edge it must allow and one it must refuse."""

import unittest

import imports

ALLOWED = [
    ("//goal/text:text", "//sim/units:units"),
    ("//goal/text:text", "//goal/graph:graph"),
    ("//goal/import/mpi:mpi", "//goal/graph:graph"),
    ("//goal/import/mpi:mpi", "//tracer/format:format"),
    ("//goal/text:text", "//goal/text:text.cc"),
    ("//topologies/families:families", "//topologies/graph:graph"),
    ("//topologies/graph:graph", "@system//:boost_graph"),
    ("//congestion:dctcp", "//sim/units:units"),
    ("//sim/packet:packet", "//congestion:congestion"),
    ("//sim/packet:packet", "//topologies/graph:graph"),
    ("//sim/replay:replay", "//goal/graph:graph"),
    ("//sim/core:core", "//sim/units:units"),
    ("//sim/run:network_models", "//sim/flow:model"),
    ("//sim/flow:model", "//sim/flow:flow"),
    ("//sim/packet/queues:queues", "//sim/packet:record"),
    ("//sim/run:simulation", "//sim/packet/queues:queues"),
    ("//sim/run:measurements", "//sim/packet:observer"),
    ("//tests/sim/flow:network_test", "//sim/flow:flow"),
    ("//sim/scenario:scenario", "//tools/bazel:proto.bzl"),
    ("//tracer/mpi:libtracer.so", "//tracer/format:format"),
    ("//tracer/mpi:libtracer.so", "@system//:pthread"),
    ("//tracer/mpi:libtracer.so", "@openmpi//:headers"),
    ("//tracer/mpi:libtracer.so", "@bazel_tools//tools/cpp:toolchain"),
    ("//tools/weft:weft", "//tracer/format:format"),
    ("//tests/sim/core:core_test", "//sim/core:core"),
]
REFUSED = [
    ("//tracer/mpi:libtracer.so", "@other//:headers"),
    ("//sim/units:units", "//sim/core:core"),
    ("//sim/units:units", "//goal/graph:graph"),
    ("//goal/text:text", "//sim/core:core"),
    ("//goal/text:text", "//tracer/format:format"),
    ("//goal/import/mpi:mpi", "//tracer/mpi:mpi"),
    ("//goal/importer:x", "//tracer/format:format"),
    ("//goal/graph:graph", "//topologies/graph:graph"),
    ("//topologies/graph:graph", "//sim/scenario:scenario"),
    ("//congestion:dctcp", "//sim/packet:packet"),
    ("//congestion:dctcp", "//topologies/graph:graph"),
    ("//sim/run:simulation", "//sim/packet:model"),
    ("//sim/run:simulation", "//sim/packet:packet"),
    ("//sim/run:network_models", "//sim/packet:packet"),
    ("//sim/flow:model", "//sim/packet:packet"),
    ("//sim/routing:routing", "//sim/loggops:loggops"),
    ("//sim/replay:replay", "//tracer/format:format"),
    ("//sim/replay:replay", "//tools/weft:weft"),
    ("//sim/replay:replay", "//tests:catch_main"),
    ("//tracer/mpi:libtracer.so", "//sim/units:units"),
    ("//tracer/mpi:libtracer.so", "@system//:fmt"),
    ("//helpers:x", "//sim/units:units"),
]


class Imports(unittest.TestCase):
    def test_allowed(self):
        for source, target in ALLOWED:
            self.assertIsNone(imports.judge(source, target), f"{source} -> {target}")

    def test_refused(self):
        for source, target in REFUSED:
            self.assertIsNotNone(imports.judge(source, target), f"{source} -> {target}")

    def test_edges_are_found_in_the_graph(self):
        graph = 'digraph mygraph {\n  node [shape=box];\n  "//goal/text:text"\n' \
                '  "//goal/text:text" -> "//sim/core:core"\n  "//goal/text:text" -> "//sim/units:units"\n}\n'
        self.assertEqual(imports.violations(graph),
                         ["//goal/text:text imports //sim/core:core; goal/ may import sim/units/"])


if __name__ == "__main__":
    unittest.main()
