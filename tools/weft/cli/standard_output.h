// What is printed on standard output reaches it, or the program says that it didn't.
#pragma once

#include <cstdio>
#include <string_view>

namespace weft::cli {

// To be called first in main(). Standard streams that were closed (`>&-`) get descriptors on which writing
// and reading fail: else the next file that is opened would be taken for them.
void hold_standard_streams();

// What is meant for people: names in it that would command a terminal are made fit for one
// (sim/units/printable.h). Data that other programs read (--json, graphs, CSV) go as they are.
void print_text(std::string_view text, std::FILE* stream = stdout);

// To be called last. Hands everything printed on `stream` to the system. False, after one line on standard
// error, if that fails or something printed before could not be written.
bool finish_output(std::FILE* stream);

}  // namespace weft::cli
