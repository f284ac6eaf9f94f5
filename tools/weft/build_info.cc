#include "tools/weft/build_info.h"

#include <fmt/core.h>
#include <google/protobuf/stubs/common.h>
#include <spdlog/version.h>
#include <sqlite3.h>
#include <zstd.h>

#include <boost/version.hpp>
#include <string_view>

#include "sim/units/version.h"

extern const char kWeftBuildLabel[];

namespace weft::cli {
namespace {

// 90100 with 10000 and 100: "9.1.0".
std::string dotted(long number, long major, long minor) {
  return fmt::format("{}.{}.{}", number / major, number / minor % (major / minor), number % minor);
}

}  // namespace

std::string build_info() {
#ifdef NDEBUG
  constexpr const char* kKind = "optimized";
#else
  constexpr const char* kKind = "with assertions";
#endif
  const std::string_view label = kWeftBuildLabel;
  std::string text = fmt::format("weft {}\n", kVersion);
  text += fmt::format("commit     {}\n", label.empty() || label == "redacted" ? "not recorded" : label);
  text += fmt::format("compiler   GCC {}, {}\n", __VERSION__, kKind);
  text += fmt::format("libraries  Boost {}, Protocol Buffers {}, fmt {}, spdlog {}, SQLite {}, Zstandard {}",
                      dotted(BOOST_VERSION, 100000, 100), dotted(GOOGLE_PROTOBUF_VERSION, 1000000, 1000),
                      dotted(FMT_VERSION, 10000, 100), dotted(SPDLOG_VERSION, 10000, 100),
                      sqlite3_libversion(), ZSTD_versionString());
  return text;
}

}  // namespace weft::cli
