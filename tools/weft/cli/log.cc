#include "tools/weft/cli/log.h"

#include <google/protobuf/stubs/logging.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string_view>

#include "sim/units/printable.h"
#include "sim/units/wrap.h"

namespace weft::cli::log {

namespace {

bool started = false;

// Fit to be printed, and broken between words on a terminal; "weft: " stands before it.
std::string for_terminal(const std::string& text) {
  constexpr std::string_view kPrefix = "weft: ";
  const std::string whole = wrap(std::string(kPrefix) + printable(text), terminal_columns(STDERR_FILENO));
  return whole.substr(kPrefix.size());
}

// Protocol Buffers has a log of its own. Its errors are told as ours, once, and the rest is not.
void tell_of_library(google::protobuf::LogLevel level, const char*, int, const std::string& text) {
  static std::atomic<bool> told = false;
  if (level >= google::protobuf::LOGLEVEL_ERROR && !told.exchange(true)) warn("Protocol Buffers: " + text);
}

}  // namespace

void start() {
  google::protobuf::SetLogHandler(tell_of_library);
  spdlog::set_default_logger(spdlog::stderr_logger_st("weft"));
  spdlog::set_pattern("%n: %v");
  spdlog::set_level(spdlog::level::warn);
  started = true;
}

void show_info() { spdlog::set_level(spdlog::level::info); }

void error(const std::string& text) {
  if (started) {
    spdlog::error(for_terminal(text));
  } else {
    std::fprintf(stderr, "weft: %s\n", printable(text).c_str());
  }
}

void warn(const std::string& text) { spdlog::warn(for_terminal(text)); }

void info(const std::string& text) { spdlog::info(printable(text)); }

}  // namespace weft::cli::log
