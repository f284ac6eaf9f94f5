#include "goal/import/aicb/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr double kMostBytes = 1e18;
constexpr double kMostRanks = 1 << 24;
constexpr double kMostTime = 1e18;

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 9> kCollectives = {{
    {"all_reduce", CollectiveKind::kAllreduce},
    {"all_gather", CollectiveKind::kAllgather},
    {"all_gather_into_tensor", CollectiveKind::kAllgather},
    {"reduce_scatter", CollectiveKind::kReduceScatter},
    {"reduce_scatter_tensor", CollectiveKind::kReduceScatter},
    {"all_to_all", CollectiveKind::kAlltoall},
    {"broadcast", CollectiveKind::kBcast},
    {"reduce", CollectiveKind::kReduce},
    {"barrier", CollectiveKind::kBarrier},
}};

constexpr std::array<std::pair<std::string_view, TrainingAxis>, 9> kGroups = {{
    {"tp_group", TrainingAxis::kTensor},
    {"dp_group", TrainingAxis::kData},
    {"pp_group", TrainingAxis::kPipeline},
    {"ep_group", TrainingAxis::kExpert},
    {"ep_dp_group", TrainingAxis::kExpertData},
    {"ep_tp_group", TrainingAxis::kExpertTensor},
    {"embedding_group", TrainingAxis::kEmbedding},
    {"all", TrainingAxis::kWorld},
    {"all_nodes", TrainingAxis::kWorld},
}};

struct Field {
  std::string_view text;
  std::int64_t column = 0;
};

bool is_none(std::string_view text) {
  return text.empty() || text == "None" || text == "nan" || text == "-1";
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\"";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// Commas within quotes or brackets are part of a field.
std::vector<Field> split(std::string_view line) {
  std::vector<Field> fields;
  int depth = 0;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= line.size(); ++at) {
    const char c = at < line.size() ? line[at] : ',';
    if (c == '"') quoted = !quoted;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (at < line.size() && (c != ',' || quoted || depth > 0)) continue;
    fields.push_back({trimmed(line.substr(begin, at - begin)), static_cast<std::int64_t>(begin) + 1});
    begin = at + 1;
  }
  return fields;
}

// "CommType.all_reduce" and "all_reduce" are the same.
std::string_view without_class(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  return dot == std::string_view::npos ? text : text.substr(dot + 1);
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The whole numbers in a text, in the lists that brackets make: "((4096 1 5120) (5120 1920))" are two.
std::vector<std::vector<std::uint64_t>> lists_of(std::string_view text) {
  std::vector<std::vector<std::uint64_t>> lists(1);
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c >= '0' && c <= '9') {
      std::uint64_t value = 0;
      const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
      lists.back().push_back(error == std::errc() ? value : 0);
      at = static_cast<std::size_t>(end - text.data());
      continue;
    }
    if ((c == '(' || c == ')' || c == '[' || c == ']') && !lists.back().empty()) lists.emplace_back();
    ++at;
  }
  if (lists.back().empty()) lists.pop_back();
  return lists;
}

class Reader {
 public:
  explicit Reader(const std::string& file_name) : file_name_(file_name) {}

  void line(std::string_view text) {
    ++line_;
    if (trimmed(text).empty()) return;
    if (text.front() == '[') return section(text);
    if (is_aicb_header(text)) return header(text);
    row(text);
  }

  AicbTrace finish() {
    const bool empty =
        std::ranges::all_of(trace_.sections, [](const AicbSection& s) { return s.rows.empty(); });
    if (empty) fail(0, "the file has no rows");
    return std::move(trace_);
  }

 private:
  [[noreturn]] void fail(std::int64_t column, const std::string& message) const {
    throw InputError({file_name_, line_, column}, message);
  }
  [[noreturn]] void fail_expected(const Field& field, const std::string& expected) const {
    const std::string found = field.text.empty() ? "nothing" : fmt::format("'{}'", field.text.substr(0, 40));
    fail(field.column, fmt::format("found {}; expected {}", found, expected));
  }

