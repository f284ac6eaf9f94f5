#include "sim/routing/table/row_builder.h"

#include <algorithm>
#include <cstring>

#include "sim/core/random.h"
#include "sim/routing/table/bit_matrix.h"

namespace weft::routing {

// ---- PortSets ----

bool PortSets::is_at(std::uint32_t number, const std::uint64_t* mask) const {
  return std::equal(mask, mask + words_, masks_.data() + number * words_);
}

std::size_t PortSets::place_of(const std::uint64_t* mask) const {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < words_; ++i) hash = sim::mix64(hash ^ mask[i]);
  std::size_t place = hash & (places_.size() - 1);
  while (places_[place] != kNone && !is_at(places_[place], mask)) place = (place + 1) & (places_.size() - 1);
  return place;
}

std::uint32_t PortSets::number_of(const std::uint64_t* mask, std::uint32_t most) {
  // Towards most destinations a switch has the same set as towards the one before.
  if (size_ > 0 && is_at(last_, mask)) return last_;
  std::size_t place = place_of(mask);
  if (places_[place] == kNone) {
    if (size_ >= most) return kNone;
    if (size_ * std::size_t{2} >= places_.size()) {
      grow();
      place = place_of(mask);
    }
    places_[place] = size_++;
    masks_.insert(masks_.end(), mask, mask + words_);
  }
  return last_ = places_[place];
}

void PortSets::grow() {
  places_.assign(places_.size() * 2, kNone);
  for (std::uint32_t number = 0; number < size_; ++number)
    places_[place_of(masks_.data() + number * words_)] = number;
}

// ---- RowBuilder ----

RowBuilder::RowBuilder(std::size_t ports, std::uint32_t columns, bool wide, std::uint32_t most_sets)
    : wide_(wide),
      most_sets_(most_sets),
      codes_(std::size_t{columns} << (wide ? 1 : 0)),
      sets_(std::max<std::size_t>(1, (ports + 63) / 64)) {}

void RowBuilder::set(std::uint32_t column, std::uint32_t code) {
  if (wide_) {
    const auto value = static_cast<std::uint16_t>(code);
    std::memcpy(codes_.data() + std::size_t{column} * 2, &value, sizeof value);
  } else {
    codes_[column] = static_cast<std::uint8_t>(code);
  }
}

void RowBuilder::widen() {
  std::vector<std::uint8_t> narrow(codes_.size() * 2);
  narrow.swap(codes_);
  wide_ = true;
  most_sets_ = wide_sets_;
  for (std::uint32_t column = 0; column < narrow.size(); ++column) {
    const std::uint32_t code = narrow[column];
    set(column, code >= special_from_ ? code + (0x10000U - 0x100U) : code);
  }
}

void RowBuilder::renumber(std::span<const std::uint32_t> code_of_set) {
  for (std::size_t at = 0; at < codes_.size(); at += wide_ ? 2 : 1) {
    std::uint16_t code = codes_[at];
    if (wide_) std::memcpy(&code, codes_.data() + at, sizeof code);
    // The others are computed, or last hops.
    if (code == 0 || code > code_of_set.size()) continue;
    set(static_cast<std::uint32_t>(wide_ ? at / 2 : at), code_of_set[code - 1U]);
  }
}

void RowBuilder::fill(std::uint32_t first, std::uint32_t count, std::span<const std::uint64_t> ports) {
  const auto give = [&](std::uint32_t column, std::uint32_t destinations, const std::uint64_t* mask) {
    std::uint32_t number = sets_.number_of(mask, most_sets_);
    if (number == PortSets::kNone && !wide_ && wide_sets_ > most_sets_) {
      widen();
      number = sets_.number_of(mask, most_sets_);
    }
    if (number == PortSets::kNone) computed_ += destinations;
    for (std::uint32_t i = 0; i < destinations; ++i)
      set(column + i, number == PortSets::kNone ? 0 : number + 1);
  };
  filled_ += count;
  const std::uint64_t all = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  const std::size_t words = sets_.words();
  if (std::all_of(ports.begin(), ports.end(),
                  [&](std::uint64_t bits) { return (bits & all) == 0 || (bits & all) == all; })) {
    masks_.assign(words, 0);
    for (std::size_t port = 0; port < ports.size(); ++port)
      masks_[port / 64] |= (ports[port] & 1) << (port % 64);
    return give(first, count, masks_.data());
  }
  masks_.assign(words * 64, 0);
  for (std::size_t word = 0; word < words; ++word) {
    const std::span<const std::uint64_t> some =
        ports.subspan(word * 64, std::min<std::size_t>(64, ports.size() - word * 64));
    BitMatrix block = {};
    std::copy(some.begin(), some.end(), block.begin());
    transpose(block);
    for (std::uint32_t d = 0; d < count; ++d) masks_[d * words + word] = block[d];
  }
  for (std::uint32_t d = 0; d < count; ++d) give(first + d, 1, masks_.data() + d * words);
}

}  // namespace weft::routing
