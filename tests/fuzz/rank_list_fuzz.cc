// Rank files and tables of real runs.
#include "sim/placement/policies/policies.h"
#include "sim/placement/policies/rank_list.h"
#include "tests/fuzz/fuzz.h"
#include "topologies/families.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const topologies::Topology network = topologies::build(parse_module_choice("fat_tree:k=4"));
  static const placement::Machine machine = placement::idle_machine(network);
  static fuzz::MemoryFile file;
  const std::string_view text = fuzz::text_of(data, size);
  file.fill(text);
  for (const std::uint32_t ranks : {1U, 3U, 40U}) {
    const auto places = fuzz::attempt([&] { return placement::read_rank_list(text, "ranks", ranks); });
    fuzz::require(!places || places->size() == ranks, "not a place for each rank");
    for (const char* policy : {"rank_file", "allocation"}) {
      const ModuleChoice choice{
          .name = policy, .given = {{"file", file.path()}}, .location = {}, .locations = {}};
      const auto outcome = fuzz::attempt(
          [&] { return placement::place(choice, {.ranks = ranks, .ranks_per_node = 3}, machine); });
      if (!outcome) continue;
      fuzz::require(outcome->no_room.empty() && outcome->hosts.size() == ranks, "not a host for each rank");
    }
  }
  return 0;
}
