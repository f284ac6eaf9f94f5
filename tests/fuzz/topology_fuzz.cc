// Networks as users write them in a word: "fat_tree:k=8,link=400Gbps".
#include "sim/units/module.h"
#include "tests/fuzz/fuzz.h"
#include "topologies/families.h"

using namespace weft;

namespace {

// Large networks take memory and time, as they may: the most that the numbers of a text multiply to.
std::uint64_t most_size(std::string_view text) {
  // These grow with a power.
  for (const char* family : {"bcube", "dcell", "hypercube", "k_ary_n_tree", "flattened_butterfly", "kautz"}) {
    if (text.find(family) != std::string_view::npos) return 6;
  }
  return 512;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  if (fuzz::product_of_numbers(text) > most_size(text)) return 0;
  // Files are read by targets of their own.
  if (text.find('/') != std::string_view::npos) return 0;
  const auto choice = fuzz::attempt([&] { return parse_module_choice(text); });
  if (!choice) return 0;
  const auto network = fuzz::attempt([&] { return topologies::build(*choice); });
  if (!network) return 0;
  fuzz::require(network->hosts() > 0, "a network without hosts");
  // Its name is the short form, all defaults in it.
  const topologies::Topology again = topologies::build(parse_module_choice(network->name()));
  fuzz::require(again.name() == network->name() && again.nodes() == network->nodes() &&
                    again.edges().size() == network->edges().size(),
                "another network from its own name");
  return 0;
}
