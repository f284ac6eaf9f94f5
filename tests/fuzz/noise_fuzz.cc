// Measured noise.
#include <algorithm>

#include "goal/transform/noise.h"
#include "tests/fuzz/fuzz.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto model = *std::ranges::find_if(
      goal::noise_models(), [](const goal::NoiseModel& noise) { return noise.info.name == "recorded"; });
  static fuzz::MemoryFile file;
  file.fill(fuzz::text_of(data, size));
  const auto make = fuzz::attempt([&] {
    return model.make(Parameters(model.info, {{"file", file.path()}}), 2, 1, 0);
  });
  if (!make) return 0;
  const auto noise = (*make)(1);
  for (const std::uint64_t ns : {0ULL, 1ULL, 1'000'000ULL, 1ULL << 62}) {
    const auto with_noise = fuzz::attempt([&] { return noise->disturb(ns, 0); });
    fuzz::require(!with_noise || *with_noise >= ns, "noise that makes a calc shorter");
  }
  return 0;
}
