// What a replay takes from its graph's MPI library, and what protocols make of messages on a network with
// connections.
#include "sim/run/mpi_library.h"

#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "goal/pack/pack.h"
#include "goal/pack/packed_program.h"
#include "goal/text/text.h"
#include "sim/fabrics/machine_hosts.h"
#include "sim/run/simulation.h"

namespace weft::sim {
namespace {

using Catch::Contains;

struct NeverStop : RunControl {
  StopReason poll(Time, std::uint64_t) override { return StopReason::kNone; }
};

const std::string kSwitch = "topology { single_switch { hosts: 4 link: \"80Gbps\" latency: \"1us\" } }\n";
const std::string kFluid = kSwitch + "fabric: \"none\"\nnetwork { flow { header: \"0\" mtu: \"1000\" } }\n";
constexpr double kNanosecondsPerByte = 0.1;

Scenario resolved(const std::string& text, const std::string& job = "job { goal: \"a.weft\" }\n") {
  const Registries registries = builtin_registries();
  return resolve(read_scenario(registries, job + text, "test"), registries);
}

// A packed graph, with this in its metadata.
class Packed {
 public:
  explicit Packed(const std::string& library,
                  const std::string& text = "num_ranks 1\nrank 0 {\ncalc 1\n}\n") {
    goal::PackInfo info;
    if (!library.empty())
      info.metadata[library.starts_with("NCCL") ? "nccl_library" : "mpi_library"] = library;
    bytes_ = goal::to_pack(goal::parse_text(text, "a.goal"), info);
    program_ = std::make_unique<goal::PackedProgram>(bytes_, "a.weft");
  }
  goal::Program program() const { return *program_; }

