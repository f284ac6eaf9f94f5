// What a run says its time consists of, against the time itself, closed forms, and runs with one thing
// changed.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/run/simulation.h"
#include "tests/validation/run.h"

namespace weft::validation {
namespace {

using results::CriticalPath;

results::Report report_of(const std::string& text, const sim::WhatIf& what_if = {},
                          std::uint32_t threads = 1) {
  const sim::Registries registries = sim::builtin_registries();
  sim::Scenario scenario =
      sim::resolve(sim::read_scenario(registries, text, "scenario of the test"), registries);
  scenario.threads = threads;
  const sim::Simulation simulation(scenario, what_if);
  NeverStop control;
  results::Report report = simulation.run(simulation.workload(), control);
  REQUIRE(report.outcome == results::Outcome::kComplete);
  return report;
}

const CriticalPath& path_of(const results::Report& report) {
  REQUIRE(report.jobs.size() == 1);
  REQUIRE(report.jobs[0].path);
  return *report.jobs[0].path;
}

std::string loggops(const std::string& parameters, const std::string& traffic) {
  return fmt::format("job {{ traffic {{ {} }} }}\nnetwork {{ loggops {{ {} }} }}\n", traffic, parameters);
}

const std::string kTree = "topology { fat_tree { k: 4 link: \"100Gbps\" } }\n";

std::string on_tree(const std::string& traffic, const std::string& more) {
  return fmt::format("job {{ traffic {{ {} }} }}\n{}{}", traffic, kTree, more);
}

// Programs of all kinds of operations.
const std::vector<std::string>& programs() {
  static const std::vector<std::string> kAll = {
      "ping_pong { sizes: \"[8B,100KB]\" iterations: 3 ranks: 16 }",
      "stencil { dims: \"2d\" cells: \"100\" iterations: 4 compute: \"20us\" allreduce: 2 ranks: 16 }",
      "sweep { dims: \"2d\" compute: \"3us\" ranks: 16 }",
      "fft { points: 64 compute: \"30us\" ranks: 16 }",
      "master_worker { tasks: 40 compute: \"15us\" ranks: 16 }",
      "sparse { size: \"200KB\" iterations: 3 ranks: 16 }",
      "alltoall { size: \"70KB\" ranks: 16 }",
      "incast { n: 15 size: \"300KB\" ranks: 16 }",
      "collective { kind: \"allreduce\" size: \"1MB\" algorithm: \"ring\" ranks: 16 }",
      "collective { kind: \"bcast\" size: \"300KB\" algorithm: \"binomial_tree\" ranks: 16 }",
      "collective { kind: \"alltoall\" size: \"8B\" iterations: 3 compute: \"1us\" ranks: 16 }"};
  return kAll;
}

}  // namespace

TEST_CASE("the parts of the critical path add up to the time, for any number of threads") {
  const std::string network = GENERATE(
      "network { loggops { } }\n", "network { loggops { S: \"1000B\" o: \"700ns\" } }\n",
      "network { flow { } }\n", "network { flow { } }\nhosts { o: \"1us\" protocol: \"openmpi_tcp\" }\n",
      "network { packet { } }\n",
      "network { packet { } }\nhosts { o: \"1us\" protocol: \"mpich_ofi:eager_limit=4KiB\" }\n",
      "network { packet { } }\nhosts { o: \"1us\" protocol: \"openmpi_ucx:eager_limit=4KiB\" "
      "reduction_per_byte: 0.1 }\n",
      "network { packet { } }\nhosts { o: \"1us\" protocol: "
      "\"openmpi_tcp:eager_limit=4KiB,rendezvous=pipeline,first_fragment=1KiB\" }\n",
      "network { flow { } }\ncollectives { profile: \"nccl:node=dgx_h100\" }\n");
  const bool has_topology = network.find("loggops") == std::string::npos;
  for (const std::string& program : programs()) {
    CAPTURE(network, program);
    const std::string text =
        fmt::format("job {{ traffic {{ {} }} }}\n{}{}", program, has_topology ? kTree : "", network);
    const results::Report report = report_of(text);
    const CriticalPath path = path_of(report);
    CHECK(path.total() == report.makespan);
    for (int part = 0; part < results::kPathParts; ++part) CHECK(results::path_part(path, part) >= Time());
    const results::Report two = report_of(text, {}, 2);
    for (int part = 0; part < results::kPathParts; ++part) {
      CHECK(results::path_part(path_of(two), part) == results::path_part(path, part));
    }
  }
}

TEST_CASE("a ping-pong's parts are those of LogGOPS") {
  // 10 messages of 1,001 bytes there, and as many back: each 2 o, L and 1,000 G.
  const CriticalPath path =
      path_of(report_of(loggops("L: \"2us\" o: \"300ns\" g: \"0\" G: 0.5 O: 0 S: \"100000B\"",
                                "ping_pong { sizes: \"1001B\" iterations: 10 ranks: 2 }")));
  CHECK(path.overhead == Time::ns(20 * 600));
  CHECK(path.latency + path.bandwidth == Time::ns(20 * (2000 + 500)));
  CHECK(path.bandwidth >= Time::ns(20 * 500));
  CHECK(path.bandwidth <= Time::ns(20 * 501));
  CHECK(path.queueing == Time());
  CHECK(path.matching == Time());
  CHECK(path.compute == Time());
}

TEST_CASE("handshakes of large messages are matching") {
  // The request and the clear, each L, before the data.
  const CriticalPath path =
      path_of(report_of(loggops("L: \"2us\" o: \"0\" g: \"0\" G: 0.5 O: 0 S: \"100B\"",
                                "ping_pong { sizes: \"1001B\" iterations: 10 ranks: 2 }")));
  CHECK(path.matching == Time::ns(20 * 4000));
  CHECK(path.overhead == Time());
}

// 8 MB take 6.4 ms over the uplink of 10 Gb/s, which is nobody else's, and 0.16 ms at NICs of 400.
TEST_CASE("a slow link behind a fast NIC is bandwidth, not latency, and what a message takes alone") {
  const std::string network = GENERATE("network { flow {} }", "network { packet {} }");
  const results::Report report = report_of(
      "job { traffic { shift { size: \"8MB\" by: 4 ranks: 5 } } } topology { leaf_spine { leaves: 2 spines: "
      "1 "
      "hosts_per_leaf: 4 link: \"10Gbps\" host_link: \"400Gbps\" } } " +
      network);
  CAPTURE(network);
  CHECK(results::bound_by(path_of(report)) == "bandwidth");
  CHECK(path_of(report).bandwidth.seconds() > 0.9 * report.makespan.seconds());
  const auto across = std::ranges::find(report.flows, 0u, &results::Flow::source);  // to rank 4
  REQUIRE(across != report.flows.end());
  CHECK(across->ideal.seconds() > 0.9 * report.makespan.seconds());
}

// Between nodes it is their NICs of 400 Gb/s, whatever NVLink would carry.
TEST_CASE("between nodes of GPUs their NICs' bandwidth is what a large message takes") {
  const std::string network = GENERATE("network { flow {} }", "network { packet {} }");
  const results::Report report = report_of(
      "job { traffic { shift { size: \"8MB\" by: 8 ranks: 16 } } } "
      "topology { scale_up { of: \"[fat_tree:k=4]\" node: \"dgx_h100\" } } " +
      network);
  CAPTURE(network);
  CHECK(results::bound_by(path_of(report)) == "bandwidth");
}

TEST_CASE("what a NIC sends one after the other is bandwidth, what meets in the network queueing") {
  // 15 senders of 1 MB to one host of 100 Gb/s: its link carries 15 MB.
  const results::Report incast =
      report_of(on_tree("incast { n: 15 size: \"1MB\" ranks: 16 }", "network { flow { } }\n"));
  CHECK(path_of(incast).bandwidth.seconds() > 0.95 * 15e6 * 8 / 100e9);
  CHECK(results::bound_by(path_of(incast)) == "bandwidth");
  // A tree with one uplink for four hosts: a shift through the top shares it, NICs are idle most of the time.
  const results::Report shared = report_of(
      "job { traffic { shift { by: 8 size: \"4MB\" ranks: 16 } } }\n"
      "topology { fat_tree { k: 4 oversubscription: 4 link: \"100Gbps\" } }\nnetwork { flow { } }\n");
  CHECK(path_of(shared).queueing > path_of(shared).bandwidth);
  CHECK(results::bound_by(path_of(shared)) == "queueing");
}

TEST_CASE("what a run is bound by is what helps most when it is run again") {
  struct Case {
    std::string what, text;
  };
  const std::string flow = "network { flow { } }\n", packet = "network { packet { } }\n";
  const std::vector<Case> cases = {
      {"compute",
       on_tree("stencil { dims: \"2d\" cells: \"64\" iterations: 5 compute: \"500us\" ranks: 16 }", packet)},
      {"bandwidth",
       on_tree("stencil { dims: \"2d\" cells: \"100000\" iterations: 3 compute: \"5us\" ranks: 16 }", flow)},
      {"bandwidth", on_tree("alltoall { size: \"1MB\" ranks: 16 }", packet)},
      {"bandwidth", on_tree("incast { n: 15 size: \"1MB\" ranks: 16 }", packet)},
      {"latency", on_tree("collective { kind: \"allreduce\" size: \"8B\" iterations: 5 ranks: 16 }", packet)},
      {"latency", on_tree("sweep { dims: \"2d\" blocks: 4 size: \"64B\" compute: \"0\" ranks: 16 }", flow)},
      {"overhead",
       on_tree("master_worker { tasks: 100 compute: \"1us\" ranks: 16 }", flow + "hosts { o: \"20us\" }\n")},
      {"compute", loggops("o: \"100ns\"", "sweep { dims: \"2d\" blocks: 4 compute: \"80us\" ranks: 16 }")},
      {"overhead",
       loggops("o: \"30us\"", "collective { kind: \"allreduce\" size: \"8B\" iterations: 5 ranks: 16 }")}};
  for (const Case& each : cases) {
    CAPTURE(each.what, each.text);
    const results::Report base = report_of(each.text);
    const auto gain = [&](const sim::WhatIf& what_if) {
      return 1 - report_of(each.text, what_if).makespan.seconds() / base.makespan.seconds();
    };
    // Each as a share of all that the change could take away of it.
    const std::vector<std::pair<double, std::string>> gains = {{gain({.rates = 4}) / 0.75, "bandwidth"},
                                                               {gain({.latencies = 0}), "latency"},
                                                               {gain({.overheads = 0}), "overhead"},
                                                               {gain({.compute = 0.5}) / 0.5, "compute"}};
    std::string named(results::bound_by(path_of(base)));
    if (named == "queueing") named = "bandwidth";
    if (named == "matching") named = "latency";
    CHECK(std::ranges::max_element(gains)->second == each.what);
    CHECK(named == each.what);
  }
}

}  // namespace weft::validation
