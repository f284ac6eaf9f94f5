// What a protocol does at flow level it does with packets: programs whose ranks are never quite in step, with
// every protocol, on two networks that are no cause to differ. README.md has the table, and the reasons of
// cells that do; `protocols_test [table]` prints it.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "goal/transform/perturb.h"
#include "tests/validation/run.h"

namespace weft::validation {
namespace {

struct Shape {
  std::string name, scenario;
  int ranks;
};

// 100 Mb/s: a packet takes 333 us, and what delays ranks between two calls is about as long. Sprayed in turn,
// packets load the tree's links as evenly as fluids do.
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kAll = {
      {"switch", "topology { single_switch { hosts: 8 link: \"100Mbps\" latency: \"2.7us\" } }\n", 8},
      {"tree",
       "topology { fat_tree { k: 4 link: \"100Mbps\" latency: \"2.7us\" } } routing { switch_spray { choice: "
       "\"round_robin\" } }\n",
       16}};
  return kAll;
}

std::string collective(const std::string& kind, const std::string& size, const std::string& algorithm) {
  return fmt::format(
      "collective {{ kind: \"{}\" size: \"{}\" algorithm: \"{}\" iterations: 3 compute: \"1us\" }}", kind,
      size, algorithm);
}

struct Work {
  std::string name, traffic;
};
const std::vector<Work>& works() {
  static const std::vector<Work> kAll = {
      {"allreduce `ring`", collective("allreduce", "4MB", "ring")},
      {"allreduce `recursive_doubling`", collective("allreduce", "4MB", "recursive_doubling")},
      {"allreduce `rabenseifner`", collective("allreduce", "4MB", "rabenseifner")},
      {"allgather `ring`", collective("allgather", "500KB", "ring")},
      {"alltoall `linear`", collective("alltoall", "500KB", "linear")},
      {"alltoall `pairwise`", collective("alltoall", "500KB", "pairwise")},
      {"bcast `binomial_tree`", collective("bcast", "4MB", "binomial_tree")},
      {"stencil",
       "stencil { dims: \"2d\" cells: \"500000x500000\" cell: \"1B\" iterations: 5 compute: \"1us\" }"},
      {"ping-pong", "ping_pong { pairs: 0 sizes: \"1MB\" iterations: 5 compute: \"1us\" }"}};
  return kAll;
}

const std::string kFlowLevel = "network { flow {} }";
const std::string kPacketLevel =
    "network { packet {} } congestion { fixed_window { packets: 150 } } queue { droptail { capacity: \"1GB\" "
    "} }";

sim::Simulation simulation(const std::string& job, const std::string& rest) {
  const sim::Registries registries = sim::builtin_registries();
  return sim::Simulation(sim::resolve(
      sim::read_scenario(registries, "job { " + job + " } fabric: \"none\"\n" + rest, "the test"),
      registries));
}

// Ranks that are delayed by up to 500 us before each iteration.
goal::Graph program_of(const std::string& traffic, const Shape& shape) {
  const std::vector<goal::Program> programs =
      simulation("traffic { " + traffic + " }", shape.scenario).workload();
  const std::vector<ModuleChoice> noises{parse_module_choice("delay:most=500us")};
  return goal::perturb(*programs.at(0).graph(), noises, {.seed = 1});
}

double seconds(const goal::Graph& graph, const Shape& shape, const std::string& protocol,
               const std::string& level) {
  const sim::Simulation run =
      simulation("goal: \"built by the test\"", shape.scenario + "hosts { o: \"2.7us\" protocol: \"" +
                                                    protocol + "\" } connections: \"per_pair\"\n" + level);
  NeverStop control;
  const goal::Program program(graph);
  const results::Report report = run.run({&program, 1}, control);
  if (report.outcome != results::Outcome::kComplete) throw std::logic_error("it did not end");
  return report.makespan.seconds();
}

struct Exception {
  const char *shape, *work, *protocol;  // "": any
  double least, most;                   // packets over flow
};

// Where pairs take turns and a rank is in several of them, fluids of a NIC end together and their turn with
// them; packets of one pair are through before another's, so that its turn comes sooner. In an all-to-all
// with one exchange at a time over several switches, packets bring hosts out of step, and several send to
// one. With get in order, who is late by microseconds decides whether a pair takes turns: so it does in
// Rabenseifner's four exchanges with packets, and in three of them as fluids.
const std::vector<Exception>& exceptions() {
  static const std::vector<Exception> kAll = {
      {"", "alltoall `linear`", "openmpi_tcp", 0.80, 0.92},
      {"", "alltoall `linear`", "mpich_ofi", 0.83, 0.92},
      {"", "stencil", "openmpi_tcp", 0.90, 1.0},
      {"", "stencil", "mpich_ofi", 0.85, 0.96},
      {"tree", "alltoall `pairwise`", "ideal", 1.05, 1.15},
      {"tree", "alltoall `pairwise`", "openmpi_ucx", 1.05, 1.15},
      {"tree", "alltoall `pairwise`", "mpich_ofi", 1.05, 1.15},
      {"tree", "allreduce `rabenseifner`", "mpich_ofi", 1.1, 1.25},
  };
  return kAll;
}

const Exception* exception_of(const Shape& shape, const Work& work, const std::string& protocol) {
  const auto fits = [](const char* pattern, const std::string& name) { return !*pattern || name == pattern; };
  const auto found = std::find_if(exceptions().begin(), exceptions().end(), [&](const Exception& each) {
    return fits(each.shape, shape.name) && fits(each.work, work.name) && fits(each.protocol, protocol);
  });
  return found == exceptions().end() ? nullptr : &*found;
}

const std::vector<std::string> kProtocols = {"ideal", "openmpi_tcp", "openmpi_ucx", "mpich_ofi"};

}  // namespace

