// Tables that choose algorithms for collectives.
#include "goal/collectives/selection_table.h"
#include "tests/fuzz/fuzz.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = fuzz::attempt([&] { return goal::SelectionTable(fuzz::text_of(data, size), "in.txt"); });
  if (!table) return 0;
  for (int kind = 0; kind < goal::kCollectiveKinds; ++kind) {
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1} << 20, UINT64_MAX}) {
      for (const std::uint32_t ranks : {1U, 12U, UINT32_MAX}) {
        const goal::Collective collective{.kind = static_cast<goal::CollectiveKind>(kind), .bytes = bytes};
        const goal::ChosenAlgorithm* chosen = table->find(collective, ranks);
        fuzz::require(chosen == nullptr || chosen->algorithm != nullptr, "a choice of nothing");
      }
    }
  }
  return 0;
}
