// Hosts with several NICs, run as users run them, at both levels: what divides over how many.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "sim/results/report.h"
#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"
#include "sim/units/input_error.h"

namespace weft::sim {
namespace {

using Catch::Contains;

class NoControl final : public RunControl {
 public:
  StopReason poll(Time, std::uint64_t) override { return StopReason::kNone; }
};

// Hosts with 8 NICs of 400 Gb/s each, of which any leads to any other.
const char* const kRails = "rail_optimized:units=1,nodes=4,rails=8,link=400Gbps";

struct Case {
  std::string network, traffic, topology = kRails;
  std::vector<Setting> settings = {};
  std::uint32_t threads = 1;
};

results::Report run_settings(const std::vector<Setting>& settings) {
  const Registries registries = builtin_registries();
  const Simulation simulation(resolve(read_scenario(registries, "", "", settings), registries));
  NoControl control;
  return simulation.run(simulation.workload(), control);
}

results::Report run(const Case& what) {
  std::vector<Setting> settings = what.settings;
  settings.push_back({"", "network", what.network});
  settings.push_back({"", "job.traffic", what.traffic});
  settings.push_back({"", "topology", what.topology});
  settings.push_back({"", "fabric", "none"});
  settings.push_back({"", "threads", std::to_string(what.threads)});
  return run_settings(settings);
}

double ms(const results::Report& report) { return static_cast<double>(report.makespan.ps()) / 1e9; }

// Tells how long so many bytes take over so many NICs, in packets of 4096 bytes with headers of 64.
double ms_on_wire(double bytes, double nics, double gbps) {
  return bytes * 8 * (4160.0 / 4096) / (nics * gbps * 1e9) * 1e3;
}

bool warns(const results::Report& report, const std::string& text) {
  for (const std::string& warning : report.warnings) {
    if (warning.find(text) != std::string::npos) return true;
  }
  return false;
}

// Returns how many NICs the busiest host used.
std::uint32_t nics_used(const results::Report& report) {
  REQUIRE(report.nics_used.size() == 1);
  return report.nics_used[0].most;
}

const std::vector<std::string> kLevels = {"flow", "packet"};

}  // namespace

TEST_CASE("nics: a message goes over as many of its rank's NICs as the choice says", "[nics]") {
  struct Choice {
    const char* name;
    std::uint32_t nics;
  };
  constexpr double kBytes = 100e6;
  for (const std::string& level : kLevels) {
    for (const Choice& choice : {Choice{"near", 1}, {"library", 2}, {"ucx", 2}, {"nccl", 8}, {"all", 8}}) {
      INFO(level << ' ' << choice.name);
      const results::Report report = run({level + ":nic_choice=" + choice.name, "shift:size=100MB,ranks=2"});
      REQUIRE(report.outcome == results::Outcome::kComplete);
      CHECK(ms(report) == Approx(ms_on_wire(kBytes, choice.nics, 400)).epsilon(0.03));
      CHECK(nics_used(report) == choice.nics);
      CHECK(report.messages == 2);
      CHECK(report.bytes == 200'000'000);
      CHECK(report.flows.size() == 2 * choice.nics);
    }
  }
}

TEST_CASE("nics: protocols say over how many their messages go", "[nics]") {
  const auto time = [](const std::string& level, const std::string& protocol) {
    return ms(run({level, "shift:size=100MB,ranks=2", kRails, {{"", "hosts.protocol", protocol}}}));
  };
  for (const std::string& level : kLevels) {
    INFO(level);
    CHECK(time(level, "mpich_ofi") == Approx(ms_on_wire(100e6, 1, 400)).epsilon(0.03));
    CHECK(time(level, "openmpi_ucx") == Approx(ms_on_wire(100e6, 2, 400)).epsilon(0.03));
    CHECK(time(level, "openmpi_ucx:rails=4") == Approx(ms_on_wire(100e6, 4, 400)).epsilon(0.03));
  }
}

TEST_CASE("nics: a graph that names NICs which hosts lack is told", "[nics]") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/named.goal";
  std::ofstream(path)
      << "num_ranks 2\nrank 0 {\nsend 1000b to 1 nic 9\n}\nrank 1 {\nrecv 1000b from 0 nic 9\n}\n";
  const auto with = [&](const std::string& network, const std::string& topology) {
    return run_settings({{"", "network", network},
                         {"", "job.goal", path},
                         {"", "topology", topology},
                         {"", "fabric", "none"}});
  };
  const std::string told =
      "the graph names NICs up to 9, hosts have 8: numbers beyond are taken modulo, as NIC 1";
  for (const std::string& level : kLevels) {
    INFO(level);
    CHECK(warns(with(level, kRails), told));
    CHECK_FALSE(warns(with(level, "rail_optimized:units=1,nodes=2,rails=10,link=400Gbps"), "names NICs"));
    CHECK(warns(with(level + ":nic_choice=round_robin", kRails), "the graph names NICs up to 9, which"));
    CHECK_FALSE(warns(run({level, "shift:size=1KB,ranks=2"}), "names NICs"));
  }
}

TEST_CASE("nics: short messages aren't divided", "[nics]") {
  for (const std::string& level : kLevels) {
    INFO(level);
    CHECK(run({level, "shift:size=32767B,ranks=2"}).flows.size() == 2);
    CHECK(run({level, "shift:size=32KiB,ranks=2"}).flows.size() == 4);
    CHECK(run({level + ":nic_choice=all", "shift:size=64KiB,ranks=2"}).flows.size() == 8);
  }
}

