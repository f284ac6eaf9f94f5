// Which of its hosts' NICs a message leaves and arrives through, the same in every network model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/network.h"
#include "sim/core/nic_rule.h"
#include "sim/routing/nics/nic_network.h"
#include "sim/routing/path_draws.h"
#include "sim/units/module.h"

namespace weft::routing {

// What users name: README.md has each one's rule, with sources.
enum class NicChoice : std::uint8_t {
  // By the ranks, of programs that name no NICs.
  kLibrary,  // as the job's library does: near, ucx or nccl
  kNear,     // a rank's first own one
  kUcx,      // large messages divided over two of them
  kNccl,     // channels of collectives in turn, all else divided over all of them
  kAll,      // divided over all of them
  // By the message.
  kGiven,        // the ones that its program names
  kRoundRobin,   // one after the other, message by message
  kHash,         // drawn for each connection
  kLeastLoaded,  // the one whose messages have the fewest packets in all
  kSpray,        // packet after packet over all of the host's; an ACK goes back as its packet came
};

inline bool is_by_rank(NicChoice choice) { return choice <= NicChoice::kAll; }
// Does the message say which NICs it takes?
inline bool asks_messages(NicChoice choice) { return choice <= NicChoice::kGiven; }

// The parameter `nic_choice` of a network model.
ParameterSpec nic_choice_parameter(bool has_packets);
NicChoice nic_choice_of(const Parameters& parameters);

// What ranks make of their own NICs with a choice by rank; `library` is what their library does.
sim::RailUse rail_use(NicChoice choice, const sim::RailUse& library);

// The records of a host are touched by those only who ask for its messages.
class NicPicker {
 public:
  // `network`: where it is to say which NICs lead where; null: they all do. It must outlive this.
  NicPicker(const NicNetwork* network, std::uint32_t hosts) : network_(network), turn_(hosts) {}

  const NicNetwork* network() const { return network_; }

  // The NIC of the source, of `count`. load(nic): packets of its messages, for kLeastLoaded. Of kSpray, that
  // of the first packet.
  template <typename Load>
  std::uint32_t source(NicChoice choice, const sim::Message& message, std::uint32_t entropy,
                       std::uint32_t count, const Load& load) {
    if (count == 1) return 0;
    if (asks_messages(choice)) return message.source_nic % count;
    if (choice == NicChoice::kLeastLoaded) return least_loaded(message, count, load);
    const auto choose = [&](std::uint32_t among) {
      return choice == NicChoice::kHash ? hashed_nic(entropy, among) : turn_[message.source]++ % among;
    };
    if (network_ == nullptr) return choose(count);
    return network_->choose_among(message.source, message.destination, choose);
  }
  // The NIC of the destination, of `count`, that what leaves through `nic` arrives at, and is answered from.
  std::uint32_t destination(NicChoice choice, const sim::Message& message, std::uint32_t nic,
                            std::uint32_t count) const {
    const std::uint32_t wanted = (asks_messages(choice) ? message.destination_nic : nic) % count;
    if (network_ == nullptr) return wanted;
    return network_->arrival(message.source, nic, message.destination, wanted);
  }
  // Throws InputError if there is no way from this NIC.
  void require_way(const sim::Message& message, std::uint32_t nic) const {
    if (network_ == nullptr || network_->leads_to(message.source, nic, message.destination)) return;
    network_->fail_no_way(message.source, nic, message.destination);
  }

 private:
  template <typename Load>
  std::uint32_t least_loaded(const sim::Message& message, std::uint32_t count, const Load& load) const {
    const auto leads = [&](std::uint32_t nic) {
      return network_ == nullptr || network_->leads_to(message.source, nic, message.destination);
    };
    std::uint32_t least = 0;
    for (std::uint32_t nic = 1; nic < count; ++nic) {
      if (leads(nic) && (!leads(least) || load(nic) < load(least))) least = nic;
    }
    return least;
  }

  const NicNetwork* network_;
  std::vector<std::uint32_t> turn_;  // by host: messages that took the next NIC
};

}  // namespace weft::routing
