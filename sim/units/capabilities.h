// What queues offer, and what controls, recoveries and policies require of them or can't live with: one set,
// so that a scenario's parts can be matched by rule.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

enum class Capability : std::uint8_t {
  kMark,          // data is marked where it meets congestion
  kTrim,          // payloads are cut off, and headers go on to the receiver
  kTelemetry,     // ports write what they hold into packets
  kCredit,        // receivers pace: credits have room and precedence
  kBackToSender,  // headers that don't fit go back to their source
  kLossless,      // packets wait where the next node has no room
};

class Capabilities {
 public:
  constexpr Capabilities() = default;
  constexpr Capabilities(Capability one) : bits_(1u << static_cast<unsigned>(one)) {}
  constexpr bool has(Capability one) const { return (bits_ >> static_cast<unsigned>(one) & 1) != 0; }
  constexpr bool has_all(Capabilities others) const { return (others.bits_ & ~bits_) == 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr Capabilities without(Capabilities others) const { return Capabilities(bits_ & ~others.bits_); }
  constexpr Capabilities both(Capabilities others) const { return Capabilities(bits_ & others.bits_); }
  constexpr Capabilities operator|(Capabilities others) const { return Capabilities(bits_ | others.bits_); }
  constexpr bool operator==(const Capabilities&) const = default;

 private:
  constexpr explicit Capabilities(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = 0;
};
constexpr Capabilities operator|(Capability a, Capability b) { return Capabilities(a) | b; }

// "mark, trim": for messages.
std::string to_string(Capabilities capabilities);

}  // namespace weft