  // "[rank0 ~ rank127]", "[ pp_stage0: [rank0, rank1, …] ]".
  void section(std::string_view text) {
    AicbSection made{.ranks = {}, .line = line_, .rows = {}};
    for (std::size_t at = text.find("rank"); at != std::string_view::npos; at = text.find("rank", at)) {
      at += 4;
      std::uint32_t rank = 0;
      const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), rank);
      if (error != std::errc() || rank >= kMostRanks) {
        fail(static_cast<std::int64_t>(at) + 1, "expected the number of a rank, below 16777216");
      }
      made.ranks.push_back(rank);
    }
    if (made.ranks.empty()) fail(1, "expected ranks, like [rank0 ~ rank127]");
    if (text.find('~') != std::string_view::npos) {
      if (made.ranks.size() != 2 || made.ranks[1] < made.ranks[0])
        fail(1, "expected two ranks, like [rank0 ~ rank127]");
      const Rank first = made.ranks[0], last = made.ranks[1];
      made.ranks.clear();
      for (Rank rank = first; rank <= last; ++rank) made.ranks.push_back(rank);
    }
    ranks_named_ += made.ranks.size();
    if (ranks_named_ > kMostRanks) fail(1, "more than 16777216 ranks are named");
    trace_.sections.push_back(std::move(made));
  }

  void header(std::string_view text) {
    columns_.clear();
    static constexpr std::array<std::string_view, 12> kKnown = {
        "comm_type", "comm_group", "comm_group_size", "msg_size", "stage", "dst",
        "src",       "additional", "_elapsed_time",   "algbw",    "busbw", "count"};
    for (const Field& field : split(text)) {
      if (std::find(columns_.begin(), columns_.end(), field.text) != columns_.end() && !field.text.empty()) {
        fail_expected(field, "each column once: this one stands before too");
      }
      columns_.emplace_back(field.text);
      if (std::find(kKnown.begin(), kKnown.end(), field.text) == kKnown.end())
        count_unread(trace_.unread, field.text);
    }
    for (const char* needed : {"comm_type", "comm_group", "msg_size"}) {
      if (std::find(columns_.begin(), columns_.end(), needed) == columns_.end()) {
        fail(1, fmt::format("there is no column {}", needed));
      }
    }
  }

  // The field of that column; without text where there is none.
  Field field(std::string_view column) const {
    const auto at =
        static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), column) - columns_.begin());
    return at < fields_.size() ? fields_[at] : Field{};
  }
  double number_in(const Field& field, const char* what, double least, double most, bool whole) const {
    const auto value = number(field.text);
    if (value && *value >= least && *value <= most && (!whole || *value == std::floor(*value))) return *value;
    fail_expected(field,
                  fmt::format("{}, a{} number from {} to {}", what, whole ? " whole" : "", least, most));
  }

  void row(std::string_view text) {
    if (columns_.empty())
      fail(1, "expected the names of columns, like comm_type,comm_group,comm_group_size,msg_size,…");
    fields_ = split(text);
    if (fields_.size() != columns_.size()) {
      fail(1, fmt::format("{} fields, where there are {} columns", fields_.size(), columns_.size()));
    }
    if (trace_.sections.empty()) trace_.sections.push_back({.ranks = {}, .line = 0, .rows = {}});
    AicbRow made;
    const std::string_view type = without_class(field("comm_type").text);
    if (type == "computation") {
      computation(made);
    } else if (type != "epoch_end") {
      communication(type, made);
    }
    trace_.sections.back().rows.push_back(made);
  }

  void computation(AicbRow& row) {
    row.kind = AicbKind::kComputation;
    const Field elapsed = field("_elapsed_time");
    if (!is_none(elapsed.text))
      row.elapsed = number_in(elapsed, "the time of the computation", 0, kMostTime, false);
    const auto lists = lists_of(field("msg_size").text);
    if (lists.size() != 2 || lists[0].size() < 2 || lists[1].size() < 2) return;
    double m = 1;
    for (std::size_t i = 0; i + 1 < lists[0].size(); ++i) m *= static_cast<double>(lists[0][i]);
    if (m > 1e15 || lists[1].back() > 1'000'000'000 || lists[0].back() > 1'000'000'000) return;
    row.shape = AicbShape{static_cast<std::uint64_t>(m), lists[1].back(), lists[0].back()};
  }

  void communication(std::string_view type, AicbRow& row) {
    const Field size = field("msg_size");
    if (type == "isend" || type == "irecv") {
      message(type == "isend", row);
    } else {
      collective(type, row);
    }
    row.bytes = row.collective == CollectiveKind::kBarrier && row.kind == AicbKind::kCollective
                    ? 0
                    : static_cast<std::uint64_t>(number_in(size, "bytes (msg_size)", 0, kMostBytes, true));
    for (const char* column : {"_elapsed_time", "algbw", "busbw"}) {
      if (is_none(field(column).text)) continue;
      count_unread(trace_.unread, column);
      trace_.measured = true;
    }
    const std::string_view count = field("count").text;
    if (!is_none(count) && number(count) != 1.0) count_unread(trace_.unread, "count");
  }

  void message(bool send, AicbRow& row) {
    row.kind = AicbKind::kMessage;
    row.axis = TrainingAxis::kPipeline;
    row.send = send;
    if (trace_.first_message == 0) trace_.first_message = line_;
    // AICB writes 1 for messages, however many stages there are.
    if (number(field("comm_group_size").text).value_or(0) != 1) learn_size(row.axis);
    const Field way = field("additional");
    row.to_next = way.text == (send ? "send_next" : "recv_next");
    if (!row.to_next && way.text != (send ? "send_prev" : "recv_prev")) {
      fail_expected(way,
                    send ? "send_next or send_prev (additional)" : "recv_next or recv_prev (additional)");
    }
  }

  void collective(std::string_view type, AicbRow& row) {
    row.kind = AicbKind::kCollective;
    const auto kind = std::find_if(kCollectives.begin(), kCollectives.end(),
                                   [&](const auto& known) { return known.first == type; });
    if (kind == kCollectives.end()) {
      fail_expected(
          field("comm_type"),
          "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, barrier, isend, irecv, "
          "computation or epoch_end");
    }
    row.collective = kind->second;
    const Field group = field("comm_group");
    const auto axis = std::find_if(kGroups.begin(), kGroups.end(), [&](const auto& known) {
      return known.first == without_class(group.text);
    });
    if (axis == kGroups.end()) {
      fail_expected(
          group, "tp_group, dp_group, pp_group, ep_group, ep_dp_group, ep_tp_group, embedding_group or all");
    }
    row.axis = axis->second;
    trace_.used[static_cast<std::size_t>(row.axis)] = true;
    learn_size(row.axis);
    if (has_root(row.collective)) {
      const Field root = field(row.collective == CollectiveKind::kBcast ? "src" : "dst");
      trace_.assumed_roots += root.text != "0";
    }
    if (!is_none(field("additional").text)) count_unread(trace_.unread, "additional");
  }

  void learn_size(TrainingAxis axis) {
    const Field field = this->field("comm_group_size");
    if (is_none(field.text)) return;
    const auto size =
        static_cast<std::uint32_t>(number_in(field, "how many ranks the group has", 1, kMostRanks, true));
    std::uint32_t& known = trace_.sizes[static_cast<std::size_t>(axis)];
    if (known != 0 && known != size) {
      fail(field.column, fmt::format("group {} has {} ranks, and had {} before", name(axis), size, known));
    }
    known = size;
  }

  const std::string& file_name_;
  std::int64_t line_ = 0;
  std::vector<std::string> columns_;
  std::vector<Field> fields_;  // of the line
  std::size_t ranks_named_ = 0;
  AicbTrace trace_;
};

}  // namespace

bool is_aicb_header(std::string_view line) { return trimmed(line).starts_with("comm_type,comm_group,"); }

AicbTrace parse_aicb(std::string_view text, const std::string& file_name) {
  Reader reader(file_name);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

}  // namespace weft::goal
