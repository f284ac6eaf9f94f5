// The nodes that both networks and NCCL's tuner know by the same names are the same machines.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "goal/collectives/nccl/node.h"
#include "topologies/node_presets.h"

namespace weft {
namespace {

double gbs(Bandwidth rate) { return static_cast<double>(rate.bps()) / 8e9; }

}  // namespace

TEST_CASE("node presets: twins agree on accelerators, links, NICs and rates") {
  int twins = 0;
  for (const topologies::NodePreset& node : topologies::node_presets()) {
    const auto all = goal::nccl::node_presets();
    const auto twin = std::ranges::find(all, node.name, &goal::nccl::NodePreset::name);
    if (twin == all.end()) continue;
    INFO(node.name);
    ++twins;
    const goal::nccl::Node& other = twin->node;
    CHECK(node.accelerators == other.gpus);
    CHECK(node.nics == other.nics);
    CHECK(gbs(node.nic) == Approx(other.nic_gbs));
    // Where a slot, or a way through memory, is slower than the NIC, both say so.
    CHECK(gbs(std::min(node.nic, node.slot)) ==
          Approx(other.nic_payload_gbs > 0 ? other.nic_payload_gbs : other.nic_gbs));
    // NCCL counts a GPU's links together, those in pairs too.
    const std::uint32_t links = node.links * (node.switches > 0 ? 1 : node.accelerators - 1);
    CHECK(other.in_pairs == (node.switches == 0));
    // PCIe 5 was measured; NCCL counts 48 GB/s. Pairs of Alps were, too, at 133 GB/s over 6 links; all else
    // is NCCL's figure, or AMD's.
    const bool is_pcie = node.name == "pcie", is_amd = node.name == "mi300x";
    const double of_link = is_pcie  ? other.pcie_gbs
                           : is_amd ? 48
                                    : goal::nccl::nvlink_rate(other.compute_capability);
    CHECK((is_pcie ? other.pcie_gbs : other.nvlink_gbs) == Approx(links * of_link));
    CHECK(gbs(node.payload) == Approx(of_link).epsilon(node.name == "alps" || is_pcie ? 0.09 : 0.001));
  }
  CHECK(twins == static_cast<int>(goal::nccl::node_presets().size()));
  CHECK(twins == static_cast<int>(topologies::node_presets().size()));
}

}  // namespace weft
