#include "goal/collectives/nccl/settings.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <span>
#include <vector>

#include "sim/units/module.h"

namespace weft::goal::nccl {
namespace {

constexpr std::string_view kAlgorithmNames[kAlgorithms] = {
    "tree", "ring", "collnetdirect", "collnetchain", "nvls", "nvlstree", "pat"};
constexpr std::string_view kProtocolNames[kProtocols] = {"ll", "ll128", "simple"};

struct Function {
  std::string_view name;  // as NCCL_ALGO names it
  CollectiveKind kind;
};
constexpr Function kFunctions[] = {{"broadcast", CollectiveKind::kBcast},
                                   {"reduce", CollectiveKind::kReduce},
                                   {"allgather", CollectiveKind::kAllgather},
                                   {"reducescatter", CollectiveKind::kReduceScatter},
                                   {"allreduce", CollectiveKind::kAllreduce}};

std::string_view next_word(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view word = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return word;
}

template <typename Names>
int find_word(const Names& names, std::string_view word, std::string_view what) {
  std::vector<std::string> known;
  for (int i = 0; i < static_cast<int>(std::size(names)); ++i) {
    if (names[i] == word) return i;
    known.emplace_back(names[i]);
  }
  fail_unknown_name(what, word, known);
}

std::uint32_t mask_of(std::string_view list, std::span<const std::string_view> names, std::string_view what) {
  const bool others = list.starts_with('^');
  if (others) list.remove_prefix(1);
  if (list.empty()) throw InputError(fmt::format("expected a list of {}s: {}", what, fmt::join(names, ",")));
  std::uint32_t mask = 0;
  while (!list.empty()) mask |= 1u << find_word(names, next_word(list, ','), what);
  return others ? ~mask : mask;
}

std::array<std::uint32_t, kCollectiveKinds> masks_of(std::string_view given,
                                                     std::span<const std::string_view> names,
                                                     std::string_view what) {
  std::array<std::uint32_t, kCollectiveKinds> masks;
  masks.fill(~0u);
  std::string lower(given);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view rest = lower;
  while (!rest.empty()) {
    std::string_view list = next_word(rest, ';');
    const std::size_t colon = list.find(':');
    if (colon == std::string_view::npos) {
      masks.fill(mask_of(list, names, what));
      continue;
    }
    constexpr std::size_t kCount = std::size(kFunctions);
    std::string_view functions[kCount];
    for (std::size_t i = 0; i < kCount; ++i) functions[i] = kFunctions[i].name;
    const int function = find_word(functions, list.substr(0, colon), "NCCL collective");
    masks[static_cast<std::size_t>(kFunctions[function].kind)] = mask_of(list.substr(colon + 1), names, what);
  }
  return masks;
}

}  // namespace

std::string_view name(Algorithm algorithm) { return kAlgorithmNames[static_cast<int>(algorithm)]; }
std::string_view name(Protocol protocol) { return kProtocolNames[static_cast<int>(protocol)]; }

std::string_view name(Version version) {
  constexpr std::string_view kNames[] = {"2.19", "2.20", "2.30"};
  return kNames[static_cast<int>(version)];
}

Version parse_version(std::string_view text) {
  if (text == "2.19") return Version::k2_19;
  if (text == "2.20") return Version::k2_20;
  if (text == "2.30") return Version::k2_30;
  throw InputError(
      fmt::format("'{}' is not a version of NCCL whose tables are known; one of: 2.19, 2.20, 2.30", text));
}

Allowed Allowed::algorithms(std::string_view text) {
  Allowed all;
  all.masks_ = masks_of(text, kAlgorithmNames, "NCCL algorithm");
  return all;
}

Allowed Allowed::protocols(std::string_view text) {
  Allowed all;
  all.masks_ = masks_of(text, kProtocolNames, "NCCL protocol");
  return all;
}

}  // namespace weft::goal::nccl
