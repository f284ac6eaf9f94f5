// Networks in GraphML.
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/networks.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::check_network(fuzz::text_of(data, size), "graphml");
  return 0;
}