TEST_CASE("nics: ranks that have one each divide nothing", "[nics]") {
  for (const std::string& level : kLevels) {
    INFO(level);
    const auto time = [&](const std::string& choice) {
      return ms(run({level + ":nic_choice=" + choice,
                     "shift:by=8,size=10MB,ranks=16",
                     kRails,
                     {{"", "hosts.ranks_per_host", "8"}}}));
    };
    CHECK(time("library") == time("near"));
    CHECK(time("all") == time("near"));
    CHECK(time("near") == Approx(ms_on_wire(10e6, 1, 400)).epsilon(0.05));
  }
}

TEST_CASE("nics: both ports of a dual-port NIC are used", "[nics]") {
  for (const std::string& level : kLevels) {
    INFO(level);
    const results::Report report =
        run({level, "shift:size=100MB,ranks=4", "hpn:segments=2,nodes=4,rails=1,aggs=4"});
    CHECK(ms(report) == Approx(ms_on_wire(100e6, 2, 200)).epsilon(0.05));
    CHECK(nics_used(report) == 2);
  }
}

// A ring of two ranks sends all of the vector from each to the other.
TEST_CASE("nics: the channels of NCCL take a rank's NICs in turn", "[nics]") {
  const auto time = [](const std::string& level, const std::string& choice) {
    return ms(
        run({level + ":nic_choice=" + choice,
             "collective:kind=allreduce,size=128MiB,element=4B,ranks=2",
             kRails,
             {{"", "collectives.allreduce", "nccl_ring:protocol=simple,channels=16,ranks_per_node=1"}}}));
  };
  for (const std::string& level : kLevels) {
    INFO(level);
    const double bytes = 128 * 1024 * 1024;
    CHECK(time(level, "near") == Approx(ms_on_wire(bytes, 1, 400)).epsilon(0.03));
    CHECK(time(level, "library") == Approx(ms_on_wire(bytes, 8, 400)).epsilon(0.1));
  }
}

// Whatever carries it, and with several connections and fragments under way: each message comes once.
TEST_CASE("nics: divided messages of every protocol arrive whole, for any threads", "[nics]") {
  const char* const traffic = "random:size=300000B,count=4,ranks=8";
  struct Protocol {
    const char *name, *eager;
  };
  for (const auto& [protocol, eager] :
       {Protocol{"ideal", "1TB"},
        {"openmpi_ucx", "16KiB"},
        {"ideal:rendezvous=pipeline,fragment=100000B,pipeline_depth=2", "16KiB"},
        {"openmpi_ucx:connections=3,rails=8", "16KiB"}}) {
    for (const char* connections : {"per_message", "per_pair"}) {
      for (const std::string& level : kLevels) {
        INFO(protocol << ' ' << connections << ' ' << level);
        const std::vector<Setting> settings = {{"", "hosts.protocol", protocol},
                                               {"", "hosts.ranks_per_host", "2"},
                                               {"", "hosts.S", eager},
                                               {"", "connections", connections}};
        const results::Report report = run({level, traffic, kRails, settings});
        REQUIRE(report.outcome == results::Outcome::kComplete);
        CHECK(report.bytes == report.messages * 300'000);
        CHECK(nics_used(report) > 2);
        if (level == "flow") continue;
        std::vector<Setting> no_timeline = settings;
        no_timeline.push_back({"", "output.timeline", "off"});
        const results::Report two = run({level, traffic, kRails, no_timeline, 2});
        CHECK(two.digest == report.digest);
        CHECK(two.makespan == report.makespan);
      }
    }
  }
}

TEST_CASE("nics: a cable that is down from the start is left out, and told", "[nics]") {
  for (const std::string& level : kLevels) {
    INFO(level);
    const auto run_with = [&](const std::string& fault) {
      std::vector<Setting> settings = {{"", "hosts.ranks_per_host", "8"}};
      if (!fault.empty()) settings.push_back({"", "fault", fault});
      return run({level, "shift:by=8,size=10MB,ranks=16", kRails, settings});
    };
    const double whole = ms(run_with(""));
    const results::Report report = run_with("link=host 0 / leaf 0.3");
    REQUIRE(report.outcome == results::Outcome::kComplete);
    // 8 ranks on 7 NICs: two of them share one.
    CHECK(ms(report) == Approx(2 * whole).epsilon(0.05));
    CHECK(warns(report, "the link of NIC 3 of host 0 is down from the start"));
  }
}

TEST_CASE("nics: a host without any NIC left waits for one to come back", "[nics]") {
  const results::Report report =
      run({"flow", "shift:by=1,size=10MB,ranks=2", kRails, {{"", "fault", "link=host 0 / *,until=5ms"}}});
  REQUIRE(report.outcome == results::Outcome::kComplete);
  CHECK(ms(report) > 5);
}

TEST_CASE("nics: what fails during the run is told", "[nics]") {
  for (const std::string& level : kLevels) {
    INFO(level);
    const results::Report report = run(
        {level,
         "shift:by=8,size=10MB,ranks=16",
         kRails,
         {{"", "hosts.ranks_per_host", "8"}, {"", "fault", "link=host 0 / leaf 0.3,at=50us,until=500us"}}});
    CHECK(report.outcome == results::Outcome::kComplete);
    CHECK(warns(report, "the link of NIC 3 of host 0 is down during the run"));
    CHECK(ms(report) > 0.5);
  }
}

}  // namespace weft::sim
