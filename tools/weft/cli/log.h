// Lines for the user on standard error, "weft: …", on top of spdlog; what they quote is made fit for a
// terminal here (sim/units/printable.h). Only log.cc includes that library, whose headers are costly to
// compile.
#pragma once

#include <string>

namespace weft::cli::log {

// To be called once, before any other but error(): from then on warnings are shown.
void start();
// Shows info() too.
void show_info();

void error(const std::string& text);
void warn(const std::string& text);
void info(const std::string& text);

}  // namespace weft::cli::log
