// The ports on minimal ways, as routing policies are given them, and their channels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/packet/channels.h"
#include "sim/packet/ids.h"
#include "sim/packet/switch_policies.h"

namespace weft::sim::packet {

// Keeps the ports of the table's sets of channels. Most follow each other, so that none need be listed.
class MinimalWays {
 public:
  static constexpr std::uint32_t kNoSet = UINT32_MAX;

  // A set of the table.
  struct Set {
    static constexpr std::uint16_t kUnknown = UINT16_MAX, kIrregular = kUnknown - 1;
    std::uint32_t first = 0;  // channel; count 0: they aren't evenly spaced
    std::uint16_t count = 0, stride = 0;
    std::uint16_t first_port = kUnknown;  // kIrregular: ports don't follow each other
    ChannelId channel(std::uint32_t i) const { return ChannelId(first + i * stride); }
  };
  struct Ways {
    std::span<const std::uint32_t> ports;  // none with a link that is down
    Set set;                               // where they follow each other; else its count is 0
    // kNoChannel: the port isn't among them, or that isn't known.
    ChannelId channel(std::uint32_t port) const {
      const std::uint32_t i = port - set.first_port;
      return i < set.count ? set.channel(i) : kNoChannel;
    }
  };

  // `asked`: by policies. Else it is of no use, and takes no room. `policies` are for messages; may be null.
  MinimalWays(const Channels& channels, bool asked, const SwitchPolicies* policies = nullptr);

  const Set& known_set(std::uint32_t set) {
    if (reroutes_ == channels_.reroutes && set < sets_.size() && sets_[set].first_port != Set::kUnknown)
        [[likely]]
      return sets_[set];
    return learn_set(set);
  }
  // From a switch to a host. `set`: the table's, or kNoSet if it isn't known. `room()` gives where ports are
  // put if they have to be listed.
  template <typename Room>
  [[gnu::always_inline]] Ways towards(NodeId at, std::uint32_t host, std::uint32_t set, const Room& room) {
    if (!channels_.degraded) [[likely]] {
      if (set == kNoSet) set = channels_.table->set_number(at, host);
      const Set& known = known_set(set);
      if (known.first_port != Set::kIrregular) [[likely]]
        return {{numbers_.data() + known.first_port, known.count}, known};
    }
    return {.ports = list_ports(at, host, room()), .set = {}};
  }

  // Where the channels by port of a node begin.
  const std::uint32_t* exits_of(NodeId at) const { return &exits_begin_[at]; }
  // That of a port. REQUIRES: there is one.
  ChannelId channel_of(NodeId at, std::uint32_t port) const {
    return ChannelId(exits_[exits_begin_[at] + port] & ~kHostBit);
  }
  // That of any port which a policy has chosen for a packet to a host. Throws InputError (std::logic_error
  // without policies) if there is none, or it leads to another host.
  ChannelId checked_exit(NodeId at, std::uint32_t port, std::uint32_t destination) const {
    const std::uint32_t i = exits_begin_[at] + port;
    if (i < exits_begin_[at + 1u] && !(exits_[i] & kHostBit)) [[likely]]
      return ChannelId(exits_[i]);
    return exit_to_host(at, port, destination);
  }

 private:
  const Set& learn_set(std::uint32_t set);
  std::span<const std::uint32_t> list_ports(NodeId at, std::uint32_t host,
                                            std::vector<std::uint32_t>& room) const;
  ChannelId exit_to_host(NodeId at, std::uint32_t port, std::uint32_t destination) const;

  const Channels& channels_;
  const SwitchPolicies* policies_;
  std::vector<Set> sets_;                   // by set of the table, as they come up
  std::uint32_t reroutes_ = 0;              // that sets_ are of
  std::vector<std::uint32_t> numbers_;      // 0, 1, 2 …
  std::vector<std::uint32_t> exits_begin_;  // into exits_, by node and one behind the last
  std::vector<std::uint32_t> exits_;        // channels by port, with kHostBit where they lead to hosts
};

}  // namespace weft::sim::packet
