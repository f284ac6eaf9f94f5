// Networks as htsim's files of fat trees.
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/networks.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  // Three words give a tree of millions of nodes, as they may.
  const std::size_t nodes = text.find_first_of("0123456789");
  const std::string_view number = text.substr(std::min(nodes, text.size()));
  if (number.substr(0, number.find_first_not_of("0123456789")).size() > 4) return 0;
  fuzz::check_network(text, "topo");
  return 0;
}
