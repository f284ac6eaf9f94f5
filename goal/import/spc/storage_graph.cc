#include "goal/import/spc/storage_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "sim/units/input_error.h"
#include "sim/units/large_pages.h"

namespace weft::goal {
namespace {

// The network has cpu 0 of every rank to itself, so that its costs delay neither clocks nor devices.
constexpr std::uint16_t kClockCpu = 1, kDeviceCpu = 1;

// Part of an I/O that lies on one server, as that server sees it. 12 bytes.
struct Request {
  std::uint32_t bytes : 31 = 0;
  std::uint32_t write : 1 = 0;
  std::uint32_t host = 0;
  std::uint32_t tag = 0;  // counts a host's requests
};
static_assert(kMostIoBytes < 1u << 31);

// Values of each group, in the order they came: first counted, then placed. A rank's program is then written
// from memory that lies side by side.
template <typename Value>
class Grouped {
 public:
  explicit Grouped(std::uint32_t groups) : begin_(groups + 1ull) {}
  void count(std::uint32_t group) { ++begin_[group + 1ull]; }
  void end_count() {
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    values_.resize(begin_.back());
    next_.assign(begin_.begin(), begin_.end() - 1);
  }
  void place(std::uint32_t group, const Value& value) { values_[next_[group]++] = value; }
  std::uint64_t size() const { return begin_.back(); }
  std::span<const Value> of(std::uint32_t group) const {
    return std::span(values_).subspan(begin_[group], begin_[group + 1ull] - begin_[group]);
  }

 private:
  LargeVector<Value> values_;
  std::vector<std::uint64_t> begin_;  // per group, and one more at the end
  std::vector<std::uint64_t> next_;
};

// What every rank's program is made of: the I/Os of each host, the requests to each server.
class Writer {
 public:
  Writer(std::span<const SpcIo> ios, const StorageSystem& system)
      : all_(ios),
        system_(system),
        unit_number_(numbers_of_units(ios)),
        hosts_(system.hosts > 0
                   ? system.hosts
                   : std::max<std::uint32_t>(1, static_cast<std::uint32_t>(unit_number_.size()))),
        ios_(hosts_),
        requests_(system.servers) {}

  StorageGraph write() {
    divide();
    // A clock or none, two operations of the host and three of the server; an edge to each but the first.
    const std::uint64_t count = requests_.size();
    builder_.reserve(all_.size() + 5 * count, all_.size() + 6 * count);
    for (std::uint32_t host = 0; host < hosts_; ++host) write_host(host);
    for (std::uint32_t server = 0; server < system_.servers; ++server) write_server(server);
    made_.graph = builder_.finish();
    made_.hosts = hosts_;
    made_.requests = count;
    return std::move(made_);
  }

 private:
  using UnitNumbers = std::unordered_map<std::uint32_t, std::uint32_t>;  // by ASU: its position among those

  static UnitNumbers numbers_of_units(std::span<const SpcIo> ios) {
    UnitNumbers numbers;
    std::vector<std::uint32_t> units;
    for (const SpcIo& io : ios) {
      if (numbers.try_emplace(io.unit).second) units.push_back(io.unit);
    }
    std::sort(units.begin(), units.end());
    for (std::uint32_t i = 0; i < units.size(); ++i) numbers[units[i]] = i;
    return numbers;
  }

  // Calls `part` with the server and the bytes of each part of an I/O. `unit`: its number.
  template <typename Part>
  void for_parts(const SpcIo& io, std::uint32_t unit, const Part& part) const {
    const std::uint64_t first = io.address * system_.block;
    std::uint64_t slice = first / system_.stripe;
    std::uint64_t room = system_.stripe - first % system_.stripe;
    for (std::uint64_t left = io.bytes; left > 0; ++slice, room = system_.stripe) {
      const std::uint64_t bytes = std::min(left, room);
      part(static_cast<std::uint32_t>((slice % system_.servers + unit) % system_.servers),
           static_cast<std::uint32_t>(bytes));
      left -= bytes;
    }
  }

