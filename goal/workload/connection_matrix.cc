#include "goal/workload/connection_matrix.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "goal/workload/line_reader.h"
#include "goal/workload/message_graph.h"

namespace weft::goal {
namespace {

constexpr std::uint32_t kMostNodes = 1u << 31;
constexpr double kMostPs = 9e18;

std::uint32_t whole32(const Word& word, const std::string& expected, std::uint64_t least) {
  return static_cast<std::uint32_t>(word.whole(expected, least, kAny - 1));
}

// How many statements of a kind the header announces.
struct Announced {
  std::optional<std::uint32_t> count;
  Word word;

  void read(LineReader& reader, const Word& keyword) {
    if (count) keyword.fail(fmt::format("'{}' is given twice", keyword.text));
    word = keyword;
    count = whole32(reader.next_word(), "a number", 0);
    reader.expect_end_of_line("the number");
  }
  void check(std::size_t found) const {
    if (count && *count != found)
      word.fail(fmt::format("'{} {}', but there are {}", word.text, *count, found));
  }
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& file_name) : reader_(text, file_name) {}

  ConnectionMatrix parse() {
    while (reader_.next_line()) parse_line(reader_.next_word());
    if (!nodes_.count) reader_.end_of_file().fail("the file has no line 'Nodes N'");
    connections_.check(matrix_.connections.size());
    triggers_.check(matrix_.triggers.size());
    std::sort(matrix_.triggers.begin(), matrix_.triggers.end(),
              [](const Trigger& a, const Trigger& b) { return a.id < b.id; });
    return std::move(matrix_);
  }

 private:
  void parse_line(const Word& first) {
    if (first.text == "Nodes") {
      nodes_.read(reader_, first);
      if (*nodes_.count < 1 || *nodes_.count > kMostNodes)
        first.fail("the number of nodes must be 1 to 2^31");
      matrix_.nodes = *nodes_.count;
    } else if (first.text == "Connections") {
      connections_.read(reader_, first);
    } else if (first.text == "Triggers") {
      triggers_.read(reader_, first);
    } else if (first.text == "trigger") {
      parse_trigger(first);
    } else if (first.text.find("->") != std::string_view::npos) {
      parse_connection(first);
    } else {
      first.fail_expected("Nodes, Connections, Triggers, trigger or SOURCE->DESTINATION");
    }
  }

  Rank node(const Word& ends, std::size_t begin, std::size_t end) const {
    Word word{ends.text.substr(begin, end), ends.location};
    word.location.column += static_cast<std::int64_t>(begin);
    return static_cast<Rank>(word.whole("a node", 0, matrix_.nodes - 1));
  }

  void parse_connection(const Word& ends) {
    if (!nodes_.count) ends.fail("a connection before the line 'Nodes N'");
    Connection connection;
    connection.location = ends.location;
    const std::size_t arrow = ends.text.find("->");
    connection.from = node(ends, 0, arrow);
    connection.to = node(ends, arrow + 2, std::string_view::npos);
    if (connection.from == connection.to) ends.fail(fmt::format("node {} sends to itself", connection.from));
    std::set<std::string_view> seen;
    for (Word word = reader_.next_word(); !word.text.empty(); word = reader_.next_word()) {
      if (!seen.insert(word.text).second) word.fail(fmt::format("'{}' is given twice", word.text));
      const Word value = reader_.next_word();
      if (word.text == "id") {
        if (!ids_.insert(whole32(value, "an id", 1)).second) value.fail("this id is another connection's");
      } else if (word.text == "start") {
        connection.start_ps = value.real("a start time in picoseconds", 0, kMostPs);
      } else if (word.text == "size") {
        if (value.text == "0")
          value.fail("size 0 means a transfer without end, which has no finish time; give a size");
        connection.bytes = value.whole("a size in bytes", 1, 1ull << 62);
      } else if (word.text == "trigger") {
        connection.trigger = whole32(value, "a trigger's id", 1);
      } else if (word.text == "send_done_trigger") {
        connection.send_done_trigger = whole32(value, "a trigger's id", 1);
      } else if (word.text == "recv_done_trigger") {
        connection.recv_done_trigger = whole32(value, "a trigger's id", 1);
      } else {
        word.fail_expected("id, start, size, trigger, send_done_trigger or recv_done_trigger");
      }
    }
    if (!seen.contains("size")) ends.fail("the connection has no size");
    if (seen.contains("start") == seen.contains("trigger")) {
      ends.fail("the connection needs a start time or a trigger, and not both");
    }
    matrix_.connections.push_back(std::move(connection));
  }

