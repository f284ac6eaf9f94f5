// Programs on a real network against the prediction from their traces: Open MPI 4.1.4 over TCP on four hosts,
// measured by tools/bench/shaped. README.md has the table.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "goal/read_graph.h"
#include "goal/transform/perturb.h"
#include "tests/validation/run.h"

namespace weft::validation {
namespace {

const std::string kFolder = "tests/validation/shaped/";

struct Measurement {
  std::string name;
  std::string rate;  // of the links, such as 20mbit
  double median_s = 0;
};

std::vector<Measurement> measurements() {
  std::ifstream file(kFolder + "measured.csv");
  std::string line;
  std::getline(file, line);
  if (line != "name,rate,median_s,least_s,most_s,runs") throw std::logic_error("measured.csv: " + line);
  std::vector<Measurement> all;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string name, rate, median;
    std::getline(fields, name, ',');
    std::getline(fields, rate, ',');
    std::getline(fields, median, ',');
    all.push_back({name, rate, std::stod(median)});
  }
  return all;
}

// Ethernet with 1,448 bytes of TCP payload and 66 of headers a packet, an ACK for two of them.
std::string network_of(const std::string& name) {
  if (name == "flow") return "network { flow { mtu: \"1448\" header: \"66\" } }\n";
  return "network { packet { mtu: \"1448\" header: \"66\" ack: \"66\" ack_every: 2 } } congestion { "
         "fixed_window { "
         "packets: 60 } } queue { droptail { capacity: \"64MB\" } }\n";
}

double predicted_s(const goal::Graph& graph, const Measurement& measured, const std::string& network,
                   const std::string& protocol) {
  const std::string mbps = measured.rate.substr(0, measured.rate.find("mbit"));
  const std::string text = fmt::format(
      "job {{ goal: \"built by the test\" }} topology {{ single_switch {{ hosts: 4 link: \"{}Mbps\" latency: "
      "\"10us\" }} }} hosts {{ o: \"10us\" protocol: \"{}\" }} collectives {{ profile: \"openmpi\" }}\n{}",
      mbps, protocol, network_of(network));
  const results::Report report = run_whole(text, graph);
  if (report.outcome != results::Outcome::kComplete) throw std::logic_error(measured.name + " did not end");
  return report.makespan.seconds();
}

// The median over fifteen draws of what delays ranks between two calls. Applications' own times of compute
// have that in them.
double predicted_s(const Measurement& measured, const std::string& network, const std::string& protocol) {
  const goal::Graph graph = goal::read_graph(kFolder + measured.name + ".weft");
  if (measured.name.starts_with("lammps")) return predicted_s(graph, measured, network, protocol);
  std::vector<double> times;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    const std::vector<ModuleChoice> noises{parse_module_choice("delay:most=500us")};
    times.push_back(predicted_s(goal::perturb(graph, noises, {.seed = seed}), measured, network, protocol));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

TEST_CASE("times on a network of four hosts are predicted within 12%") {
  const std::string network = GENERATE("flow", "packet");
  const std::vector<Measurement> all = measurements();
  REQUIRE(all.size() == 25);
  double errors = 0;
  for (const Measurement& measured : all) {
    const double error = predicted_s(measured, network, "openmpi_tcp") / measured.median_s - 1;
    CAPTURE(network, measured.name, measured.median_s, error);
    CHECK(std::abs(error) <= 0.12);
    // Where nobody waits for a clear, nothing but the links counts.
    if (measured.name.starts_with("incast")) CHECK(std::abs(error) <= 0.01);
    errors += std::abs(error) / static_cast<double>(all.size());
  }
  CAPTURE(network, errors);
  CHECK(errors <= 0.045);
}

TEST_CASE("without the library's protocol messages of 64 KiB go both ways at once, and twice as fast") {
  for (const Measurement& measured : measurements()) {
    if (measured.name != "exchange_65536_20mbit" && measured.name != "fft_131072_20mbit") continue;
    for (const char* network : {"flow", "packet"}) {
      const double ideal = predicted_s(measured, network, "ideal");
      CAPTURE(network, measured.name, ideal, measured.median_s);
      CHECK(ideal < 0.6 * measured.median_s);
    }
  }
}

}  // namespace weft::validation
