#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

#include "sim/units/input_error.h"
#include "sim/units/input_file.h"
#include "topologies/analysis/demands.h"

namespace weft::topologies {
namespace {

std::vector<std::string_view> words(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> list;
  constexpr std::string_view kBetween = " ,;\t\r";
  for (std::size_t at = line.find_first_not_of(kBetween); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBetween, at), line.size());
    list.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBetween, end);
  }
  return list;
}

template <typename Number>
bool parse(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::vector<MatrixEntry> read_matrix(const std::string& path) {
  std::istringstream file(read_input(path));
  std::vector<MatrixEntry> matrix;
  std::string line;
  bool with_messages = false;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::vector<std::string_view> list = words(line);
    if (list.empty()) continue;
    if (matrix.empty() && list[0] == "from") {  // the header of `weft goal stats`
      with_messages = list.size() == 4;
      continue;
    }
    MatrixEntry entry;
    const std::size_t expected = with_messages ? 4 : 3;
    if (list.size() != expected || !parse(list[0], entry.from) || !parse(list[1], entry.to) ||
        !parse(list.back(), entry.weight) || !std::isfinite(entry.weight) || entry.weight < 0) {
      throw InputError({path, number},
                       fmt::format("'{}', but expected {}", line,
                                   with_messages ? "from,to,messages,bytes"
                                                 : "src dst weight, with a weight of 0 or more"));
    }
    matrix.push_back(entry);
  }
  return matrix;
}

}  // namespace weft::topologies
