// Distributions of message sizes.
#include "goal/workload/flow_sizes.h"
#include "sim/units/random.h"
#include "tests/fuzz/fuzz.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto sizes = fuzz::attempt([&] { return goal::FlowSizes(fuzz::text_of(data, size), "in.txt"); });
  if (!sizes) return 0;
  double before = 0;
  for (int i = 0; i < 64; ++i) {
    const double bytes = sizes->bytes_at(i / 64.0);
    fuzz::require(bytes >= before, "a size that falls with its quantile");
    before = bytes;
  }
  const double least = sizes->bytes_at(0), most = sizes->bytes_at(0x1.fffffffffffffp-1);
  const double mean = sizes->mean_bytes();
  fuzz::require(mean >= least * (1 - 1e-9) && mean <= most * (1 + 1e-9) + 1, "a mean outside of all sizes");
  RandomStream random(1, 2, 3);
  for (int i = 0; i < 16; ++i) fuzz::require(sizes->draw(random) >= 1, "a message of no bytes");
  return 0;
}