TEST_CASE("flow and packets agree within 5% with every protocol, where the network is no cause to differ") {
  for (const Shape& shape : shapes()) {
    for (const Work& work : works()) {
      const goal::Graph graph = program_of(work.traffic, shape);
      for (const std::string& protocol : kProtocols) {
        const double flow = seconds(graph, shape, protocol, kFlowLevel);
        const double packet = seconds(graph, shape, protocol, kPacketLevel);
        CAPTURE(shape.name, work.name, protocol, flow, packet);
        const Exception* const expected = exception_of(shape, work, protocol);
        CHECK(packet / flow >= (expected != nullptr ? expected->least : 0.95));
        CHECK(packet / flow <= (expected != nullptr ? expected->most : 1.05));
      }
    }
  }
}

// Three allreduces of 4 MB on 4 hosts: each sends 2 * 3/4 of them, 0.48 s at 100 Mb/s; headers are 1.6%,
// ACKs on the way back as much.
TEST_CASE("without a library's protocol both directions of a link are used at once") {
  const Shape four{"four", "topology { single_switch { hosts: 4 link: \"100Mbps\" latency: \"2.7us\" } }\n",
                   4};
  for (const char* algorithm : {"ring", "rabenseifner"}) {
    const goal::Graph graph = program_of(collective("allreduce", "4MB", algorithm), four);
    for (const std::string& level : {kFlowLevel, kPacketLevel}) {
      const double ideal = seconds(graph, four, "ideal", level);
      CAPTURE(algorithm, level, ideal);
      CHECK(ideal > 3 * 0.48 * 4160 / 4096);
      CHECK(ideal < 3 * 0.48 * 1.05);
      // The clear of the one that is late waits behind the other's data, which are in the same socket.
      const double in_turn = seconds(graph, four, "openmpi_tcp", level);
      CAPTURE(in_turn);
      if (std::string(algorithm) == "ring") {
        CHECK(in_turn < 1.05 * ideal);
      } else {
        CHECK(in_turn > 1.9 * ideal);
      }
      CHECK(seconds(graph, four, "openmpi_tcp:answers=apart", level) < 1.05 * ideal);
    }
  }
}

TEST_CASE("the table of the README", "[.][table]") {
  for (const Work& work : works()) {
    std::string row = "| " + work.name;
    for (const Shape& shape : shapes()) {
      const goal::Graph graph = program_of(work.traffic, shape);
      for (const std::string& protocol : kProtocols) {
        const double flow = seconds(graph, shape, protocol, kFlowLevel);
        row += fmt::format(" | {:.3f} {:+.1f}%", flow,
                           (seconds(graph, shape, protocol, kPacketLevel) / flow - 1) * 100);
      }
    }
    std::printf("%s |\n", row.c_str());
  }
}

}  // namespace weft::validation
