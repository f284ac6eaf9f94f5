// What the names of attributes and columns of other people's files mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::topologies {

// What a name says: `bandwidth`, `LinkSpeed`, `link_rate_gbps` and `Capacity (Gb/s)` are all rates.
// An end's rate is that of the port there; the status tells whether a cable is in use, the count how many
// there are.
enum class Meaning : std::uint8_t {
  kOther,
  kRate,
  kBackRate,
  kEndRate,
  kLatency,
  kLength,
  kLoss,
  kCable,
  kStatus,
  kCount,
  kWeight
};
struct NamedMeaning {
  Meaning meaning = Meaning::kOther;
  std::string unit;     // that the name gives to bare numbers: "gbps", "us", "km", "%"; "": none
  std::string words;    // its words in small letters: "link speed"
  std::string unit_of;  // the words of the name whose unit stands under this one: of `LinkSpeedUnits`
};
NamedMeaning meaning_of(std::string_view name);

// "LinkSpeedRaw" and "link_speed-raw" as {"link", "speed", "raw"}; "Gb/s" as {"gbps"}, "GB/s" as {"gbyteps"},
// "%" as {"percent"}.
std::vector<std::string> words_of(std::string_view of);

}  // namespace weft::topologies
