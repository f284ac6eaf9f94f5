#include "goal/import/spc/storage_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

// The network has cpu 0 of every rank to itself, so that its costs delay neither clocks nor devices.
constexpr std::uint16_t kClockCpu = 1, kDeviceCpu = 1;

// Part of an I/O that lies on one server.
struct Request {
  std::uint64_t bytes = 0;
  std::uint32_t host = 0, server = 0;
  std::uint32_t tag = 0;  // counts a host's requests
  bool write = false;
};

// What every rank's program is made of: the requests in the order of the trace, and each rank's share.
class Writer {
 public:
  Writer(std::span<const SpcIo> ios, const StorageSystem& system) : ios_(ios), system_(system) {
    std::set<std::uint32_t> units;
    for (const SpcIo& io : ios) units.insert(io.unit);
    hosts_ = system.hosts > 0 ? system.hosts
                              : std::max<std::uint32_t>(1, static_cast<std::uint32_t>(units.size()));
    std::uint32_t next = 0;
    for (const std::uint32_t unit : units) unit_number_.emplace_hint(unit_number_.end(), unit, next++);
  }

  StorageGraph write() {
    divide();
    // A clock or none, two operations of the host and three of the server; an edge to each but the first.
    builder_.reserve(ios_.size() + 5 * requests_.size(), ios_.size() + 6 * requests_.size());
    for (std::uint32_t host = 0; host < hosts_; ++host) write_host(host);
    for (std::uint32_t server = 0; server < system_.servers; ++server) write_server(server);
    made_.graph = builder_.finish();
    made_.hosts = hosts_;
    made_.requests = requests_.size();
    return std::move(made_);
  }

 private:
  std::uint64_t first_byte(const SpcIo& io) const { return io.address * system_.block; }
  std::uint32_t host_of(const SpcIo& io) const { return unit_number_.at(io.unit) % hosts_; }

  // The requests of all I/Os, and where those of each I/O begin.
  void divide() {
    std::uint64_t count = 0;
    for (const SpcIo& io : ios_) {
      count += (first_byte(io) % system_.stripe + io.bytes - 1) / system_.stripe + 1;
    }
    if (count >= kAny)
      throw InputError(fmt::format("{} requests: more than 2^32 - 2; choose a larger stripe", count));
    GraphBuilder::expect_graph(ios_.size() + 6 * count, ios_.size() + 6 * count);
    requests_.reserve(count);
    begin_.reserve(ios_.size() + 1);
    std::vector<std::uint32_t> tags(hosts_);
    for (const SpcIo& io : ios_) {
      begin_.push_back(static_cast<std::uint32_t>(requests_.size()));
      (io.write ? made_.write_bytes : made_.read_bytes) += io.bytes;
      const std::uint32_t host = host_of(io);
      std::uint64_t at = first_byte(io);
      for (std::uint64_t left = io.bytes; left > 0;) {
        const std::uint64_t bytes = std::min(left, system_.stripe - at % system_.stripe);
        const std::uint64_t slice = at / system_.stripe % system_.servers + unit_number_.at(io.unit);
        requests_.push_back(
            {bytes, host, static_cast<std::uint32_t>(slice % system_.servers), tags[host]++, io.write});
        at += bytes;
        left -= bytes;
      }
    }
    begin_.push_back(static_cast<std::uint32_t>(requests_.size()));
    by_host_ = grouped(ios_.size(), hosts_, [&](std::uint32_t i) { return host_of(ios_[i]); });
    by_server_ =
        grouped(requests_.size(), system_.servers, [&](std::uint32_t i) { return requests_[i].server; });
  }

