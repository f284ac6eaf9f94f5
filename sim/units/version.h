// Which Weft this is: the number that `weft --version` tells and results keep.
#pragma once

namespace weft {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace weft
