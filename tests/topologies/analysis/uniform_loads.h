// Loads of links as tabulated: all hosts send evenly to all others, over all paths with the fewest links,
// divided evenly at every switch.
#pragma once

namespace weft::topologies {

struct UniformLoad {
  const char* topology;
  double most, mean = 0;  // between switches, in units of a host's rate; 0: not tabulated
};

inline constexpr UniformLoad kUniformLoads[] = {
    {"torus:dims=8x8", 1.0159, 1.0159},
    {"torus:dims=8x8x8", 1.0020, 1.0020},
    {"torus:dims=16x16", 2.0078, 2.0078},
    {"mesh:dims=8x8", 2.5613, 1.5238},
    {"hypercube:n=8", 0.5020, 0.5020},
    {"hyperx:dims=8x8,hosts=7", 0.8770, 0.8770},
    {"hyperx:dims=8x8,hosts=4", 0.5020, 0.5020},
    {"hyperx:dims=4x4x4,hosts=3", 0.7539, 0.7539},
    {"fat_tree:k=4", 0.9333, 0.8667},
    {"fat_tree:k=8", 0.9764, 0.9291},
    {"hyperx:dims=16x16,hosts=15", 0.9377, 0.9377},
    {"hyperx:dims=16x16,hosts=8", 0.5002, 0.5002},
    {"hyperx:dims=4x4x4,hosts=2", 0.5039, 0.5039},
    {"slim_fly:q=5,hosts=4", 1.0452, 1.0452},
    {"slim_fly:q=7,hosts=6", 1.1652, 1.0203},
    {"slim_fly:q=9,hosts=7", 1.0812, 1.0280},
    {"slim_fly:q=11,hosts=9", 1.1534, 1.0177},
    {"slim_fly:q=13,hosts=10", 1.0950, 1.0202},
    {"polarfly:q=5,hosts=3", 0.9783},
    {"polarfly:q=7,hosts=4", 0.9868},
    {"polarfly:q=9,hosts=5", 0.9912},
    {"polarfly:q=11,hosts=6", 0.9937},
    {"polarfly:q=13,hosts=7", 0.9953},
    {"mlfm:h=4", 0.9620, 0.9620},
    {"mlfm:h=5", 0.9732, 0.9732},
    {"mlfm:h=8", 0.9878, 0.9878},
    {"oft:k=4", 0.9709, 0.9709},
    {"oft:k=5", 0.9809, 0.9809},
    {"oft:k=6", 0.9865, 0.9865},
    {"oft:k=8", 0.9923, 0.9923},
    {"megafly:p=3,g=1", 0.9775, 0.9551},
    {"megafly:p=4,g=1", 0.9889, 0.9742},
    {"bundlefly:q1=5,q2=5,hosts=3", 1.2136, 0.8772},
    {"spectralfly:p=11,q=7,hosts=6", 1.1887, 1.1887},
    {"kautz:b=4,n=3,hosts=4", 1.4270, 1.2394},
    // By numbers of hops, so that two links between groups may be taken where that is as short.
    {"dragonfly:p=2", 1.3239},
    {"dragonfly:p=3", 1.4173},
    {"dragonfly:p=4", 1.4422},
};

}  // namespace weft::topologies
