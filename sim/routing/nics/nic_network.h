// A network in which each NIC of a host is a destination of its own, as it has an address of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/core/nic_rule.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// Which NICs ranks use, which lead where, and a network that leads to them.
//
// nics(): those over which the slower end of the way is fastest, as UCX ranks them (ucp/wireup/select.c: the
// lesser of local and remote bandwidth), shared out evenly among the host's ranks in their order, as Cray
// MPICH's policies BLOCK and NUMA, Open MPI's and MPICH's nearest NICs and NCCL's ncclTopoGetLocalNetType do:
// of R ranks and N such NICs, rank r has those from floor(r N / R) up to floor((r + 1) N / R), or the first
// of these alone. The i-th of the sender's own leads to the i-th of the receiver's, counted in its part of
// the network. NICs whose cables are down from the start, and ways that are, are left out, as libraries find
// them so when they set up; a host that has no other keeps them.
//
// Where NICs of a host lie in the same part of the network (rails with common spines), it is unfolded: the
// same cables and switches, with the same numbers, but an endpoint in place of each NIC, so that routes lead
// to the NIC that a message is sent to, whatever the routing policy. Endpoint h is the first NIC of host h;
// the others of all hosts follow. Elsewhere (planes; a link inside of a node) what leaves a NIC can arrive at
// one only, and endpoints are the hosts.
class NicNetwork final : public sim::NicRule {
 public:
  // Null where no host has several NICs: then there is nothing to choose. Both must outlive it. `to_hosts`:
  // it is not to be unfolded. `dead`: links, ascending, that are down from the start. Throws InputError for
  // more NICs than a host can have.
  static std::unique_ptr<const NicNetwork> make(const topologies::Topology& topology,
                                                const RoutingTable& table, bool to_hosts,
                                                std::span<const std::uint32_t> dead = {});
  // Makes one that is unfolded in any case, for who follows what leaves each NIC. Null where no host has
  // several NICs.
  static std::unique_ptr<const NicNetwork> make_unfolded(const topologies::Topology& topology,
                                                         const RoutingTable& table);

  bool unfolded() const { return own_table_ != nullptr; }
  const topologies::Topology& topology() const { return unfolded() ? own_topology_ : given_; }
  const RoutingTable& table() const { return unfolded() ? *own_table_ : given_table_; }
  std::uint32_t endpoint(std::uint32_t host, std::uint32_t nic) const {
    return nic == 0 || !unfolded() ? host : first_[host] - host + hosts_ + nic - 1;
  }
  std::uint32_t host_of(std::uint32_t endpoint) const {
    return endpoint < hosts_ ? endpoint : host_of_[endpoint - hosts_];
  }

  sim::NicPair nics(const sim::RankPlace& from, const sim::RankPlace& to,
                    std::uint32_t rail = 0) const override;
  std::uint32_t most_nics() const override { return most_nics_; }
  std::uint32_t nics_of(std::uint32_t host) const { return first_[host + 1] - first_[host]; }
  // Is there a way from this NIC of `host` to another host?
  bool leads_to(std::uint32_t host, std::uint32_t nic, std::uint32_t other) const;
  // The NIC of `other` that what leaves this one arrives at: the one wanted if there is a way, else the one
  // with the same number, else the first that can be reached, which is what is wanted if there is none.
  std::uint32_t arrival(std::uint32_t host, std::uint32_t nic, std::uint32_t other,
                        std::uint32_t wanted) const;

  // The NIC of `host` that choose(count) picks of those that lead to `other`, of all if none does.
  template <typename Choose>
  std::uint32_t choose_among(std::uint32_t host, std::uint32_t other, const Choose& choose) const {
    const std::uint32_t all = first_[host + 1] - first_[host];
    const auto fits = [&](std::uint32_t nic) { return leads_to(host, nic, other); };
    std::uint32_t count = 0;
    for (std::uint32_t nic = 0; nic < all; ++nic) count += fits(nic);
    if (count == 0 || count == all) return choose(all);
    std::uint32_t left = choose(count);
    for (std::uint32_t nic = 0;; ++nic) {
      if (fits(nic) && left-- == 0) return nic;
    }
  }
  // Throws InputError: what is to leave through this NIC can't come to `other`.
  [[noreturn]] void fail_no_way(std::uint32_t host, std::uint32_t nic, std::uint32_t other) const;

 private:
  struct Nic {
    std::uint32_t part = 0;  // of the network; NICs in the same one reach each other
    std::int64_t bps = 0;
  };

  NicNetwork(const topologies::Topology& topology, const RoutingTable& table,
             std::span<const std::uint32_t> dead);
  // Not unfolded yet; null as for make().
  static std::unique_ptr<NicNetwork> make_folded(const topologies::Topology& topology,
                                                 const RoutingTable& table,
                                                 std::span<const std::uint32_t> dead);
  void find_parts(std::span<const std::uint32_t> dead);
  void find_cut_off_hosts();
  bool is_ambiguous() const;
  void unfold();
  static bool says(const std::vector<bool>& of_hosts, std::uint32_t host) {
    return !of_hosts.empty() && of_hosts[host];
  }
  // What connects the NICs of these two hosts.
  const std::vector<Nic>& between(std::uint32_t host, std::uint32_t other) const {
    return says(cut_off_, host) || says(cut_off_, other) ? whole_ : nics_;
  }
  std::span<const Nic> of(const std::vector<Nic>& nics, std::uint32_t host) const {
    return {nics.data() + first_[host], nics.data() + first_[host + 1]};
  }

  const topologies::Topology& given_;
  const RoutingTable& given_table_;
  const std::uint32_t hosts_;
  topologies::Topology own_topology_;
  std::unique_ptr<const RoutingTable> own_table_;
  std::vector<std::uint32_t> first_;    // by host, one more than there are: of its NICs among all
  std::vector<std::uint32_t> host_of_;  // by endpoint behind the first NICs
  std::vector<Nic> nics_;               // of all hosts, in their order
  std::vector<Nic> whole_;              // the same if no link were dead; empty: none is
  std::vector<bool> cut_off_;           // by host: it has no NIC left that leads anywhere; empty: none
  bool all_alike_ = true;               // every NIC leads to every other one, and all are equally fast
  std::uint32_t most_nics_ = 1;
};

}  // namespace weft::routing
