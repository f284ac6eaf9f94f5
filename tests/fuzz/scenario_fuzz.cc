// Scenario files.
#include <span>
#include <string>

#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"
#include "tests/fuzz/fuzz.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sim::Registries registries = sim::builtin_registries();
  const auto draft =
      fuzz::attempt([&] { return sim::read_scenario(registries, fuzz::text_of(data, size), "in.txtpb"); });
  if (!draft) return 0;
  const auto resolved = fuzz::attempt([&] { return sim::resolve(*draft, registries); });
  if (!resolved) return 0;
  for (const std::string& warning : resolved->warnings) fuzz::check_message(warning);
  const std::string text = sim::to_text(*resolved, registries);
  const auto again = [&](const std::string& file, std::span<const sim::Setting> settings) {
    return sim::resolve(sim::read_scenario(registries, file, "again", settings), registries);
  };
  fuzz::require(sim::to_text(again(text, {}), registries) == text, "another scenario from its own text");
  fuzz::require(sim::to_text(sim::resolve(sim::draft_of(*resolved), registries), registries) == text,
                "another scenario when it is resolved twice");
  // As `weft sim RUN/scenario.txtpb -o OTHER` repeats a run.
  const std::string run = sim::to_text(sim::repeatable(sim::draft_of(*resolved), registries), registries);
  const sim::Setting folder{"-o", "output.directory", "other"};
  const sim::Scenario repeated = again(run, {&folder, resolved->output.directory.empty() ? 0UL : 1UL});
  fuzz::require(sim::to_text(sim::repeatable(sim::draft_of(repeated), registries), registries) == run,
                "another scenario from the text that repeats it");
  return 0;
}