  void parse_trigger(const Word& keyword) {
    Trigger trigger;
    trigger.location = keyword.location;
    std::optional<TriggerKind> kind;
    for (Word word = reader_.next_word(); !word.text.empty(); word = reader_.next_word()) {
      if (word.text == "id") {
        trigger.id = whole32(reader_.next_word(), "an id", 1);
      } else if (word.text == "count") {
        trigger.count = whole32(reader_.next_word(), "a number of activations", 1);
      } else if (const std::optional<TriggerKind> named = kind_of(word.text)) {
        if (kind) word.fail("the trigger has a kind already");
        kind = named;
      } else {
        word.fail_expected("id, oneshot, multishot, barrier or count");
      }
    }
    if (trigger.id == 0) keyword.fail("the trigger has no id");
    if (!kind) keyword.fail("the trigger has no kind: oneshot, multishot or barrier");
    trigger.kind = *kind;
    if ((trigger.count > 0) != (trigger.kind == TriggerKind::kBarrier)) {
      keyword.fail("a barrier needs 'count N', and other triggers have none");
    }
    if (!trigger_ids_.insert(trigger.id).second) {
      keyword.fail(fmt::format("there is a trigger {} already", trigger.id));
    }
    matrix_.triggers.push_back(trigger);
  }

  static std::optional<TriggerKind> kind_of(std::string_view word) {
    if (word == "oneshot") return TriggerKind::kOneshot;
    if (word == "barrier") return TriggerKind::kBarrier;
    if (word == "multishot") return TriggerKind::kMultishot;
    return std::nullopt;
  }

  LineReader reader_;
  ConnectionMatrix matrix_;
  Announced nodes_, connections_, triggers_;
  std::set<std::uint32_t> ids_, trigger_ids_;
};

// One activation of a trigger: by the end of a connection, at its sender or its receiver.
struct Activation {
  std::uint32_t trigger = 0, connection = 0;
  bool received = false;
};

std::vector<Activation> activations(const ConnectionMatrix& matrix) {
  std::vector<Activation> all;
  for (std::uint32_t i = 0; i < matrix.connections.size(); ++i) {
    const Connection& connection = matrix.connections[i];
    if (connection.send_done_trigger != 0) all.push_back({connection.send_done_trigger, i, false});
    if (connection.recv_done_trigger != 0) all.push_back({connection.recv_done_trigger, i, true});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Activation& a, const Activation& b) { return a.trigger < b.trigger; });
  return all;
}

// The part of a list, sorted by trigger, that is of this one.
template <typename Item, typename TriggerOf>
std::span<const Item> of_trigger(std::span<const Item> list, std::uint32_t id, const TriggerOf& trigger_of) {
  return {std::ranges::lower_bound(list, id, {}, trigger_of),
          std::ranges::upper_bound(list, id, {}, trigger_of)};
}

void check_triggers_exist(const ConnectionMatrix& matrix) {
  for (const Connection& connection : matrix.connections) {
    for (const std::uint32_t id :
         {connection.trigger, connection.send_done_trigger, connection.recv_done_trigger}) {
      if (id != 0 && !std::ranges::binary_search(matrix.triggers, id, {}, &Trigger::id)) {
        throw InputError(connection.location,
                         fmt::format("the connection names trigger {}, which no line describes", id));
      }
    }
  }
}

// Throws unless the trigger does what it must as often as it should.
void check_fires(const Trigger& trigger, std::size_t active, std::size_t started) {
  const auto fail = [&](const std::string& why) {
    throw InputError(trigger.location, fmt::format("trigger {} {}", trigger.id, why));
  };
  if (started == 0) return;
  if (active == 0) fail("is never activated: no connection has it as send_done_trigger or recv_done_trigger");
  if (trigger.kind == TriggerKind::kBarrier) {
    if (active != trigger.count) {
      fail(fmt::format("waits for {} activations, but {} connections activate it", trigger.count, active));
    }
  } else if (trigger.kind == TriggerKind::kOneshot) {
    if (active > 1) {
      fail(fmt::format("is a oneshot, but {} connections activate it; a barrier waits for all", active));
    }
  } else if (active != started) {
    fail(fmt::format("is a multishot with {} activations for {} connections; each activation starts one",
                     active, started));
  }
}

