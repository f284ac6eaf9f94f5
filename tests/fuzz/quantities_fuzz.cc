// What users write in a word: times, rates, sizes, lists of ranks, modules with their parameters.
#include <string>

#include "goal/transform/rank_list.h"
#include "sim/units/module.h"
#include "sim/units/printable.h"
#include "sim/units/quantity.h"
#include "tests/fuzz/fuzz.h"

using namespace weft;

namespace {

void check_quantities(std::string_view text) {
  const auto time = fuzz::attempt([&] { return parse_time(text); });
  if (time) fuzz::require(parse_time(to_string(*time)) == *time, "another time from its own text");
  const auto rate = fuzz::attempt([&] { return parse_bandwidth(text); });
  if (rate) fuzz::require(parse_bandwidth(to_string(*rate)) == *rate, "another rate from its own text");
  const auto bytes = fuzz::attempt([&] { return parse_bytes(text); });
  if (bytes) fuzz::require(parse_bytes(bytes_to_string(*bytes)) == *bytes, "another size from its own text");
}

void check_choice(std::string_view text) {
  static const ModuleInfo module = {"module",
                                    "",
                                    "",
                                    {{"count", ParameterType::kInteger, "auto", ""},
                                     {"share", ParameterType::kReal, "1", ""},
                                     {"is", ParameterType::kBoolean, "true", ""},
                                     {"word", ParameterType::kText, "", ""},
                                     {"file", ParameterType::kFile, "", ""},
                                     {"time", ParameterType::kTime, "1us", ""},
                                     {"rate", ParameterType::kBandwidth, "auto", ""},
                                     {"size", ParameterType::kBytes, "4096", ""},
                                     {"of", ParameterType::kTopologies, "", ""}}};
  const auto choice = fuzz::attempt([&] { return parse_module_choice(text); });
  if (!choice) return;
  const auto parameters = fuzz::attempt([&] { return Parameters(module, *choice); });
  if (!parameters) return;
  const std::string form = to_short_form(module.name, *parameters);
  const Parameters again(module, parse_module_choice(form));
  fuzz::require(to_short_form(module.name, again) == form, "another short form from its own text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check_quantities(text);
  check_choice(text);
  constexpr goal::Rank kRanks = 64;
  const auto ranks = fuzz::attempt([&] { return goal::RankList(text, kRanks, "--ranks"); });
  if (ranks) {
    for (const goal::Rank rank : ranks->ranks()) fuzz::require(rank < kRanks, "a rank that does not exist");
  }
  if (!text.empty()) fuzz::check_message(text);
  return 0;
}
