// Which build of Weft this is.
#pragma once

#include <string>

namespace weft::cli {

// What `weft --version` prints: version, commit where it was recorded (bazel build --stamp
// --embed_label=COMMIT, as tools/install does), compiler and libraries.
std::string build_info();

}  // namespace weft::cli
