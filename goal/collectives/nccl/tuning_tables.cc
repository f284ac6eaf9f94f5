#include "goal/collectives/nccl/tuning_tables.h"

#include <algorithm>
#include <bit>

namespace weft::goal::nccl {
namespace {

// Rows: tree, ring, CollNet direct, CollNet chain, NVLS, NVLS tree, PAT; columns: LL, LL128, Simple.
constexpr Tables kTables230 = {
    .base_us = {{6.8, 14, 8.4}, {6.6, 14, 8.4}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {8, 8, 8}},
    .link_us = {{{.6, 1.25, 4}, {.6, 1.9, 3.4}, {0, 0, 3.7}, {0, 0, 2.8}, {0, 0, 25}, {0, 0, 25}, {0, 0, 4}},
                {{1, 1.9, 4}, {1, 2.5, 5.7}, {0, 0, 3.7}, {0, 0, 2.8}, {0, 0, 0}, {0, 0, 0}, {0, 0, 4}},
                {{5, 8.5, 14}, {2.7, 4, 14}, {0, 0, 31}, {0, 0, 30}, {0, 0, 18}, {0, 0, 20.9}, {0, 0, 14}}},
    .ll_most = {{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}},
    .ring_ll128_per_channel = {20, 20, 36.7, 40},
    .tree_ll128_per_channel = {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}},
    .tree_per_channel = {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}},
    .nvls_tree_per_channel = {{0, 0, 0}, {0, 0, 0}, {0, 57.7, 45.5}, {0, 96, 80}},
    .nvls_efficiency = {0, 0, .85, .74},
    .most_channels = 64,
};

constexpr Tables tables_2_20() {
  Tables t = kTables230;
  t.base_us[0][2] = 0;
  for (auto& link : t.link_us) link[0][2] = 28;
  t.link_us[0][4][2] = t.link_us[0][5][2] = 23;
  t.link_us[2][5][2] = 14;
  for (int i = 0; i < 3; ++i) t.ll_most[2][i] = t.ll_most[3][i] = t.ll_most[1][i];
  t.most_channels = 32;
  return t;
}
constexpr Tables kTables220 = tables_2_20();

// By the whole logarithm of bytes / 64.
constexpr double kTreeCorrection[kProtocols][23] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}};

constexpr double kInside[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
// src/graph/search.cc; Blackwell's since NCCL 2.25.
constexpr double kInsideBlackwell[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
constexpr double kBetweenBlackwell[] = {96, 86,   80, 48, 45.1, 42, 40,  30,  24,  22,
                                        20, 17.5, 15, 12, 6,    3,  2.4, 1.2, .24, .12};
constexpr double kInsideHopper[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr double kBetween[] = {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12};
constexpr double kBetweenHopper[] = {48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12};

}  // namespace

const Tables& tables(Version version) { return version <= Version::k2_20 ? kTables220 : kTables230; }

int generation(std::uint32_t compute_capability) {
  if (compute_capability >= 100) return 3;
  if (compute_capability >= 90) return 2;
  return compute_capability >= 80 ? 1 : 0;
}

double tree_correction(Protocol protocol, std::uint64_t bytes) {
  const int size = std::bit_width(bytes >> 6) - 1;
  if (size < 0 || size >= 23) return 1;
  return kTreeCorrection[static_cast<int>(protocol)][size];
}

std::span<const double> ring_rates(std::uint32_t compute_capability, bool between_nodes) {
  if (compute_capability >= 100) {
    if (between_nodes) return kBetweenBlackwell;
    return kInsideBlackwell;
  }
  if (between_nodes) {
    if (compute_capability >= 90) return kBetweenHopper;
    return kBetween;
  }
  if (compute_capability >= 90) return kInsideHopper;
  return kInside;
}

}  // namespace weft::goal::nccl
