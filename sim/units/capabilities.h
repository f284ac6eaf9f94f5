// What queues offer, and what controls, recoveries and policies require of them or can't live with: one set,
// so that a scenario's parts can be matched by rule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

enum class Capability : std::uint8_t {
  kMark,          // data is marked where it meets congestion
  kTrim,          // payloads are cut off, and headers go on to the receiver
  kTelemetry,     // ports write what they hold into packets; networks with packets add it to any queue
  kCredit,        // receivers pace: credits have room and precedence
  kBackToSender,  // headers that don't fit go back to their source
  kLossless,      // packets wait where the next node has no room
  kCutThrough,    // a packet's departure is known as it begins to arrive: queues that are FIFO
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
  // Calls use(Capability) for each of them, in the order of the enumeration.
  template <typename Use>
  constexpr void for_each(Use&& use) const {
    for (unsigned bit = 0; bits_ >> bit != 0; ++bit) {
      if (bits_ >> bit & 1) use(static_cast<Capability>(bit));
    }
  }

 private:
  constexpr explicit Capabilities(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = 0;
};
constexpr Capabilities operator|(Capability a, Capability b) { return Capabilities(a) | b; }

// What a module says of the queues it meets.
struct CapabilityNeeds {
  Capabilities required = {};   // it can't do without
  Capabilities forbidden = {};  // it can't live with
  Capabilities used = {};  // it makes something of them where they are; required ones need not be here too

  // What it looks at.
  Capabilities noticed() const { return required | used; }
};

// A parameter of a queue discipline that decides whether it offers something. Where a capability has several,
// it takes all of them.
struct CapabilitySwitch {
  Capability capability;
  std::string parameter;
  std::string on, off;  // values in text form, as Parameters gives them back
};

// What a queue discipline gives to others.
struct CapabilityOffers {
  Capabilities always = {};
  std::vector<CapabilitySwitch> switches = {};  // none for what is always there

  // With the right parameters.
  Capabilities at_most() const {
    Capabilities all = always;
    for (const CapabilitySwitch& each : switches) all = all | each.capability;
    return all;
  }
};

// "mark, trim": for messages. Nothing: "nothing".
std::string to_string(Capabilities capabilities);

}  // namespace weft
