#include "sim/scenario/connection_choice.h"

#include <fmt/core.h>

#include <charconv>
#include <string_view>

namespace weft::sim {

ConnectionChoice parse_connections(const std::string& text, const SourceLocation& location) {
  constexpr std::string_view kPerPair = "per_pair";
  if (text == "per_message") return {};
  if (text == kPerPair) return {.per_message = false};
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool is_number = error == std::errc() && rest != text.data();
  if (!is_number || std::string_view(rest, static_cast<std::size_t>(end - rest)) != " per_pair") {
    throw InputError(location,
                     fmt::format("connections: '{}' is not per_pair, per_message, a number of connections "
                                 "like '4 per_pair', or auto",
                                 text));
  }
  if (number < 1 || number > UINT16_MAX) {
    throw InputError(location,
                     fmt::format("connections: '{}', but the number must be from 1 to 65535", text));
  }
  return {.per_message = false, .per_pair = number};
}

std::string to_text(const ConnectionChoice& choice) {
  if (choice.per_message) return "per_message";
  return choice.per_pair == 0 ? "per_pair" : fmt::format("{} per_pair", choice.per_pair);
}

}  // namespace weft::sim
