#include "goal/workload/message_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

constexpr std::uint16_t kClockCpu = 1;

// The positions of messages, grouped by rank.
struct Groups {
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> begin;  // per rank, and one more at the end
  std::span<const std::uint32_t> of(Rank r) const {
    return std::span(order).subspan(begin[r], begin[r + 1] - begin[r]);
  }
};

Groups group(std::uint32_t ranks, std::span<const Message> messages, Rank Message::*key) {
  Groups groups{std::vector<std::uint32_t>(messages.size()), std::vector<std::uint32_t>(ranks + 1ull)};
  for (const Message& message : messages) ++groups.begin[message.*key + 1ull];
  std::partial_sum(groups.begin.begin(), groups.begin.end(), groups.begin.begin());
  std::vector<std::uint32_t> next(groups.begin.begin(), groups.begin.end() - 1);
  for (std::uint32_t i = 0; i < messages.size(); ++i) groups.order[next[messages[i].*key]++] = i;
  return groups;
}

// Each message's position among its sender's.
std::vector<std::uint32_t> tags(std::uint32_t ranks, const Groups& sent) {
  std::vector<std::uint32_t> tag(sent.order.size());
  for (Rank r = 0; r < ranks; ++r) {
    std::uint32_t next = 0;
    for (const std::uint32_t i : sent.of(r)) tag[i] = next++;
  }
  return tag;
}

}  // namespace

Graph message_graph(std::uint32_t ranks, std::span<const Message> messages, std::span<const Release> releases,
                    std::span<const Race> races) {
  const Groups sent = group(ranks, messages, &Message::from);
  const Groups received = group(ranks, messages, &Message::to);
  std::vector<std::uint32_t> tag = tags(ranks, sent);
  // Each race has a tag of its own, that its receives take from anywhere.
  const auto first_race_tag = kAny - static_cast<std::uint32_t>(races.size());
  for (std::uint32_t k = 0; k < races.size(); ++k) {
    std::fill_n(tag.begin() + races[k].begin, races[k].count, first_race_tag + k);
  }
  // The releases of each rank: those of its sends.
  std::vector<std::uint32_t> release_order(releases.size());
  std::iota(release_order.begin(), release_order.end(), 0u);
  std::stable_sort(release_order.begin(), release_order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return messages[releases[a].then].from < messages[releases[b].then].from;
  });
  std::vector<OpIndex> send_op(releases.empty() ? 0 : messages.size());
  std::vector<OpIndex> receive_op(send_op.size());

  GraphBuilder builder;
  // Those that wait for a time have a calc, which the next one and they themselves wait for.
  const bool timed =
      std::any_of(messages.begin(), messages.end(), [](const Message& m) { return m.start_ns > 0; });
  const std::uint64_t ticks = timed ? messages.size() : 0;
  builder.reserve(2 * messages.size() + ticks, releases.size() + 2 * ticks);
  std::vector<std::uint32_t> by_start;
  auto release = release_order.begin();
  for (Rank r = 0; r < ranks; ++r) {
    for (const std::uint32_t i : received.of(r)) {
      const Rank from = tag[i] < first_race_tag ? messages[i].from : kAny;
      const OpIndex op = builder.add_recv(messages[i].bytes, from, tag[i]);
      if (!receive_op.empty()) receive_op[i] = op;
    }
    by_start.assign(sent.of(r).begin(), sent.of(r).end());
    std::stable_sort(by_start.begin(), by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
      return messages[a].start_ns < messages[b].start_ns;
    });
    std::uint64_t clock_ns = 0;
    OpIndex clock = 0;
    for (const std::uint32_t i : by_start) {
      const Message& message = messages[i];
      if (message.start_ns > clock_ns) {
        const OpIndex tick = builder.add_calc(message.start_ns - clock_ns, kClockCpu);
        if (clock_ns > 0) builder.add_edge(clock, tick);
        clock = tick;
        clock_ns = message.start_ns;
      }
      const OpIndex op = builder.add_send(message.bytes, message.to, tag[i]);
      if (clock_ns > 0) builder.add_edge(clock, op);
      if (!send_op.empty()) send_op[i] = op;
    }
    for (; release != release_order.end() && messages[releases[*release].then].from == r; ++release) {
      const auto& [first, then, when_received] = releases[*release];
      builder.add_edge(when_received ? receive_op[first] : send_op[first], send_op[then]);
    }
    builder.end_rank();
  }
  return builder.finish();
}

Graph repeated_messages(const Parameters& parameters, std::uint32_t ranks,
                        std::span<const Message> messages) {
  const Repetition repeat = repetition(parameters);
  const Groups sent = group(ranks, messages, &Message::from);
  const Groups received = group(ranks, messages, &Message::to);
  const std::vector<std::uint32_t> tag = tags(ranks, sent);
  return phased_graph(parameters, ranks, [&](Rank r, Phases& phases) {
    phases.repeat(repeat, [&](std::uint32_t) {
      for (const std::uint32_t i : received.of(r)) phases.recv(messages[i].bytes, messages[i].from, tag[i]);
      for (const std::uint32_t i : sent.of(r)) phases.send(messages[i].bytes, messages[i].to, tag[i]);
    });
  });
}

std::vector<Message> messages_to(std::span<const Rank> to, std::uint64_t bytes) {
  std::vector<Message> messages;
  messages.reserve(to.size());
  for (Rank r = 0; r < to.size(); ++r) {
    if (to[r] != r) messages.push_back({r, to[r], bytes});
  }
  return messages;
}

void require_ranks(const Parameters& parameters, std::uint32_t ranks, std::uint32_t least) {
  if (ranks >= least) return;
  parameters.fail("ranks", fmt::format("this pattern needs {} at least, and gets {}", least, ranks));
}

std::uint32_t integer_in(const Parameters& parameters, std::string_view name, std::uint32_t least,
                         std::uint32_t most) {
  const std::int64_t value = parameters.integer(name);
  if (value < least || value > most)
    parameters.fail(name, fmt::format("it must be from {} to {}", least, most));
  return static_cast<std::uint32_t>(value);
}

}  // namespace weft::goal