 private:
  std::string bytes_;
  std::unique_ptr<goal::PackedProgram> program_;
};

struct Decided {
  std::string protocol, profile, o, eager;
  std::vector<std::string> remarks;
};
Decided decide(const std::string& scenario, const std::string& library,
               const std::string& text = "num_ranks 1\nrank 0 {\ncalc 1\n}\n") {
  Scenario decided = resolved(scenario);
  Decided found;
  const Packed packed(library, text);
  follow_library(decided, packed.program(), found.remarks);
  const auto protocol = decided.hosts.given.find("protocol");
  if (protocol != decided.hosts.given.end()) found.protocol = parse_module_choice(protocol->second).name;
  found.profile = decided.collectives.given.at("profile");
  found.o = decided.hosts.given["o"];
  found.eager = decided.hosts.given["S"];
  std::vector<std::string> again;
  follow_library(decided, packed.program(), again);
  CHECK(again.empty());
  return found;
}

const char* const kOpenMpi =
    "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022";

results::Report run(const std::string& scenario, const goal::Program& program) {
  NeverStop control;
  return Simulation(resolved(scenario)).run({&program, 1}, control);
}
std::vector<double> finish_ns(const std::string& scenario, const std::string& graph) {
  const goal::Graph parsed = goal::parse_text(graph, "test.goal");
  std::vector<double> times;
  for (const results::Rank& rank : run(scenario, parsed).ranks) times.push_back(rank.finish.seconds() * 1e9);
  return times;
}

}  // namespace

TEST_CASE("protocol and profile come from the graph's library, and that is said") {
  const Decided open = decide(kSwitch, kOpenMpi);
  CHECK(open.protocol == "openmpi_ucx");
  CHECK(open.profile == "openmpi");
  REQUIRE(open.remarks.size() == 1);
  CHECK(open.remarks[0] ==
        std::string("protocol openmpi_ucx and collectives profile openmpi, from the trace's MPI "
                    "library ") +
            kOpenMpi);
  const Decided mpich = decide(kSwitch, "MPICH Version:\t4.0.2");
  CHECK(mpich.protocol == "mpich_ofi");
  CHECK(mpich.profile == "mpich");
}

TEST_CASE("where nothing passes by the system, Open MPI sends by TCP") {
  const auto protocol = [](const std::string& topology, const std::string& more) {
    return decide("topology { " + topology + " }\n" + more, kOpenMpi).protocol;
  };
  CHECK(protocol("fat_tree { k: 4 }", "") == "openmpi_ucx");
  CHECK(protocol("fat_tree { k: 4 }", "fabric: \"infiniband\"") == "openmpi_ucx");
  CHECK(protocol("fat_tree { k: 4 }", "fabric: \"tcp\"") == "openmpi_tcp");
  CHECK(protocol("single_switch { hosts: 4 link: \"100Mbps\" }", "") == "openmpi_tcp");
  CHECK(protocol("single_switch { hosts: 4 link: \"10Gbps\" }", "") == "openmpi_ucx");
  CHECK(protocol("fat_tree { k: 4 link: \"40Gbps\" host_link: \"1Gbps\" }", "") == "openmpi_tcp");
  CHECK(protocol("fat_tree { k: 4 link: \"1Gbps\" host_link: \"40Gbps\" }", "") == "openmpi_ucx");
}

TEST_CASE("a traced program's processors take time to add up") {
  const std::string sum =
      "num_ranks 2\nrank 0 {\nallreduce 100000000b\n}\nrank 1 {\nallreduce 100000000b\n}\n";
  const auto seconds = [&](const std::string& library, const std::string& more) {
    const Packed packed(library, sum);
    return run(kSwitch + "collectives { allreduce: \"recursive_doubling\" }\n" + more, packed.program())
        .makespan.seconds();
  };
  // The vector once from each to the other, and each adds it up: 0.03 s more.
  const double free = seconds(kOpenMpi, "hosts { reduction_per_byte: 0 }");
  CHECK(seconds(kOpenMpi, "") - free == Approx(0.045).epsilon(0.01));  // more than the cache holds
  CHECK(seconds(kOpenMpi, "hosts { cache: \"1GB\" }") - free == Approx(0.016).epsilon(0.01));
  CHECK(seconds(kOpenMpi, "hosts { reduction_per_byte: 0.1 }") - free == Approx(0.01).epsilon(0.01));
  const Decided told = decide(kSwitch, kOpenMpi, sum);
  REQUIRE(told.remarks.size() == 2);
  CHECK_THAT(told.remarks[1],
             Contains("hosts.reduction_per_byte=0.16, hosts.reduction_from_memory=0.45, "
                      "hosts.copy_per_byte=0.03, hosts.copy_from_memory=0.15, as processors"));
  CHECK(decide(kSwitch, kOpenMpi, "num_ranks 1\nrank 0 {\nallreduce 8b\n}\n").remarks.size() == 1);
}

TEST_CASE("what the scenario says comes before the library") {
  const Decided protocol = decide(kSwitch + "hosts { protocol: \"ideal\" }", kOpenMpi);
  CHECK(protocol.protocol == "ideal");
  CHECK(protocol.profile == "openmpi");
  REQUIRE(protocol.remarks.size() == 1);
  CHECK_THAT(protocol.remarks[0], Contains("collectives profile openmpi, from") && !Contains("protocol"));
  const Decided both =
      decide(kSwitch + "hosts { protocol: \"openmpi_ucx\" } collectives { profile: \"default\" }", kOpenMpi);
  CHECK(both.protocol == "openmpi_ucx");
  CHECK(both.profile == "default");
  CHECK(both.remarks.empty());
}

TEST_CASE("graphs of NCCL are replayed as NCCL chooses where a topology has nodes") {
  const Decided nccl = decide(kSwitch, "NCCL 2.23.4");
  CHECK(nccl.profile == "nccl");
  CHECK(nccl.protocol == "ideal");
  REQUIRE(nccl.remarks.size() == 2);
  CHECK_THAT(nccl.remarks[0], Contains("profile nccl, as the graph's collectives are those of NCCL 2.23.4"));
  CHECK_THAT(nccl.remarks[1], Contains("hosts have o=0ns and S=1000TB, as GPUs"));
  CHECK(nccl.o == "0ns");
  CHECK(nccl.eager == "1000TB");
  const Decided told = decide(kSwitch + "hosts { o: \"3us\" S: \"1KB\" }", "NCCL 2.23.4");
  CHECK(told.o == "3us");
  CHECK(told.eager == "1KB");
  CHECK(told.remarks.size() == 1);
  const Decided of_mpi = decide(kSwitch + "collectives { profile: \"nccl\" }", kOpenMpi);
  CHECK(of_mpi.o == "1500ns");
  const Decided alone = decide("", "NCCL");
  CHECK(alone.profile == "mpich");
  REQUIRE(alone.remarks.size() == 1);
  CHECK_THAT(alone.remarks[0], Contains("without a topology nothing is known of nodes"));
  const Decided given = decide(kSwitch + "collectives { profile: \"default\" }", "NCCL 2.23.4");
  CHECK(given.profile == "default");
  CHECK(given.remarks.empty());
}

TEST_CASE("without a library, or with one that nothing is known of, it is the first of each") {
  const Decided none = decide(kSwitch, "");
  CHECK(none.protocol == "ideal");
  CHECK(none.profile == "auto");
  CHECK(none.remarks.empty());
  const Decided other = decide(kSwitch, "Some MPI 1.0");
  CHECK(other.protocol == "ideal");
  REQUIRE(other.remarks.size() == 1);
  CHECK_THAT(other.remarks[0], Contains("none is known for the trace's MPI library Some MPI 1.0"));
}

TEST_CASE("collectives of no library go by size, which is told where it makes a difference") {
  const auto all = [](const std::string& what) {
    std::string text = "num_ranks 4\n";
    for (int r = 0; r < 4; ++r) text += fmt::format("rank {} {{\n{}\n}}\n", r, what);
    return text;
  };
  const Decided large = decide(kSwitch, "", all("allreduce 1000000b"));
  CHECK(large.profile == "mpich");
  REQUIRE(large.remarks.size() == 1);
  CHECK_THAT(large.remarks[0], Contains("profile mpich, as the graph names no library"));
  const Decided named =
      decide(kSwitch + "collectives { allreduce: \"ring\" }", "", all("allreduce 1000000b"));
  CHECK(named.remarks.empty());
  const Decided given =
      decide(kSwitch + "collectives { profile: \"openmpi\" }", "", all("allreduce 1000000b"));
  CHECK(given.profile == "openmpi");
  CHECK(given.remarks.empty());
  const Decided small = decide(kSwitch, "", all("barrier\nallreduce 8b"));
  CHECK(small.profile == "auto");
  CHECK(small.remarks.empty());
}

TEST_CASE("a run says that reductions on processors take no time, where nothing was said of that") {
  const auto told = [](const std::string& scenario, const std::string& what) {
    std::string text = "num_ranks 4\n";
    for (int r = 0; r < 4; ++r) text += fmt::format("rank {} {{\n{}\n}}\n", r, what);
    const Packed packed("", text);
    return std::ranges::any_of(run(scenario, packed.program()).warnings, [](const std::string& warning) {
      return warning.find("reductions take hosts no time") != std::string::npos;
    });
  };
  CHECK(told(kSwitch, "allreduce 65536b"));
  CHECK(told(kSwitch, "reduce 1000000b root 0"));
  CHECK_FALSE(told(kSwitch, "allreduce 65535b"));
  CHECK_FALSE(told(kSwitch, "allgather 1000000b"));
  CHECK_FALSE(told(kSwitch + "hosts { reduction_per_byte: 0.4 }", "allreduce 1000000b"));
  CHECK_FALSE(told(kSwitch + "hosts { reduction_per_byte: 0 }", "allreduce 1000000b"));
  CHECK_FALSE(told(kSwitch + "collectives { profile: \"nccl\" }", "allreduce 1000000b"));
}

TEST_CASE("on Slingshot a message goes through one NIC, whoever sends it") {
  const auto rails = [](const std::string& fabric, const char* library = "",
                        const std::string& job = "job { goal: \"a.weft\" }\n") {
    Scenario decided = resolved(kSwitch + "fabric: \"" + fabric + "\"\n", job);
    const Packed packed(library);
    std::vector<std::string> remarks;
    follow_library(decided, packed.program(), remarks);
    HostConfig hosts;
    set_protocol(decided, hosts);
    return hosts.rails.most;
  };
  const std::string generated = "job { traffic { alltoall { size: \"1KB\" } } }\n";
  CHECK(rails("slingshot") == 1);
  CHECK(rails("slingshot", kOpenMpi) == 1);
  CHECK(rails("slingshot", "", generated) == 1);
  CHECK(rails("slingshot", "", generated + "hosts { protocol: \"auto\" }\n") == 1);
  CHECK(rails("infiniband") == 2);
  CHECK(rails("infiniband", kOpenMpi) == 2);
  CHECK(rails("infiniband", "", generated) == 2);
  CHECK(rails("uet") == 2);
}

TEST_CASE(
    "on a machine hosts cost what its do, with its MPI library; what is given or in the graph comes first") {
  const auto all = [](const std::string& what) {
    std::string text = "num_ranks 4\n";
    for (int r = 0; r < 4; ++r) text += fmt::format("rank {} {{\n{}\n}}\n", r, what);
    return text;
  };
  const std::string sum = all("allreduce 1000000b"), leonardo = "topology { leonardo_dcgp { groups: 1 } }\n";
  const std::string lumi = "topology { lumi_c { groups: 1 } }\n";
  const Decided open = decide(leonardo, "", sum);
  const std::string o(fabrics::host_costs("leonardo_dcgp")->o);
  CHECK(open.protocol == "openmpi_ucx");
  CHECK(open.profile == "openmpi");
  CHECK(open.o == o);
  REQUIRE(open.remarks.size() == 1);
  CHECK_THAT(open.remarks[0], Contains("hosts.o=" + o + ", hosts.reduction_per_byte=") &&
                                  Contains("protocol openmpi_ucx, collectives profile openmpi: those of "
                                           "leonardo_dcgp's hosts with Open MPI"));
  const Decided cray = decide(lumi, "", sum);
  CHECK(cray.protocol == "mpich_ofi");
  CHECK(cray.profile == "mpich");
  CHECK(cray.o == fabrics::host_costs("lumi_c")->o);
  // What the user gave.
  const Decided given = decide(leonardo +
                                   "hosts { o: \"3us\" protocol: \"ideal\" reduction_per_byte: 0 }\n"
                                   "collectives { profile: \"default\" }\n",
                               "", sum);
  CHECK(given.o == "3us");
  CHECK(given.protocol == "ideal");
  CHECK(given.profile == "default");
  CHECK(given.remarks.empty());
  // The graph's library; the machine's way to have it is over its network.
  CHECK(decide(leonardo, kOpenMpi, sum).protocol == "openmpi_ucx");
  const Decided other = decide(lumi, kOpenMpi, sum);
  CHECK(other.protocol == "openmpi_ucx");
  CHECK(other.profile == "openmpi");
  CHECK(other.o == cray.o);
  // GPUs of NCCL send by themselves.
  const Decided nccl = decide(leonardo, "NCCL 2.23.4", sum);
  CHECK(nccl.profile == "nccl");
  CHECK(nccl.o == "0ns");
  CHECK(nccl.protocol == "ideal");
  CHECK(decide(leonardo + "collectives { profile: \"nccl\" }", "", sum).o == "0ns");
  CHECK(decide(kSwitch, "", sum).o == "1500ns");
}

TEST_CASE(
    "generated programs have a machine's hosts too, eager up to its protocol's limit; flows alone don't") {
  const Registries registries = builtin_registries();
  const auto decide_traffic = [&](const std::string& traffic, const std::string& more) {
    const std::string text =
        "job { traffic { " + traffic + " } }\ntopology { leonardo_dcgp { groups: 1 } }\n" + more;
    Scenario scenario = resolve(read_scenario(registries, text, "test"), registries);
    const goal::Graph graph = goal::parse_text(
        "num_ranks 2\nrank 0 {\nallreduce 1000000b\n}\n"
        "rank 1 {\nallreduce 1000000b\n}\n",
        "a.goal");
    std::vector<std::string> remarks;
    follow_library(scenario, graph, remarks);
    HostConfig hosts;
    set_protocol(scenario, hosts);
    return std::pair(scenario.hosts.given.at("o"), hosts.eager_limit_bytes);
  };
  const std::string o(fabrics::host_costs("leonardo_dcgp")->o);
  using Costs = std::pair<std::string, std::uint64_t>;
  CHECK(decide_traffic("collective { ranks: 2 }", "") == Costs{o, 16384});
  CHECK(decide_traffic("collective { ranks: 2 }", "hosts { S: \"5000\" o: \"0ns\" }") == Costs{"0ns", 5000});
  CHECK(decide_traffic("permutation { ranks: 2 }", "").first == "0ns");
}

// Two ranks exchange 1 MB and each adds it up, while the last answers are still under way (0.4 us).
TEST_CASE("reductions of a machine take the time that they do where the same is given") {
  const std::string text = "num_ranks 2\nrank 0 {\nallreduce 1000000b\n}\nrank 1 {\nallreduce 1000000b\n}\n";
  const std::string where = "topology { leonardo_dcgp { groups: 1 } }\nnetwork { flow { } }\n";
  const auto& costs = *fabrics::host_costs("leonardo_dcgp");
  const auto spelled = [&](double reduction) {
    return finish_ns(
        where + fmt::format("hosts {{ o: \"{}\" reduction_per_byte: {} protocol: \"{}\" }}\n"
                            "collectives {{ profile: \"{}\" allreduce: \"recursive_doubling\" }}\n",
                            costs.o, reduction, costs.protocol, costs.profile),
        text);
  };
  const double rate = std::stod(std::string(costs.reduction_per_byte));
  const std::vector<double> open =
      finish_ns(where + "collectives { allreduce: \"recursive_doubling\" }\n", text);
  CHECK(open == spelled(rate));
  CHECK(open[0] - spelled(0)[0] == Approx(1e6 * rate).epsilon(0.005));
}

TEST_CASE("LogGOPS keeps its own protocol and takes the profile") {
  const Decided found = decide("", kOpenMpi);
  CHECK(found.protocol.empty());
  CHECK(found.profile == "openmpi");
  const Packed packed(kOpenMpi);
  const results::Report report = run("", packed.program());
  REQUIRE(report.warnings.size() == 2);
  CHECK_THAT(report.warnings[0], Contains("collectives profile openmpi, from"));
  CHECK_THAT(report.warnings[1], Contains("LogGOPSim's defaults, NICs of 1.33 Gb/s and 2.5us"));
  CHECK(report.protocol.empty());
  CHECK(report.connections.empty());
}

TEST_CASE("a run reports what was decided") {
  const Packed packed(kOpenMpi);
  const results::Report report = run(kFluid, packed.program());
  CHECK_THAT(report.protocol, Catch::StartsWith("openmpi_ucx:eager_limit=16384,first_fragment=0,"));
  CHECK(report.connections == "per_pair");
}

// 1 MB each way; rank 1 begins when rank 0 has its clear and sends its data.
TEST_CASE(
    "a clear waits behind the data of its connection, so two that exchange take turns, or has its own") {
  const std::string exchange =
      "num_ranks 2\n"
      "rank 0 {\nsend 1000000b to 1\nrecv 1000000b from 1\n}\n"
      "rank 1 {\nc: calc 15000\ns: send 1000000b to 0\nr: recv 1000000b from 0\ns requires c\n}\n";
  const double message = 1e6 * kNanosecondsPerByte;
  const std::string library = kFluid + "hosts { o: \"0\" protocol: \"openmpi_tcp:send_buffer=0\" }\n";
  const auto last = [&](const std::string& scenario) {
    const std::vector<double> times = finish_ns(scenario, exchange);
    return std::max(times[0], times[1]);
  };
  // Rank 1's request gets to rank 0 when that has begun to send its megabyte, so that the clear comes behind
  // it.
  CHECK(last(library) > 1.9 * message);
  CHECK(last(library + "connections: \"per_message\"\n") < 1.4 * message);
  CHECK(last(library + "connections: \"per_pair\"\n") == last(library));
  // With a connection of its own it passes, whoever puts or gets.
  for (const char* protocol : {"openmpi_tcp:send_buffer=0,answers=apart", "ideal", "openmpi_ucx",
                               "ideal:rendezvous=get", "mpich_ofi:answers=apart"}) {
    CAPTURE(protocol);
    const std::string apart = kFluid + "hosts { o: \"0\" protocol: \"" + protocol + "\" }\n";
    CHECK(last(apart) < 1.4 * message);
    CHECK(last(apart) == last(apart + "connections: \"per_message\"\n"));
  }
  for (const char* protocol : {"ideal:answers=in_order", "openmpi_ucx:answers=in_order", "mpich_ofi"}) {
    CAPTURE(protocol);
    CHECK(last(kFluid + "hosts { o: \"0\" protocol: \"" + protocol + "\" }\n") > 1.9 * message);
  }
}

TEST_CASE("rendezvous as the protocol says: what it takes on a link of 80 Gb/s") {
  const std::string one = "num_ranks 2\nrank 0 {\nsend 1000000b to 1\n}\nrank 1 {\nrecv 1000000b from 0\n}\n";
  // Two cables of 1 us. A message arrives a packet of 1,000 bytes later on the second.
  const double bytes = 1e6 * kNanosecondsPerByte, hop = 2000, packet = 100;
  const auto near = [](double expected) { return Approx(expected).margin(0.1); };
  const auto times = [&](const std::string& protocol) {
    return finish_ns(kFluid + "hosts { o: \"0\" protocol: \"" + protocol + "\" }\n", one);
  };
  // Request and clear, then the data; the send ends with their acknowledgement.
  CHECK(times("ideal")[0] == near(4 * hop + bytes + packet));
  CHECK(times("ideal")[1] == near(3 * hop + bytes + packet));
  // 100 kB go with the request, the rest follows.
  const std::vector<double> first = times("ideal:eager_limit=100000,first_fragment=100000");
  CHECK(first[0] == near(4 * hop + packet + bytes + packet));
  CHECK(first[1] == near(3 * hop + packet + bytes + packet));
  // The receiver says when it has all.
  const std::vector<double> got = times("ideal:rendezvous=get");
  CHECK(got[1] == near(3 * hop + bytes + packet));
  CHECK(got[0] == near(4 * hop + bytes + packet));
  // Fragments in one connection take no more than the whole, if enough of them are under way: of two, each
  // waits for the acknowledgement of the one before the last.
  const std::vector<double> pieces = times("ideal:rendezvous=pipeline,fragment=10000,pipeline_depth=8");
  CHECK(pieces[0] == near(4 * hop + bytes + packet));
  CHECK(pieces[1] == near(3 * hop + bytes + packet));
  const double piece = bytes / 100;
  const std::vector<double> two = times("ideal:rendezvous=pipeline,fragment=10000,pipeline_depth=2");
  CHECK(two[0] == near(2 * hop + 50 * (piece + packet + 2 * hop) + piece));
  CHECK(two[1] == near(two[0] - hop));
  // A send buffer of 300 kB: the send ends so much earlier, the receive as before.
  const std::vector<double> buffered = times("ideal:send_buffer=300000");
  CHECK(buffered[0] == near(2 * hop + 0.7 * bytes));
  CHECK(buffered[1] == near(3 * hop + bytes + packet));
}

TEST_CASE("an eager limit of the hosts' own counts instead of the protocol's") {
  const auto limit = [](const std::string& hosts) {
    HostConfig config;
    set_protocol(resolved(kSwitch + "hosts { " + hosts + " }\n"), config);
    return std::pair(config.eager_limit_bytes, config.first_fragment_bytes);
  };
  using Limits = std::pair<std::uint64_t, std::uint64_t>;
  CHECK(limit("protocol: \"openmpi_tcp\"") == Limits{65'480, 0});
  CHECK(limit("protocol: \"openmpi_tcp:first_fragment=60000\"") == Limits{65'480, 60'000});
  CHECK(limit("protocol: \"openmpi_tcp:first_fragment=60000\" S: \"1000\"") == Limits{1000, 1000});
  CHECK(limit("protocol: \"ideal\"") == Limits{65'548, 0});
  for (const char* bad : {"ideal:rendezvous=push", "ideal:fragment=0", "ideal:pipeline_depth=0",
                          "ideal:connections=65536", "ideal:first_fragment=70000", "ideal:answers=late"}) {
    CHECK_THROWS_AS(limit(std::string("protocol: \"") + bad + "\""), InputError);
  }
}

}  // namespace weft::sim
