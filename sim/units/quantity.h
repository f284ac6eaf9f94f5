// Time, bandwidth and byte counts: strong types, and the text forms users write.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace weft {

// A point or a span of simulated time: a signed 64-bit count of picoseconds (±106 days).
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time ps(std::int64_t count) { return Time(count); }
  static constexpr Time ns(std::int64_t count) { return Time(count * 1'000); }
  static constexpr Time us(std::int64_t count) { return Time(count * 1'000'000); }
  static constexpr Time max() { return Time(std::numeric_limits<std::int64_t>::max()); }
  constexpr std::int64_t ps() const { return ps_; }
  constexpr double seconds() const { return static_cast<double>(ps_) * 1e-12; }
  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time operator+(Time other) const { return Time(ps_ + other.ps_); }
  constexpr Time operator-(Time other) const { return Time(ps_ - other.ps_); }
  constexpr Time operator*(std::int64_t factor) const { return Time(ps_ * factor); }
  constexpr Time& operator+=(Time other) {
    ps_ += other.ps_;
    return *this;
  }
  constexpr Time& operator-=(Time other) {
    ps_ -= other.ps_;
    return *this;
  }

 private:
  constexpr explicit Time(std::int64_t count) : ps_(count) {}
  std::int64_t ps_ = 0;
};

// The last moment of a simulation, 53 days: half of what Time can hold, so that events of a later moment can
// still be scheduled and compared without overflow.
inline constexpr Time kEndOfTime = Time::ps(std::int64_t{1} << 62);
[[noreturn]] void fail_past_end_of_time();
// The moment `duration` after `start`. Throws InputError where that is past kEndOfTime.
// REQUIRES: start <= kEndOfTime; duration is not negative.
inline Time after(Time start, Time duration) {
  if (duration > kEndOfTime - start) [[unlikely]]
    fail_past_end_of_time();
  return start + duration;
}

// A link or NIC rate, in bits per second.
class Bandwidth {
 public:
  constexpr Bandwidth() = default;
  static constexpr Bandwidth bps(std::int64_t count) { return Bandwidth(count); }
  static constexpr Bandwidth gbps(std::int64_t count) { return Bandwidth(count * 1'000'000'000); }
  constexpr std::int64_t bps() const { return bps_; }
  constexpr auto operator<=>(const Bandwidth&) const = default;
  // Time to put `bytes` on the wire, rounded up to a whole picosecond so that no link exceeds its rate.
  // REQUIRES: bps() > 0.
  constexpr Time serialization(std::uint64_t bytes) const {
    const auto bit_ps = static_cast<unsigned __int128>(bytes) * 8 * 1'000'000'000'000ULL;
    return Time::ps(static_cast<std::int64_t>((bit_ps + bps_ - 1) / static_cast<unsigned __int128>(bps_)));
  }

 private:
  constexpr explicit Bandwidth(std::int64_t count) : bps_(count) {}
  std::int64_t bps_ = 0;
};

// The slowest link that can be simulated. A rate below it is a unit left out: "400" for "400Gbps".
inline constexpr Bandwidth kLeastRate = Bandwidth::bps(1'000'000);

// A cost per byte, kept in whole femtoseconds so that sums are exact: 0.04 ns is 40,000 fs.
class TimePerByte {
 public:
  constexpr TimePerByte() = default;
  constexpr bool operator==(const TimePerByte&) const = default;
  static TimePerByte ns(double count) { return TimePerByte(static_cast<std::int64_t>(count * 1e6 + 0.5)); }
  // The cost of `bytes`, cut to whole picoseconds; Time::max() if it is more than that.
  constexpr Time of(std::uint64_t bytes) const {
    if (bytes <= 0xFFFFFFFFu && fs_ <= 0x7FFFFFFF) {
      return Time::ps(static_cast<std::int64_t>(bytes * static_cast<std::uint64_t>(fs_) / 1000));
    }
    const __int128 cost = static_cast<__int128>(fs_) * static_cast<__int128>(bytes) / 1000;
    return cost >= Time::max().ps() ? Time::max() : Time::ps(static_cast<std::int64_t>(cost));
  }
  // The cost of all bytes after the first, as LogGP counts; nothing for an empty message.
  constexpr Time after_first(std::uint64_t bytes) const { return bytes == 0 ? Time() : of(bytes - 1); }

 private:
  constexpr explicit TimePerByte(std::int64_t fs) : fs_(fs) {}
  std::int64_t fs_ = 0;
};

// Parsers of user text. Each throws InputError that names the text found and an example of a right one.
// A number may have a decimal point and an exponent; a blank may stand before the unit.

// "1.5us", "500 ns", "2ms", "1s", "250ps"; a bare number is taken in `bare_unit`. Rounded to a picosecond.
Time parse_time(std::string_view text, Time bare_unit = Time::ns(1));
// "400Gbps", "25 Gb/s", "100Mbps", "50GB/s" (bytes: 8 times as much); a bare number is bits per second.
Bandwidth parse_bandwidth(std::string_view text);
// "4096", "2MB" (10^6), "2MiB" (2^20), "64 KiB", "1e6"; the result is a whole number of bytes.
std::uint64_t parse_bytes(std::string_view text);

// Printers: the shortest text that parses back to the same value.
std::string to_string(Time value);                 // "1.5us"
std::string to_string(Bandwidth value);            // "400Gbps"
std::string bytes_to_string(std::uint64_t bytes);  // "2MiB", "2MB" or "4097B"
// Nanoseconds for result files: "1500" or, with a fraction, "1500.125". Exact.
std::string to_ns_string(Time value);

}  // namespace weft
