#include "goal/import/chakra/groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "goal/import/json/json_reader.h"

namespace weft::goal {

std::map<std::string, std::vector<Rank>> read_comm_groups(const std::string& path, Rank ranks) {
  std::map<std::string, std::vector<Rank>> groups;
  JsonHandlers handlers;
  handlers.element = [&](std::string_view, JsonValue, const SourceLocation& where) -> bool {
    throw InputError(where, "expected an object of groups, {\"name\": [ranks]}");
  };
  handlers.member = [&](JsonValue member, const SourceLocation& where) {
    std::vector<Rank>& group = groups[std::string(member.key())];
    if (!member.is_array() || !group.empty()) {
      throw InputError(where, fmt::format("group '{}': expected one list of ranks", member.key()));
    }
    for (const JsonValue value : member.items()) {
      const auto rank = value.unsigned_integer();
      if (!rank || *rank >= ranks) {
        throw InputError(where, fmt::format("group '{}' has rank '{}'; expected one of 0 to {}", member.key(),
                                            value.text(), ranks - 1));
      }
      group.push_back(static_cast<Rank>(*rank));
    }
    std::vector<Rank> sorted = group;
    std::sort(sorted.begin(), sorted.end());
    if (group.empty() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      throw InputError(where, fmt::format("group '{}' is empty or has a rank twice", member.key()));
    }
    return true;
  };
  read_json(path, {}, handlers);
  return groups;
}

}  // namespace weft::goal
