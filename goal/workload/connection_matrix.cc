#include "goal/workload/connection_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
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
        connection.trigger_location = value.location;
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

// Throws unless a dependency on all its activations says what the trigger does.
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
  } else if (active > 1 && trigger.kind == TriggerKind::kOneshot) {
    fail(fmt::format("is a oneshot, but {} connections activate it; a barrier waits for all", active));
  } else if (active > 1 || (trigger.kind == TriggerKind::kMultishot && started > 1)) {
    fail(fmt::format(
        "is a multishot with {} activations for {} connections: which starts first would depend on "
        "the run, and a graph can't say that; give each its own oneshot",
        active, started));
  }
}

// The dependency of connection `then` on an activation, at the end that is at the sender of `then`: where the
// trigger says so if possible, else at the other end.
Release release(const ConnectionMatrix& matrix, const Activation& activation, std::uint32_t then) {
  const Connection& first = matrix.connections[activation.connection];
  const Rank at = matrix.connections[then].from;
  if (at == (activation.received ? first.to : first.from)) {
    return {activation.connection, then, activation.received};
  }
  if (at == (activation.received ? first.from : first.to)) {
    return {activation.connection, then, !activation.received};
  }
  throw InputError(
      matrix.connections[then].trigger_location,
      fmt::format("trigger {} starts {}->{} after {}->{}, but node {} has no part in that: it could "
                  "learn of its end by a message only",
                  activation.trigger, at, matrix.connections[then].to, first.from, first.to, at));
}

}  // namespace

ConnectionMatrix parse_connection_matrix(std::string_view text, const std::string& file_name) {
  return Parser(text, file_name).parse();
}

Graph connection_graph(const ConnectionMatrix& matrix, std::uint32_t ranks) {
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
  std::stable_sort(started.begin(), started.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return trigger_of(a) < trigger_of(b); });

  std::vector<Release> releases;
  auto from = active.begin();
  auto then = started.begin();
  for (const Trigger& trigger : matrix.triggers) {
    const auto from_end =
        std::find_if(from, active.end(), [&](const Activation& a) { return a.trigger != trigger.id; });
    const auto then_end =
        std::find_if(then, started.end(), [&](std::uint32_t i) { return trigger_of(i) != trigger.id; });
    check_fires(trigger, static_cast<std::size_t>(from_end - from),
                static_cast<std::size_t>(then_end - then));
    for (; then != then_end; ++then) {
      for (auto a = from; a != from_end; ++a) releases.push_back(release(matrix, *a, *then));
    }
    from = from_end;
  }
  return message_graph(ranks, messages, releases);
}

}  // namespace weft::goal
