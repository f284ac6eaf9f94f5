// How long a matrix multiplication takes on a processor of many cores: tiles in waves, held by memory.
#pragma once

#include <array>
#include <cstddef>

namespace weft::goal {

// The sides of the tiles of C that one core works on at a time.
struct GemmTile {
  double m = 0, n = 0;
};
inline constexpr std::array<GemmTile, 6> kGemmTiles = {
    {{64, 64}, {64, 128}, {128, 128}, {128, 256}, {256, 128}, {64, 256}}};

// What measurements say of one device; see MODEL.md. All shares are of the device's peaks.
struct GemmFit {
  double floor_us = 0;       // of the smallest multiplication
  double memory_share = 1;   // of HBM bandwidth
  double fill = 0;           // a tile costs as much as if k were larger by this
  double wave_hardness = 0;  // 1: a last wave takes as long as a full one; 0: as long as its share of tiles
  double split_us = 0;       // for the sum of the parts where k is split over cores
  std::array<double, kGemmTiles.size()> tile_share = {};  // of peak FLOP/s, with tiles of this shape
  // In 8 bits, where a core does twice the FLOPs while a tile begins and ends as slowly: in place of `fill`,
  // and a factor on all shares. 0: not known, as in 16 bits.
  double narrow_fill = 0, narrow_share = 1;
};

// One problem, and the peaks it meets.
struct GemmProblem {
  double m = 1, n = 1, k = 1, groups = 1;
  double input_bytes = 2, output_bytes = 2;  // of an element
  double cores = 1;                          // streaming multiprocessors
  double flops = 1;                          // a microsecond, of the whole device
  double hbm_bytes = 1;                      // a microsecond
};

// The shortest time over all tiles and splits of k, in microseconds. It never falls as m, n, k or groups
// grow.
double gemm_us(const GemmProblem& problem, const GemmFit& fit);

// Two parts of a kernel that overlap but for where they are of like length: the fourth root of the sum of
// fourth powers.
double overlapped(double a, double b);

}  // namespace weft::goal
