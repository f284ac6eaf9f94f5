#include "sim/units/quantity.h"

#include <fmt/core.h>

#include <cctype>
#include <charconv>
#include <cmath>

#include "sim/units/input_error.h"

namespace weft {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

struct Split {
  long double number;
  std::string_view unit;
};

Split split_number(std::string_view text, std::string_view what, std::string_view example) {
  const auto fail = [&] {
    return InputError(fmt::format("'{}' is not a {}; write it like {}", text, what, example));
  };
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  // Neither "inf" nor "nan". That of the standard library looks beyond the end of a text that begins like
  // these.
  const std::size_t digits = text.starts_with('-') ? 1 : 0;
  if (text.size() == digits || (text[digits] != '.' && (text[digits] < '0' || text[digits] > '9')))
    throw fail();
  long double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) throw fail();
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  if (number < 0) {
    throw InputError(fmt::format("'{}' is negative; a {} can't be (write it like {})", text, what, example));
  }
  return {number, unit};
}

// A whole number of base units; the product must fit 63 bits.
std::int64_t scaled(std::string_view text, long double number, double factor, std::string_view what) {
  const long double value = number * factor;
  if (value >= 9.2e18L) throw InputError(fmt::format("'{}' is too large for a {}", text, what));
  return static_cast<std::int64_t>(std::llroundl(value));
}

std::int64_t parse_unit(std::string_view text, const Unit* units, std::size_t count, double bare_factor,
                        std::string_view what, std::string_view example) {
  const Split split = split_number(text, what, example);
  if (split.unit.empty()) return scaled(text, split.number, bare_factor, what);
  std::string known;
  constexpr std::size_t kMostNamed = 14;
  for (std::size_t i = 0; i < count; ++i) {
    if (units[i].name == split.unit) return scaled(text, split.number, units[i].factor, what);
    if (i < kMostNamed) known += (known.empty() ? "" : ", ") + std::string(units[i].name);
  }
  throw InputError(
      fmt::format("'{}' has the unit '{}', which no {} has; units are {}", text, split.unit, what, known));
}

constexpr Unit kTimeUnits[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
constexpr Unit kRateUnits[] = {{"bps", 1},
                               {"kbps", 1e3},
                               {"Mbps", 1e6},
                               {"Gbps", 1e9},
                               {"Tbps", 1e12},
                               {"b/s", 1},
                               {"kb/s", 1e3},
                               {"Mb/s", 1e6},
                               {"Gb/s", 1e9},
                               {"Tb/s", 1e12},
                               {"kB/s", 8e3},
                               {"MB/s", 8e6},
                               {"GB/s", 8e9},
                               {"TB/s", 8e12},
                               // As data sheets and vendors' lists have them.
                               {"Kbps", 1e3},
                               {"k", 1e3},
                               {"M", 1e6},
                               {"G", 1e9},
                               {"T", 1e12},
                               {"kbit/s", 1e3},
                               {"Mbit/s", 1e6},
                               {"Gbit/s", 1e9},
                               {"Tbit/s", 1e12},
                               {"Mbit", 1e6},
                               {"Gbit", 1e9},
                               {"GbE", 1e9}};
constexpr Unit kByteUnits[] = {
    {"B", 1},     {"kB", 1e3},     {"KB", 1e3},        {"MB", 1e6},           {"GB", 1e9},
    {"TB", 1e12}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};

// `value` in the largest unit that leaves at most three decimals; units ascend by 1,000.
std::string print_scaled(std::int64_t value, const Unit* units, std::size_t count) {
  for (std::size_t i = count; i-- > 1;) {
    const auto factor = static_cast<std::int64_t>(units[i].factor);
    if (value >= factor && value % (factor / 1000) == 0) {
      const std::int64_t whole = value / factor, thousandths = value % factor / (factor / 1000);
      if (thousandths == 0) return fmt::format("{}{}", whole, units[i].name);
      std::string text = fmt::format("{}.{:03}", whole, thousandths);
      while (text.back() == '0') text.pop_back();
      return text + std::string(units[i].name);
    }
  }
  return fmt::format("{}{}", value, units[0].name);
}

}  // namespace

void fail_past_end_of_time() {
  throw InputError(fmt::format(
      "simulated time would pass {:.0f} days, where it ends; is the size of a calc or a message a mistake?",
      kEndOfTime.seconds() / 86400));
}

Time parse_time(std::string_view text, Time bare_unit) {
  return Time::ps(parse_unit(text, kTimeUnits, std::size(kTimeUnits), static_cast<double>(bare_unit.ps()),
                             "time", "1.5us"));
}

Bandwidth parse_bandwidth(std::string_view text) {
  return Bandwidth::bps(parse_unit(text, kRateUnits, std::size(kRateUnits), 1, "bandwidth", "400Gbps"));
}

std::uint64_t parse_bytes(std::string_view text) {
  constexpr std::string_view kWhat = "size in bytes", kExample = "2MiB";
  const std::int64_t bytes = parse_unit(text, kByteUnits, std::size(kByteUnits), 1, kWhat, kExample);
  // A fraction of a unit is exact enough to tell a fraction of a byte: sizes are far below 2^64.
  const Split split = split_number(text, kWhat, kExample);
  long double exact = split.number;
  for (const Unit& unit : kByteUnits) {
    if (unit.name == split.unit) exact *= unit.factor;
  }
  if (std::abs(exact - static_cast<long double>(bytes)) > 1e-3L) {
    throw InputError(fmt::format("'{}' is not a whole number of bytes", text));
  }
  return static_cast<std::uint64_t>(bytes);
}

std::string to_string(Time value) {
  if (value < Time()) return "-" + to_string(Time() - value);
  return print_scaled(value.ps(), kTimeUnits, std::size(kTimeUnits));
}

std::string to_string(Bandwidth value) { return print_scaled(value.bps(), kRateUnits, 5); }

std::string bytes_to_string(std::uint64_t bytes) {
  constexpr std::string_view kBinary[] = {"KiB", "MiB", "GiB", "TiB"};
  constexpr std::string_view kDecimal[] = {"kB", "MB", "GB", "TB"};
  for (int i = 3; i >= 0; --i) {
    std::uint64_t binary = 1, decimal = 1;
    for (int power = 0; power <= i; ++power) binary *= 1024, decimal *= 1000;
    if (bytes != 0 && bytes % binary == 0) return fmt::format("{}{}", bytes / binary, kBinary[i]);
    if (bytes != 0 && bytes % decimal == 0) return fmt::format("{}{}", bytes / decimal, kDecimal[i]);
  }
  return fmt::format("{}B", bytes);
}

std::string to_ns_string(Time value) {
  const std::int64_t whole = value.ps() / 1000, fraction = value.ps() % 1000;
  return fraction == 0 ? fmt::format("{}", whole) : fmt::format("{}.{:03}", whole, fraction);
}

}  // namespace weft
