#include "topologies/import/attributes.h"

#include <fmt/core.h>

#include <utility>

#include "sim/units/input_error.h"
#include "topologies/import/lines.h"
#include "topologies/import/vendor_units.h"

namespace weft::topologies {

Bandwidth rate_attribute(std::string_view text) {
  const Bandwidth rate = parse_bandwidth(standard_rate(text));
  if (rate < kLeastRate) {
    throw InputError(fmt::format("'{}' is less than {}, the slowest link there may be; write it like 400Gbps",
                                 text, to_string(kLeastRate)));
  }
  return rate;
}

Time time_attribute(std::string_view text, Time bare_unit) {
  const Time time = parse_time(standard_time(text), bare_unit);
  if (time < Time() || time >= kEndOfTime) {
    throw InputError(fmt::format("'{}' is not a time from 0 to {:.0f} days; write it like 500ns", text,
                                 kEndOfTime.seconds() / 86400));
  }
  return time;
}

double loss_attribute(std::string_view text) {
  constexpr std::pair<std::string_view, double> kParts[] = {{"%", 1e2}, {"percent", 1e2}, {"ppm", 1e6}};
  std::string_view number = text;
  double parts = 1;
  for (const auto& [unit, of] : kParts) {
    if (!text.ends_with(unit)) continue;
    number.remove_suffix(unit.size());
    while (number.ends_with(' ')) number.remove_suffix(1);
    parts = of;
  }
  const std::optional<double> loss = finite_number(number);
  if (!loss || *loss < 0 || *loss >= parts) {
    throw InputError(fmt::format(
        "'{}' is not a probability from 0 to below 1 that a packet is lost, like 1e-6 or 0.01%", text));
  }
  return *loss / parts;
}

std::uint32_t number_attribute(std::string_view text, std::uint32_t most) {
  const std::optional<std::uint64_t> number = whole_number(text);
  if (!number || *number > most) {
    throw InputError(fmt::format("'{}' is not a whole number from 0 to {}", text, most));
  }
  return static_cast<std::uint32_t>(*number);
}

}  // namespace weft::topologies
