#include "tools/weft/cli/build_info.h"

#include <fmt/core.h>
#include <google/protobuf/stubs/common.h>
#include <spdlog/version.h>
#include <sqlite3.h>
#include <zstd.h>

#include <boost/version.hpp>

#include "sim/units/version.h"

extern const char kWeftCommit[];

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
  const std::string commit = build_commit();
  std::string text = fmt::format("weft {}\n", kVersion);
  text += fmt::format("commit     {}\n", commit.empty() ? "not recorded" : commit);
  text += fmt::format("compiler   GCC {}, {}\n", __VERSION__, kKind);
  text += fmt::format("libraries  Boost {}, Protocol Buffers {}, fmt {}, spdlog {}, SQLite {}, Zstandard {}",
                      dotted(BOOST_VERSION, 100000, 100), dotted(GOOGLE_PROTOBUF_VERSION, 1000000, 1000),
                      dotted(FMT_VERSION, 10000, 100), dotted(SPDLOG_VERSION, 10000, 100),
                      sqlite3_libversion(), ZSTD_versionString());
  return text;
}

std::string build_commit() {
  const std::string commit = kWeftCommit;
  return commit == "0" || commit == "redacted" ? "" : commit;
}

}  // namespace weft::cli