// One trigger, the ends of connections that activate it, and the connections it starts, all in the order of
// the file.
struct Wiring {
  const Trigger* trigger = nullptr;
  std::span<const Activation> active;
  std::span<const std::uint32_t> started;
};

// Plays all triggers without time: whichever of several ends comes first, the same connections start.
// Throws if some never do.
void check_all_start(const ConnectionMatrix& matrix, std::span<const Wiring> wirings) {
  std::vector<std::uint32_t> ended, activated(wirings.size());
  for (std::uint32_t i = 0; i < matrix.connections.size(); ++i) {
    if (matrix.connections[i].trigger == 0) ended.push_back(i);
  }
  std::vector<bool> starts(matrix.connections.size());
  const auto activate = [&](std::uint32_t id) {
    if (id == 0) return;
    const auto position =
        std::ranges::lower_bound(wirings, id, {}, [](const Wiring& w) { return w.trigger->id; });
    const Wiring& wiring = *position;
    const std::uint32_t times = ++activated[static_cast<std::size_t>(position - wirings.begin())];
    std::span<const std::uint32_t> now = wiring.started;
    if (now.empty() || (wiring.trigger->kind == TriggerKind::kBarrier && times < wiring.trigger->count))
      return;
    if (wiring.trigger->kind == TriggerKind::kMultishot) now = now.subspan(times - 1, 1);
    ended.insert(ended.end(), now.begin(), now.end());
  };
  for (std::size_t i = 0; i < ended.size(); ++i) {
    starts[ended[i]] = true;
    activate(matrix.connections[ended[i]].send_done_trigger);
    activate(matrix.connections[ended[i]].recv_done_trigger);
  }
  for (std::uint32_t i = 0; i < starts.size(); ++i) {
    if (starts[i]) continue;
    const Connection& stuck = matrix.connections[i];
    throw InputError(
        stuck.location,
        fmt::format("the connection never starts: what activates trigger {} waits for it", stuck.trigger));
  }
}

// Adds to the connections' messages what makes triggers act.
class TriggerWriter {
 public:
  TriggerWriter(const ConnectionMatrix& matrix, std::vector<Message>& messages)
      : matrix_(matrix), messages_(messages) {}

  void write(const Wiring& wiring) {
    told_.clear();
    written_.clear();
    const std::size_t before = messages_.size();
    if (wiring.active.size() > 1 && wiring.trigger->kind == TriggerKind::kMultishot) {
      start_one_by_one(wiring);
    } else if (saves_messages(wiring)) {
      gather_and_tell(wiring);
    } else {
      for (const std::uint32_t then : wiring.started) {
        for (const Activation& activation : wiring.active) wait(activation, then, sender(then));
      }
    }
    travelling_ += messages_.size() > before;
  }

  std::span<const Release> releases() const { return releases_; }
  std::span<const Race> races() const { return races_; }
  std::uint32_t travelling() const { return travelling_; }

 private:
  Rank sender(std::uint32_t message) const { return messages_[message].from; }

  std::uint32_t add_message(Rank from, Rank to) {
    messages_.push_back({from, to, 0});
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }
  void add(const Release& release) {
    if (written_.emplace(release.first, release.then).second) releases_.push_back(release);
  }

  // Message `then`, from rank `at`, waits for the end of a connection: the end that the trigger says if that
  // is there, or the other one if that is; else for a message from the receiver.
  void wait(const Activation& activation, std::uint32_t then, Rank at) {
    const Connection& first = matrix_.connections[activation.connection];
    if (at == first.from || at == first.to) {
      const bool as_said = at == (activation.received ? first.to : first.from);
      add({activation.connection, then, as_said == activation.received});
      return;
    }
    const auto [told, is_new] =
        told_.try_emplace({first.to, at}, static_cast<std::uint32_t>(messages_.size()));
    if (is_new) add_message(first.to, at);
    add({activation.connection, told->second, true});
    add({told->second, then, true});
  }

  // Is it fewer messages if all who receive tell one, who tells all who send?
  bool saves_messages(const Wiring& wiring) const {
    std::set<Rank> from, to;
    for (const Activation& activation : wiring.active)
      from.insert(matrix_.connections[activation.connection].to);
    for (const std::uint32_t then : wiring.started) to.insert(sender(then));
    return from.size() * to.size() > from.size() + to.size();
  }

