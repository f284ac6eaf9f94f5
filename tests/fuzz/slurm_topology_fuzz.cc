// Slurm's topology.conf, topology.yaml and the output of `scontrol show topology`.
#include <cctype>

#include "tests/fuzz/fuzz.h"
#include "topologies/slurm/configuration.h"
#include "topologies/slurm/tree.h"

using namespace weft;

namespace {

// Ranges of four digits stand, rightly, for millions of names.
bool is_large(std::string_view text) {
  std::size_t digits = 0, brackets = 0;
  for (const char c : text) {
    digits = std::isdigit(static_cast<unsigned char>(c)) != 0 ? digits + 1 : 0;
    brackets += c == '[';
    if (digits > 3) return true;
  }
  return brackets > 20;
}

void check_tree(const topologies::SlurmTree& tree) {
  std::vector<bool> hangs(tree.hosts.size(), false);
  for (std::uint32_t s = 0; s < tree.switches.size(); ++s) {
    const topologies::TreeSwitch& each = tree.switches[s];
    fuzz::require(!each.hosts.empty() || !each.children.empty(), "a switch with nothing below it");
    for (const std::uint32_t host : each.hosts) hangs.at(host) = true;
    for (const std::uint32_t child : each.children) {
      fuzz::require(child < s, "a switch before one below it");
      fuzz::require(tree.switches[child].tier < each.tier, "a child that is not lower");
    }
  }
  for (const bool one : hangs) fuzz::require(one, "a host on no switch");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  if (is_large(text)) return 0;
  const auto read = fuzz::attempt([&] {
    return topologies::is_slurm_yaml(text, "topology") ? topologies::read_slurm_yaml(text, "topology", "auto")
                                                       : topologies::read_slurm(text, "topology");
  });
  if (!read) return 0;
  const auto tree =
      fuzz::attempt([&] { return topologies::resolve_tree(*read, [](const std::string&) { return true; }); });
  if (tree) check_tree(*tree);
  return 0;
}