  // Throws before so many parts are counted one by one.
  void expect_parts() const {
    std::uint64_t count = 0;
    for (const SpcIo& io : all_) {
      count += (io.address * system_.block % system_.stripe + io.bytes - 1) / system_.stripe + 1;
    }
    if (count >= kAny)
      throw InputError(fmt::format("{} requests: more than 2^32 - 2; choose a larger stripe", count));
    GraphBuilder::expect_graph(all_.size() + 6 * count, all_.size() + 6 * count);
  }

  // Every host's I/Os, with the number of the unit in the place of its name, and every server's requests.
  void divide() {
    expect_parts();
    for (const SpcIo& io : all_) {
      const std::uint32_t unit = unit_number_.find(io.unit)->second;
      ios_.count(unit % hosts_);
      for_parts(io, unit, [&](std::uint32_t server, std::uint32_t) { requests_.count(server); });
    }
    ios_.end_count();
    requests_.end_count();
    std::vector<std::uint32_t> tags(hosts_);
    for (SpcIo io : all_) {
      io.unit = unit_number_.find(io.unit)->second;
      const std::uint32_t host = io.unit % hosts_;
      (io.write ? made_.write_bytes : made_.read_bytes) += io.bytes;
      ios_.place(host, io);
      for_parts(io, io.unit, [&](std::uint32_t server, std::uint32_t bytes) {
        requests_.place(server, {bytes, io.write, host, tags[host]++});
      });
    }
  }

  void write_host(std::uint32_t host) {
    std::uint64_t now = all_.empty() ? 0 : all_.front().start_ns;
    OpIndex clock = kAny;                  // the calc that ends at `now`
    std::vector<OpIndex> before, answers;  // what the next I/O waits for
    std::uint32_t tag = 0;
    for (const SpcIo& io : ios_.of(host)) {
      if (!system_.closed_loop && io.start_ns > now) {
        const OpIndex next = builder_.add_calc(io.start_ns - now, kClockCpu);
        if (clock != kAny) builder_.add_edge(clock, next);
        clock = next;
        now = io.start_ns;
        before = {clock};
      }
      answers.clear();
      for_parts(io, io.unit, [&](std::uint32_t server, std::uint32_t bytes) {
        answers.push_back(ask(server, {bytes, io.write, host, tag++}, before));
      });
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
  OpIndex ask(std::uint32_t server, const Request& request, std::span<const OpIndex> before) {
    const Rank to = hosts_ + server;
    const OpIndex sent = builder_.add_send(asked(request), to, request.tag);
    const OpIndex answer = builder_.add_recv(answered(request), to, request.tag);
    for (const OpIndex first : before) builder_.add_edge(first, sent);
    builder_.add_edge(sent, answer, true);  // posted when the request is on its way
    return answer;
  }

  void write_server(std::uint32_t server) {
    for (const Request& request : requests_.of(server)) {
      const Time moved =
          (request.write ? system_.write_rate : system_.read_rate).serialization(request.bytes);
      const auto device_ns = static_cast<std::uint64_t>(((system_.access + moved).ps() + 999) / 1000);
      const OpIndex got = builder_.add_recv(asked(request), request.host, request.tag);
      const OpIndex device = builder_.add_calc(device_ns, kDeviceCpu);
      const OpIndex answer = builder_.add_send(answered(request), request.host, request.tag);
      builder_.add_edge(got, device);
      builder_.add_edge(device, answer);
    }
    builder_.end_rank();
  }

  // Bytes of the message to the server, and of the one back.
  std::uint64_t asked(const Request& request) const {
    return system_.command + (request.write ? request.bytes : 0);
  }
  std::uint64_t answered(const Request& request) const {
    return system_.completion + (request.write ? 0 : request.bytes);
  }

  const std::span<const SpcIo> all_;
  const StorageSystem& system_;
  const UnitNumbers unit_number_;
  const std::uint32_t hosts_;
  Grouped<SpcIo> ios_;         // by host
  Grouped<Request> requests_;  // by server
  GraphBuilder builder_;
  StorageGraph made_;
};

}  // namespace

StorageGraph storage_graph(std::span<const SpcIo> ios, const StorageSystem& system) {
  return Writer(ios, system).write();
}

}  // namespace weft::goal
