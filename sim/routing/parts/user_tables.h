// The tables of a user's file, with shortest paths where they say nothing.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/routing/parts/destinations.h"
#include "sim/routing/parts/route_file.h"
#include "sim/routing/switch_plan.h"

namespace weft::routing {

class UserTables {
 public:
  // A next channel, and the odds of it and those before it in its line, in parts of 2^32.
  struct Next {
    std::uint32_t channel = 0, port = 0;
    std::uint64_t up_to = 0;
  };

  // Reads the file that the parameter `file` names. Throws InputError, with file and line, for lines that
  // make no sense, and for tables that lead packets in a circle.
  explicit UserTables(const PlanSetup& setup);

  // From now on without these links: a line of which nothing is left, or a circle, makes all packets to a
  // host go by shortest paths. `table`: these, without the links; it must outlive it. REQUIRES: not called
  // before.
  void leave_out(const std::vector<bool>& down_links, const RoutingTable& table);

  // Empty: by shortest paths. Channels of a line that are down are there no more after leave_out().
  std::span<const Next> next(std::uint32_t s, std::uint32_t host) const {
    const std::vector<std::uint32_t>& row = rows_[s];
    return row.empty() ? std::span<const Next>() : line(row[host]);
  }
  // Among all pairs of hosts that share no switch, the first is the share whose way the file says from end to
  // end, the second that of whose way it says anything; 1 if there is no such pair.
  double told() const { return told_; }
  double told_in_part() const { return told_in_part_; }

 private:
  struct Line {
    std::uint32_t first = 0, count = 0;
    std::int64_t number = 0;  // in the file
  };
  // Finds circles on the ways to one host, and from where on the file says all.
  class Check;

  std::span<const Next> line(std::uint32_t number) const {
    return {next_.data() + lines_[number].first, lines_[number].count};
  }
  void read(RouteFile& file);
  std::uint32_t add_line(const RouteFile& file, std::uint32_t s);
  void set(std::uint32_t s, std::uint32_t host, std::uint32_t line);
  // Hosts that the tables don't tell apart.
  std::vector<std::vector<std::uint32_t>> groups() const;
  void forget(std::span<const std::uint32_t> hosts);
  void check(const std::string& file);

  const topologies::Topology& topology_;
  const Destinations destinations_;
  const RoutingTable* table_;
  std::vector<Line> lines_ = {{}};                // the first one is empty
  std::vector<Next> next_;                        // of lines
  std::vector<std::vector<std::uint32_t>> rows_;  // by switch, then host: its line; empty: it has none
  double told_ = 1, told_in_part_ = 1;
};

}  // namespace weft::routing
