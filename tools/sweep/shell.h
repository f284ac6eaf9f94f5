// Other programs by way of the shell, for what they print.
#pragma once

#include <string>
#include <vector>

namespace weft::sweep {

// One word of a shell's command line.
std::string quoted(const std::string& text);

struct Output {
  int status = 0;  // 127: the program is not there; -1: a signal ended it
  std::string text, errors;
};
// Runs a program to its end; what it says on standard error passes through `errors_file`, which is gone
// afterwards. Throws InputError if no process can be started.
Output output_of(const std::vector<std::string>& words, const std::string& errors_file);

}  // namespace weft::sweep
