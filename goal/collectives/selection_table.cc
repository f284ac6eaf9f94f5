#include "goal/collectives/selection_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "goal/workload/line_reader.h"

namespace weft::goal {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::optional<CollectiveKind> kind_of(std::string_view word) {
  for (int kind = 0; kind < kCollectiveKinds; ++kind) {
    if (name(static_cast<CollectiveKind>(kind)) == word) return static_cast<CollectiveKind>(kind);
  }
  return std::nullopt;
}

[[noreturn]] void fail_kind(const Word& word) {
  std::vector<std::string> known;
  for (int kind = 0; kind < kCollectiveKinds; ++kind) {
    known.emplace_back(name(static_cast<CollectiveKind>(kind)));
  }
  fail_unknown_name("kind of collective", word.text, known, word.location);
}

}  // namespace

// What rules may ask of a call. Where ranks know different sizes, no size is known.
struct SelectionTable::Facts {
  Facts(const Collective& collective, std::uint32_t all_ranks) : ranks(all_ranks) {
    const std::uint64_t element = std::max<std::uint64_t>(collective.element_bytes, 1);
    v_form = collective.of_v_form();
    bytes = collective.bytes;
    switch (collective.kind) {
      case CollectiveKind::kAllgather:
      case CollectiveKind::kReduceScatter:
        if (!collective.counts.empty()) {
          total = 0;
          for (const std::uint64_t count : collective.counts) total += count;
          bytes = total / ranks;
          break;
        }
        total = times_ranks(bytes);
        break;
      case CollectiveKind::kGather:
      case CollectiveKind::kScatter:
      case CollectiveKind::kAlltoall:
        size_known = !v_form;
        total = times_ranks(bytes);
        break;
      case CollectiveKind::kNeighborAllgather:
      case CollectiveKind::kNeighborAlltoall:
        size_known = false;
        break;
      default:
        total = bytes;
    }
    elements = bytes / element;
  }

  std::uint64_t times_ranks(std::uint64_t block) const {
    return block > kMost / ranks ? kMost : block * ranks;
  }

  // Empty: the ranks don't all know it.
  std::optional<std::uint64_t> value(Quantity quantity) const {
    switch (quantity) {
      case Quantity::kRanks:
        return ranks;
      case Quantity::kPower:
        return std::bit_floor(ranks);
      case Quantity::kForm:
        return v_form;
      case Quantity::kBytes:
        return size_known ? std::optional(bytes) : std::nullopt;
      case Quantity::kTotal:
        return size_known ? std::optional(total) : std::nullopt;
      case Quantity::kElements:
        return size_known ? std::optional(elements) : std::nullopt;
      case Quantity::kNumber:
        break;
    }
    return std::nullopt;
  }

  std::uint32_t ranks;
  std::uint64_t bytes = 0, total = 0, elements = 0;
  bool v_form = false, size_known = true;
};

bool SelectionTable::Condition::holds(const Facts& facts) const {
  const std::optional<std::uint64_t> a = facts.value(left);
  const std::optional<std::uint64_t> b = right == Quantity::kNumber ? number : facts.value(right);
  if (!a || !b) return false;
  switch (relation) {
    case Relation::kLess:
      return *a < *b;
    case Relation::kAtMost:
      return *a <= *b;
    case Relation::kMore:
      return *a > *b;
    case Relation::kAtLeast:
      return *a >= *b;
    case Relation::kEqual:
      return *a == *b;
  }
  return false;
}

SelectionTable::Condition SelectionTable::parse_condition(std::string_view text,
                                                          const SourceLocation& location) {
  static constexpr std::pair<std::string_view, Quantity> kQuantities[] = {
      {"ranks", Quantity::kRanks}, {"power", Quantity::kPower},       {"bytes", Quantity::kBytes},
      {"total", Quantity::kTotal}, {"elements", Quantity::kElements},
  };
  static constexpr std::pair<std::string_view, Relation> kRelations[] = {
      {"<=", Relation::kAtMost}, {">=", Relation::kAtLeast}, {"<", Relation::kLess},
      {">", Relation::kMore},    {"=", Relation::kEqual},
  };
  const auto quantity = [&](std::string_view word) {
    for (const auto& [known, value] : kQuantities) {
      if (known == word) return value;
    }
    return Quantity::kNumber;
  };
  Condition condition;
  if (text == "v" || text == "plain") {
    condition.left = Quantity::kForm;
    condition.number = text == "v" ? 1 : 0;
    return condition;
  }
  const auto fail = [&](const std::string& expected) {
    throw InputError(location, fmt::format("'{}' is not a condition; expected {}", text, expected));
  };
  const std::size_t at = text.find_first_of("<>=");
  condition.left = quantity(text.substr(0, at));
  if (at == std::string_view::npos || condition.left == Quantity::kNumber) {
    fail("ranks, power, bytes, total or elements with <, <=, >, >= or = and a value; or 'v' or 'plain'");
  }
  std::string_view right = text.substr(at);
  for (const auto& [sign, relation] : kRelations) {
    if (!right.starts_with(sign)) continue;
    condition.relation = relation;
    right.remove_prefix(sign.size());
    break;
  }
  condition.right = quantity(right);
  if (condition.right != Quantity::kNumber) return condition;
  const bool size = condition.left == Quantity::kBytes || condition.left == Quantity::kTotal;
  if (size && right.find_first_not_of("0123456789") != std::string_view::npos) {
    try {
      condition.number = parse_bytes(right);
    } catch (const InputError& error) {
      throw InputError(location, error.what());
    }
  } else {
    const Word number{right, location};
    condition.number = number.whole(size ? "a size" : "a number", 0, kMost);
  }
  return condition;
}

SelectionTable::SelectionTable(std::string_view text, const std::string& file_name) {
  LineReader reader(text, file_name);
  while (reader.next_line()) {
    const Word kind_word = reader.next_word();
    const std::optional<CollectiveKind> kind = kind_of(kind_word.text);
    if (!kind) fail_kind(kind_word);
    Rule rule;
    // The last word is the algorithm.
    Word word = reader.next_word();
    if (word.text.empty()) word.fail_expected("conditions, if any, and an algorithm");
    for (Word next = reader.next_word(); !next.text.empty(); next = reader.next_word()) {
      rule.conditions.push_back(parse_condition(word.text, word.location));
      word = next;
    }
    rule.chosen = choose_collective_algorithm(*kind, word.text, word.location);
    rules_[static_cast<std::size_t>(*kind)].push_back(std::move(rule));
  }
}

const ChosenAlgorithm* SelectionTable::find(const Collective& collective, std::uint32_t ranks) const {
  const std::vector<Rule>& rules = rules_[static_cast<std::size_t>(collective.kind)];
  if (rules.empty()) return nullptr;
  const Facts facts(collective, ranks);
  for (const Rule& rule : rules) {
    const auto holds = [&](const Condition& condition) { return condition.holds(facts); };
    if (std::all_of(rule.conditions.begin(), rule.conditions.end(), holds)) return &rule.chosen;
  }
  return nullptr;
}

}  // namespace weft::goal
