// What makes compute times vary: models of noise, chosen by name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "goal/graph/graph.h"
#include "sim/units/module.h"

namespace weft::goal {

// The noise on one rank: keeps the rank's clock and its place in the random numbers.
class Noise {
 public:
  virtual ~Noise() = default;
  // How long a calc of `ns` on `cpu` takes with noise. Called for the rank's calcs in program order. Throws
  // InputError past 2^62 ns.
  virtual std::uint64_t disturb(std::uint64_t ns, std::uint16_t cpu) = 0;
};

// Makes the noise of each rank. What it draws for a rank depends on (seed, purpose, rank) alone, so a rank
// has the same noise whoever else is in the graph.
using NoiseMaker = std::function<std::unique_ptr<Noise>(Rank)>;

struct NoiseModel {
  ModuleInfo info;
  // `purpose` tells models apart that act on the same graph. Throws InputError for parameters that make no
  // sense.
  NoiseMaker (*make)(const Parameters& parameters, Rank ranks, std::uint64_t seed,
                     std::uint64_t purpose) = nullptr;
};

// Every built-in model. Adding one: a class and an entry in noise.cc, a row in README.md, a test.
std::span<const NoiseModel> noise_models();

}  // namespace weft::goal
