#include "tools/sweep/shell.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "sim/units/input_error.h"

namespace weft::sweep {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

Output output_of(const std::vector<std::string>& words, const std::string& errors_file) {
  std::string line;
  for (const std::string& word : words) line += quoted(word) + " ";
  std::FILE* pipe = popen((line + "2> " + quoted(errors_file)).c_str(), "re");
  if (pipe == nullptr) {
    throw InputError(fmt::format("can't start {}: {}", words[0], std::generic_category().message(errno)));
  }
  Output output;
  std::array<char, 4096> piece;
  for (std::size_t size = 0; (size = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
    output.text.append(piece.data(), size);
  }
  const int status = pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::ifstream errors(errors_file, std::ios::binary);
  output.errors.assign(std::istreambuf_iterator<char>(errors), {});
  std::error_code ignored;
  std::filesystem::remove(errors_file, ignored);
  return output;
}

}  // namespace weft::sweep
