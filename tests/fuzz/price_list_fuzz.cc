// Prices of networks.
#include <cmath>

#include "tests/fuzz/fuzz.h"
#include "topologies/cost/bill.h"
#include "topologies/cost/price_list.h"
#include "topologies/families.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const topologies::Topology network = topologies::build(parse_module_choice("fat_tree:k=4"));
  const auto prices =
      fuzz::attempt([&] { return topologies::parse_price_list(fuzz::text_of(data, size), "in.txtpb"); });
  if (!prices) return 0;
  const auto bill = fuzz::attempt([&] { return topologies::bill(network, *prices); });
  if (!bill) return 0;
  fuzz::require(std::isfinite(bill->price) && bill->price >= 0, "a price that is none");
  fuzz::require(!bill->watts || (std::isfinite(*bill->watts) && *bill->watts >= 0), "a power that is none");
  fuzz::require(!topologies::bill_table(*bill, {}).empty(), "no table");
  fuzz::require(!topologies::bill_json(*bill, {}).empty(), "no JSON");
  return 0;
}
