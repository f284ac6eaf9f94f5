// Labels that count upwards: "l7", "l8", … For this folder only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::goal::pack {

// No label is put into a block whose labels have as many bytes already.
inline constexpr std::uint64_t kMaxBlockText = 1 << 24;

// The label with the number that it ends in raised by one: "l07" gives "l08", "l9" gives
// "l10"; empty if it ends in no number.
inline std::string label_after(std::string_view label) {
  std::string after(label);
  std::size_t at = after.size();
  while (at > 0 && after[at - 1] == '9') after[--at] = '0';
  if (after.empty() || label.back() < '0' || label.back() > '9') return {};
  if (at > 0 && after[at - 1] >= '0' && after[at - 1] < '9') {
    ++after[at - 1];
  } else {
    after.insert(at, 1, '1');
  }
  return after;
}

}  // namespace weft::goal::pack
