#include "goal/import/flight_recorder/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "goal/import/flight_recorder/pickle.h"
#include "goal/import/json/json_reader.h"
#include "goal/import/sniff.h"
#include "sim/units/input_error.h"
#include "sim/units/input_file.h"

namespace weft::goal {
namespace {

bool is_json(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != head.npos && head[first] == '{';
}

// "nccl_trace_rank_12", "12.json", "rank_12.pickle": the last number before the ending.
std::int64_t rank_of_name(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  if (const std::size_t dot = name.find('.'); dot != name.npos && dot > 0) name.resize(dot);
  const std::size_t end = name.find_last_of("0123456789");
  if (end == name.npos) return -1;
  const std::size_t begin = name.find_last_not_of("0123456789", end) + 1;
  std::int64_t rank = -1;
  const auto [behind, error] = std::from_chars(name.data() + begin, name.data() + end + 1, rank);
  return error == std::errc() && behind == name.data() + end + 1 ? rank : -1;
}

// A shape is a list of numbers; that of a scalar has none.
bool is_shape(JsonValue shape) {
  if (!shape.is_array()) return false;
  for (const JsonValue size : shape.items()) {
    if (size.kind() == JsonKind::kNull) return false;
  }
  return true;
}

// Members of an entry that have a part in the graph, and stacks, which pickles are read without.
bool is_read(std::string_view member) {
  static constexpr std::string_view kRead[] = {
      "record_id",    "op_id",         "is_p2p",          "seq_id",         "collective_seq_id",
      "p2p_seq_id",   "state",         "time_created_ns", "profiling_name", "time_discovered_completed_ns",
      "duration_ms",  "pg_id",         "process_group",   "input_sizes",    "input_dtypes",
      "output_sizes", "output_dtypes", "frames"};
  return std::find(std::begin(kRead), std::end(kRead), member) != std::end(kRead);
}

// The bytes of all tensors in a list of shapes with a list of types, and of each one; no tensor's where one's
// aren't told.
std::uint64_t bytes_of(JsonValue sizes, JsonValue types, CommCall& call, std::vector<std::uint64_t>& each) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  std::uint64_t bytes = 0;
  bool all = true;
  auto type = types.items().begin();
  const auto no_more = types.items().end();
  for (const JsonValue shape : sizes.items()) {
    const std::string_view name = type != no_more ? (*type).text() : std::string_view();
    if (type != no_more) ++type;
    const auto element = bytes_of_type(name);
    call.known_type = call.known_type && element.has_value();
    if (!element) call.type = name.substr(0, 40);
    call.element_bytes = element ? *element : 4;
    std::uint64_t product = call.element_bytes;
    all = all && is_shape(shape);
    if (!is_shape(shape)) continue;  // its bytes aren't told
    for (const JsonValue size : shape.items()) {
      const auto extent = size.unsigned_integer();
      if (!extent) {
        throw InputError(fmt::format("'{}' has a size '{}', where a whole number from 0 is expected",
                                     sizes.key(), size.text()));
      }
      if (__builtin_mul_overflow(product, *extent, &product)) product = kMost;
    }
    each.push_back(std::min(product, kMost));
    bytes = std::min(bytes + each.back(), kMost);
    call.sized = true;
  }
  if (!all) each.clear();
  return bytes;
}

// "nccl:send 0->1" and "nccl:recv 1<-0": ranks in the group.
std::int64_t peer_of(std::string_view name) {
  for (const std::string_view arrow : {"->", "<-"}) {
    const std::size_t at = name.find(arrow);
    if (at == name.npos) continue;
    std::int64_t peer = -1;
    std::from_chars(name.data() + at + 2, name.data() + name.size(), peer);
    return peer;
  }
  return -1;
}

std::vector<Rank> ranks_of(JsonValue value, std::string_view group) {
  std::vector<Rank> ranks;
  const auto add = [&](std::uint64_t rank) {
    if (rank >= kAny) throw InputError(fmt::format("process group '{}' has a rank {}", group, rank));
    ranks.push_back(static_cast<Rank>(rank));
  };
  if (value.is_array()) {
    for (const JsonValue rank : value.items()) add(rank.unsigned_or(kAny));
    return ranks;
  }
  bool cut = false;
  const auto list = read_list(value.text(), cut);
  if (!list || cut) {
    throw InputError(fmt::format(
        "process group '{}' has the ranks '{}', where a list like [0, 1] is expected", group, value.text()));
  }
  for (const std::uint64_t rank : *list) add(rank);
  return ranks;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : row_(dump_.unread) {
    dump_.path = path;
    JsonHandlers handlers;
    handlers.member = [&](JsonValue member, const SourceLocation&) {
      take_member(member);
      return true;
    };
    handlers.element = [&](std::string_view, JsonValue call, const SourceLocation&) {
      take_call(call);
      return true;
    };
    const std::string text = read_input(path);
    const std::string json = is_json(text) ? text : pickle_to_json(text, path);
    read_json_text(json, path, {"entries"}, handlers);
  }

  RankDump finish() {
    if (dump_.version.empty()) {
      throw InputError({dump_.path}, "no 'version' here; expected a dump of PyTorch's flight recorder");
    }
    if (dump_.rank < 0) dump_.rank = rank_of_name(dump_.path);
    std::stable_sort(dump_.calls.begin(), dump_.calls.end(),
                     [](const RecordedCall& a, const RecordedCall& b) { return a.record < b.record; });
    close_brackets();
    return std::move(dump_);
  }

 private:
  // The recorder keeps state and times of a bracket only, and leaves the calls within it 'scheduled' for
  // ever. They are those of its group right before it for which the group's counters said the same.
  void close_brackets() {
    std::map<std::string, std::vector<RecordedCall*>> open;  // by group, since its counters changed
    for (RecordedCall& call : dump_.calls) {
      std::vector<RecordedCall*>& before = open[call.call.group.name];
      if (!before.empty() && before.back()->counters != call.counters) before.clear();
      const bool ends =
          call.call.kind == CommKind::kNone && call.call.name.find("coalesced") != call.call.name.npos;
      if (!ends) {
        if (call.duration < 0) before.push_back(&call);
        continue;
      }
      for (RecordedCall* within : before) {
        within->bracket = call.record + 1;
        within->state = call.state;
        within->completed = call.completed;
        within->duration = call.duration;
      }
      before.clear();
    }
  }

  void take_member(JsonValue member) {
    if (member.key() == "version") dump_.version = member.text();
    if (member.key() == "rank") dump_.rank = static_cast<std::int64_t>(member.unsigned_or(kNoRank));
    const std::string_view key = member.key();
    if (key != "version" && key != "rank" && key != "pg_config") count_unread(dump_.unread, key);
    if (key != "pg_config") return;
    for (const JsonValue group : member.items()) {
      for (const JsonValue each : group.items()) {
        if (group.is_object() && each.key() != "ranks") {
          count_unread(dump_.unread, fmt::format("pg_config {}", each.key()));
        }
      }
      GroupName made{.name = std::string(group.key())};
      made.ranks = ranks_of(group.is_object() ? group["ranks"] : group, group.key());
      made.size = static_cast<std::int64_t>(made.ranks.size());
      dump_.groups.push_back(std::move(made));
    }
  }

  void take_call(JsonValue entry) {
    row_.begin();
    for (const JsonValue member : entry.items()) row_.add(member.key(), is_read);
    RecordedCall made;
    made.record = entry["record_id"].unsigned_or(0);
    made.operation = entry["op_id"].unsigned_or(0);
    made.message = entry["is_p2p"].boolean_or(false);
    // Before version 2.2 one number counted both.
    const JsonValue both = entry["seq_id"];
    made.counters = {(both ? both : entry["collective_seq_id"]).unsigned_or(0),
                     (both ? both : entry["p2p_seq_id"]).unsigned_or(0)};
    made.sequence = made.message ? made.counters.second : made.counters.first;
    made.created = entry["time_created_ns"].unsigned_or(0);
    made.completed = entry["time_discovered_completed_ns"].unsigned_or(0);
    if (const JsonValue duration = entry["duration_ms"]; duration && duration.kind() != JsonKind::kNull) {
      const auto us = duration.thousandths();
      if (!us || *us < 0) {
        throw InputError(fmt::format(
            "'duration_ms' is '{}', where a number of milliseconds from 0 is expected", duration.text()));
      }
      made.duration = *us * 1000;
    }
    made.state = state_of(entry["state"].text());
    read_call(entry, made);
    dump_.calls.push_back(std::move(made));
  }

  static RecordState state_of(std::string_view text) {
    if (text == "completed") return RecordState::kCompleted;
    if (text == "started") return RecordState::kStarted;
    if (text == "scheduled") return RecordState::kScheduled;
    throw InputError(fmt::format("'state' is '{}', where scheduled, started or completed is expected", text));
  }

  void read_call(JsonValue entry, RecordedCall& made) {
    CommCall& call = made.call;
    const std::string_view name = entry["profiling_name"].text();
    read_comm_name(name, call);
    const JsonValue group = entry["process_group"];
    for (const JsonValue first : group.items()) {
      if (call.group.name.empty()) call.group.name = first.text();
    }
    if (call.group.name.empty()) call.group.name = group.is_string() ? group.text() : entry["pg_id"].text();
    std::vector<std::uint64_t> in, out;
    call.in_bytes = bytes_of(entry["input_sizes"], entry["input_dtypes"], call, in);
    call.out_bytes = bytes_of(entry["output_sizes"], entry["output_dtypes"], call, out);
    if (call.kind == CommKind::kCollective && call.collective == CollectiveKind::kAlltoall) {
      // A tensor for each rank is what it gets. Of a single one the record has no splits.
      if (in.size() > 1) call.in_split = std::move(in);
      if (out.size() > 1) call.out_split = std::move(out);
      call.tells_splits = false;
    }
    if (call.kind == CommKind::kSend || call.kind == CommKind::kRecv) {
      made.message = true;
      call.peer = peer_of(name);
    }
  }

  static constexpr std::uint64_t kNoRank = UINT64_MAX;  // -1
  RankDump dump_;
  UnreadRow row_;
};

}  // namespace

RankDump read_dump(const std::string& path) { return Reader(path).finish(); }

bool looks_like_dump(const std::string& path) {
  const std::string head = first_bytes(path);
  const auto has = [&](std::string_view word) { return head.find(word) != head.npos; };
  const unsigned char first = head.empty() ? 0 : static_cast<unsigned char>(head[0]);
  const bool begins =
      is_json(head) || first == 0x80 || first == '(';  // '(': protocol 0 has no mark of its own
  return begins &&
         (has("pg_config") || has("collective_seq_id") || (has("profiling_name") && has("record_id")));
}

}  // namespace weft::goal