  // Positions 0 to count - 1, those of each group in order.
  struct Groups {
    std::vector<std::uint32_t> order;
    std::vector<std::uint64_t> begin;  // per group, and one more at the end
    std::span<const std::uint32_t> of(std::uint32_t group) const {
      return std::span(order).subspan(begin[group], begin[group + 1] - begin[group]);
    }
  };
  template <typename GroupOf>
  static Groups grouped(std::size_t count, std::uint32_t groups, const GroupOf& group_of) {
    Groups made{std::vector<std::uint32_t>(count), std::vector<std::uint64_t>(groups + 1ull)};
    for (std::uint32_t i = 0; i < count; ++i) ++made.begin[group_of(i) + 1ull];
    std::partial_sum(made.begin.begin(), made.begin.end(), made.begin.begin());
    std::vector<std::uint64_t> next(made.begin.begin(), made.begin.end() - 1);
    for (std::uint32_t i = 0; i < count; ++i) made.order[next[group_of(i)]++] = i;
    return made;
  }

  void write_host(std::uint32_t host) {
    std::uint64_t now = ios_.empty() ? 0 : ios_.front().start_ns;
    OpIndex clock = kAny;                  // the calc that ends at `now`
    std::vector<OpIndex> before, answers;  // what the next I/O waits for
    for (const std::uint32_t i : by_host_.of(host)) {
      if (!system_.closed_loop && ios_[i].start_ns > now) {
        const OpIndex next = builder_.add_calc(ios_[i].start_ns - now, kClockCpu);
        if (clock != kAny) builder_.add_edge(clock, next);
        clock = next;
        now = ios_[i].start_ns;
        before = {clock};
      }
      answers.clear();
      for (std::uint32_t r = begin_[i]; r < begin_[i + 1]; ++r) answers.push_back(ask(requests_[r], before));
      if (system_.closed_loop) before.swap(answers);
      if (before.size() > 1) before = {joined(before)};
    }
    builder_.end_rank();
  }

  OpIndex joined(std::span<const OpIndex> all) {
    const OpIndex join = builder_.add_calc(0, kClockCpu);
    for (const OpIndex first : all) builder_.add_edge(first, join);
    return join;
  }

  // The host's side of a request; returns the receive of its answer.
  OpIndex ask(const Request& request, std::span<const OpIndex> before) {
    const Rank server = hosts_ + request.server;
    const OpIndex sent =
        builder_.add_send(system_.command + (request.write ? request.bytes : 0), server, request.tag);
    const OpIndex answer =
        builder_.add_recv(system_.completion + (request.write ? 0 : request.bytes), server, request.tag);
    for (const OpIndex first : before) builder_.add_edge(first, sent);
    builder_.add_edge(sent, answer, true);  // posted when the request is on its way
    return answer;
  }

  void write_server(std::uint32_t server) {
    for (const std::uint32_t i : by_server_.of(server)) {
      const Request& request = requests_[i];
      const Time moved =
          (request.write ? system_.write_rate : system_.read_rate).serialization(request.bytes);
      const auto device_ns = static_cast<std::uint64_t>(((system_.access + moved).ps() + 999) / 1000);
      const OpIndex got =
          builder_.add_recv(system_.command + (request.write ? request.bytes : 0), request.host, request.tag);
      const OpIndex device = builder_.add_calc(device_ns, kDeviceCpu);
      const OpIndex answer = builder_.add_send(system_.completion + (request.write ? 0 : request.bytes),
                                               request.host, request.tag);
      builder_.add_edge(got, device);
      builder_.add_edge(device, answer);
    }
    builder_.end_rank();
  }

  const std::span<const SpcIo> ios_;
  const StorageSystem& system_;
  std::uint32_t hosts_ = 0;
  std::map<std::uint32_t, std::uint32_t> unit_number_;  // by ASU: its position among those of the trace
  std::vector<Request> requests_;
  std::vector<std::uint32_t> begin_;  // of each I/O's requests, and one more at the end
  Groups by_host_, by_server_;        // of I/Os, and of requests
  GraphBuilder builder_;
  StorageGraph made_;
};

}  // namespace

StorageGraph storage_graph(std::span<const SpcIo> ios, const StorageSystem& system) {
  return Writer(ios, system).write();
}

}  // namespace weft::goal
