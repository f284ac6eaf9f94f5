// Settings of the command line, a line each, and a short run with them: faults, measurements and the
// parameters of every module.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "goal/program.h"
#include "goal/text/text.h"
#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"
#include "tests/fuzz/fuzz.h"

using namespace weft;

namespace {

struct NeverStop : sim::RunControl {
  NeverStop() : RunControl({.time = Time::us(1'000'000), .events = 4000}) {}
  sim::StopReason poll(Time, std::uint64_t) override { return sim::StopReason::kNone; }
};

std::vector<sim::Setting> settings(std::string_view text) {
  std::vector<sim::Setting> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    found.push_back(sim::parse_setting(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

const goal::Program& program() {
  static const goal::Program program(std::make_unique<const goal::Graph>(goal::parse_text(
      "num_ranks 3\n"
      "rank 0 {\na: send 9000b to 1\nb: calc 1000\nb requires a\nc: allreduce 100000b\nc requires b\n}\n"
      "rank 1 {\nrecv 9000b from 0\nsend 1b to 2 tag 3\nallreduce 100000b\n}\n"
      "rank 2 {\nrecv 1b from -1 tag -1\nallreduce 100000b\n}\n",
      "program")));
  return program;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sim::Registries registries = sim::builtin_registries();
  const std::string base = "job { goal: \"in.goal\" }\n";
  auto scenario = fuzz::attempt([&] {
    return sim::resolve(sim::read_scenario(registries, base, "base", settings(fuzz::text_of(data, size))),
                        registries);
  });
  if (!scenario) return 0;
  scenario->output.directory.clear();
  scenario->threads = 1;
  // Networks and files have targets of their own.
  if (!scenario->topology.empty() && scenario->topology.name != "single_switch") return 0;
  if (scenario->topology.given["hosts"].size() > 2) return 0;
  const std::string& table = scenario->collectives.given["table"];
  if (!table.empty()) return 0;
  fuzz::attempt([&] {
    const sim::Simulation simulation(*scenario);
    NeverStop control;
    const results::Report report = simulation.run({&program(), 1}, control);
    for (const std::string& warning : report.warnings) fuzz::check_message(warning);
  });
  return 0;
}
