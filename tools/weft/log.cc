#include "tools/weft/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>

#include "sim/units/printable.h"

namespace weft::cli::log {

namespace {

bool started = false;

}  // namespace

void start() {
  spdlog::set_default_logger(spdlog::stderr_logger_st("weft"));
  spdlog::set_pattern("%n: %v");
  spdlog::set_level(spdlog::level::warn);
  started = true;
}

void show_info() { spdlog::set_level(spdlog::level::info); }

void error(const std::string& text) {
  if (started) {
    spdlog::error(printable(text));
  } else {
    std::fprintf(stderr, "weft: %s\n", printable(text).c_str());
  }
}

void warn(const std::string& text) { spdlog::warn(printable(text)); }

void info(const std::string& text) { spdlog::info(printable(text)); }

}  // namespace weft::cli::log
