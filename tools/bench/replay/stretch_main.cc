// Makes a packed graph that no memory could hold, for measurements: see stretch.h.
//
//   stretch IN.weft FACTOR OUT.weft
#include <cstdio>
#include <cstdlib>

#include "goal/file.h"
#include "sim/units/input_error.h"
#include "tools/bench/replay/stretch.h"

int main(int argc, char** argv) {
  const unsigned long factor = argc == 4 ? std::strtoul(argv[2], nullptr, 10) : 0;
  if (factor == 0 || factor > 0xFFFFFFFF) {
    std::fprintf(stderr, "usage: stretch IN.weft FACTOR OUT.weft\n");
    return 2;
  }
  try {
    const weft::goal::FileView in(argv[1]);
    weft::goal::FileWriter out(argv[3]);
    out.write(weft::bench::stretched(in.bytes(), static_cast<std::uint32_t>(factor)));
    out.commit();
  } catch (const weft::InputError& error) {
    std::fprintf(stderr, "stretch: %s\n", error.what());
    return 2;
  }
  return 0;
}