  // The sender of the first connection is told of every activation, and then tells the others.
  void gather_and_tell(const Wiring& wiring) {
    const Rank hub = sender(wiring.started.front());
    std::map<Rank, std::uint32_t> teller;  // the message that a sender waits for
    for (const std::uint32_t then : wiring.started) {
      if (sender(then) != hub) teller.try_emplace(sender(then), 0);
    }
    // The first message waits for all; what else the hub sends waits for that one.
    const std::uint32_t first = add_message(hub, teller.begin()->first);
    for (auto& [rank, message] : teller) {
      message = rank == teller.begin()->first ? first : add_message(hub, rank);
      if (message != first) add({first, message, false});
    }
    for (const Activation& activation : wiring.active) wait(activation, first, hub);
    for (const std::uint32_t then : wiring.started) {
      const bool told = sender(then) != hub;
      add({told ? teller.at(sender(then)) : first, then, told});
    }
  }

  // The sender of the first connection is told of every activation, and starts one connection for each, in
  // the order they come.
  void start_one_by_one(const Wiring& wiring) {
    const Rank hub = sender(wiring.started.front());
    const auto begin = static_cast<std::uint32_t>(messages_.size());
    for (const Activation& activation : wiring.active) {
      const std::uint32_t told = add_message(matrix_.connections[activation.connection].to, hub);
      add({activation.connection, told, true});
    }
    races_.push_back({begin, static_cast<std::uint32_t>(wiring.active.size())});
    for (std::uint32_t k = 0; k < wiring.started.size(); ++k) {
      const std::uint32_t then = wiring.started[k];
      if (sender(then) == hub) {
        add({begin + k, then, true});
      } else {
        const std::uint32_t on = add_message(hub, sender(then));
        add({begin + k, on, true});
        add({on, then, true});
      }
    }
  }

  const ConnectionMatrix& matrix_;
  std::vector<Message>& messages_;
  std::vector<Release> releases_;
  std::vector<Race> races_;
  std::uint32_t travelling_ = 0;
  // These are of the trigger being written: messages by their two ends, and the releases there are.
  std::map<std::pair<Rank, Rank>, std::uint32_t> told_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> written_;
};

}  // namespace

ConnectionMatrix parse_connection_matrix(std::string_view text, const std::string& file_name) {
  return Parser(text, file_name).parse();
}

ConnectionGraph connection_graph(const ConnectionMatrix& matrix, std::uint32_t ranks) {
  if (ranks < matrix.nodes) {
    throw InputError(
        fmt::format("the connections are between {} nodes, but there are {} ranks", matrix.nodes, ranks));
  }
  std::vector<Message> messages;
  messages.reserve(matrix.connections.size());
  for (const Connection& c : matrix.connections) {
    messages.push_back({c.from, c.to, c.bytes, static_cast<std::uint64_t>(c.start_ps / 1000 + 0.5)});
  }

  check_triggers_exist(matrix);
  const std::vector<Activation> active = activations(matrix);
  // The connections that triggers start, by trigger.
  std::vector<std::uint32_t> started;
  for (std::uint32_t i = 0; i < matrix.connections.size(); ++i) {
    if (matrix.connections[i].trigger != 0) started.push_back(i);
  }
  const auto trigger_of = [&](std::uint32_t i) { return matrix.connections[i].trigger; };
  std::ranges::stable_sort(started, {}, trigger_of);

  std::vector<Wiring> wirings;
  std::uint32_t idle = 0;
  for (const Trigger& trigger : matrix.triggers) {
    const auto those = of_trigger<Activation>(active, trigger.id, &Activation::trigger);
    const auto these = of_trigger<std::uint32_t>(started, trigger.id, trigger_of);
    check_fires(trigger, those.size(), these.size());
    wirings.push_back({&trigger, those, these});
    idle += these.empty();
  }
  check_all_start(matrix, wirings);
  TriggerWriter writer(matrix, messages);
  for (const Wiring& wiring : wirings) writer.write(wiring);
  return {message_graph(ranks, messages, writer.releases(), writer.races()),
          messages.size() - matrix.connections.size(), writer.travelling(), idle};
}

}  // namespace weft::goal
