#include "goal/import/nsys/profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "sim/units/foreign_database.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;

struct KindName {
  std::string_view name;
  NcclKind kind;
};

constexpr KindName kCalls[] = {
    {"ncclAllReduce()", NcclKind::kAllReduce}, {"ncclBroadcast()", NcclKind::kBroadcast},
    {"ncclBcast()", NcclKind::kBroadcast},     {"ncclReduce()", NcclKind::kReduce},
    {"ncclAllGather()", NcclKind::kAllGather}, {"ncclReduceScatter()", NcclKind::kReduceScatter},
    {"ncclAlltoAll()", NcclKind::kAllToAll},   {"ncclSend()", NcclKind::kSend},
    {"ncclRecv()", NcclKind::kRecv},           {"ncclGroupStart()", NcclKind::kGroupStart},
    {"ncclGroupEnd()", NcclKind::kGroupEnd},
};

constexpr KindName kKernels[] = {
    {"AllReduce", NcclKind::kAllReduce}, {"Broadcast", NcclKind::kBroadcast},
    {"AllGather", NcclKind::kAllGather}, {"ReduceScatter", NcclKind::kReduceScatter},
    {"Reduce", NcclKind::kReduce},       {"SendRecv", NcclKind::kSendRecv},
};

// What stands behind a word: "1024" of "data_size 1024", "pid: 1024"; empty where the word doesn't stand
// there.
std::string_view value_after(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == ',';
    const std::size_t begin = text.find_first_not_of(" :", at + word.size());
    if (!begins || begin == text.npos || begin == at + word.size()) continue;
    return text.substr(begin, text.find_first_of(" ,", begin) - begin);
  }
  return {};
}

// "7" or "0x1f", and nothing else.
std::optional<std::uint64_t> whole(std::string_view value) {
  const bool hexadecimal = value.starts_with("0x");
  if (hexadecimal) value.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), number, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return number;
}

// Reads the ranges of one report.
class RangeReader {
 public:
  RangeReader(std::map<std::uint64_t, NsysProcess>& processes, NsysNotes& notes, const std::string& path)
      : processes_(processes), notes_(notes), path_(path) {}

  void add(std::string_view text, std::int64_t start, std::int64_t end) {
    const auto start_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(start, 0));
    const auto known = std::find_if(std::begin(kCalls), std::end(kCalls),
                                    [&](const KindName& call) { return text.starts_with(call.name); });
    if (value_after(text, "pid").empty()) {
      notes_.other_ranges += 1;
    } else if (known != std::end(kCalls)) {
      notes_.broken_times += start < 0 || end < start;
      add_call(process_of(text), *known, text, start_ns,
               static_cast<std::uint64_t>(std::max<std::int64_t>(end, 0)));
    } else if (text.starts_with("commHash") && !value_after(text, "nranks").empty()) {
      const std::uint64_t hash = need(text, "commHash");
      NsysProcess& process = process_of(text);
      process.rank_in[hash] = static_cast<std::uint32_t>(need(text, "rank", UINT32_MAX));
      process.size_of[hash] = static_cast<std::uint32_t>(need(text, "nranks", UINT32_MAX));
    } else if (text.starts_with("nsys profiling start")) {
      process_of(text).marked_begin_ns = start_ns;
    } else if (text.starts_with("nsys profiling stop")) {
      process_of(text).marked_end_ns = start_ns;
    } else {
      notes_.other_ranges += 1;
    }
  }

 private:
  NsysProcess& process_of(std::string_view text) {
    const std::uint64_t pid = need(text, "pid");
    NsysProcess& made = processes_[pid];
    made.pid = pid;
    made.file = path_;
    return made;
  }

  std::uint64_t need(std::string_view text, std::string_view word, std::uint64_t most = UINT64_MAX) {
    const auto value = whole(value_after(text, word));
    if (value && *value <= most) return *value;
    throw InputError({path_}, fmt::format("the NVTX range '{}' has no {} of at most {}", text, word, most));
  }

  std::uint32_t type_size(std::string_view text) {
    const std::uint64_t size = need(text, "type_size", 1024);
    if (size > 0) return static_cast<std::uint32_t>(size);
    throw InputError({path_}, fmt::format("the NVTX range '{}' has a type_size of 0", text));
  }

  // Names what the text says of a call beside what is read.
  void note_unread(const KindName& call, std::string_view text) {
    static constexpr std::string_view kRead[] = {"commHash", "stream",        "data_size",   "type_size",
                                                 "root",     "receiver_rank", "sender_rank", "pid"};
    for (std::size_t at = std::min(text.find(':'), text.size() - 1) + 1; at < text.size();) {
      const std::size_t begin = std::min(text.find_first_not_of(" ,", at), text.size());
      const std::string_view word = text.substr(begin, text.find_first_of(" :,", begin) - begin);
      if (!word.empty() && std::find(std::begin(kRead), std::end(kRead), word) == std::end(kRead)) {
        count_unread(notes_.unread, fmt::format("{} {}", call.name, word));
      }
      at = std::min(text.find(',', begin), text.size());
    }
  }

  void add_call(NsysProcess& of, const KindName& named, std::string_view text, std::uint64_t start_ns,
                std::uint64_t end_ns) {
    const NcclKind kind = named.kind;
    note_unread(named, text);
    NcclCall call{.kind = kind, .start_ns = start_ns, .end_ns = std::max(start_ns, end_ns)};
    if (kind != NcclKind::kGroupStart && kind != NcclKind::kGroupEnd) {
      call.communicator = need(text, "commHash");
      const std::string_view stream = value_after(text, "stream");
      call.stream = stream.empty() || stream == "(nil)" ? 0 : need(text, "stream");  // the default one
      call.bytes = need(text, "data_size", kMostBytes);
      // Where the size of a type isn't told, a reduction may be split anywhere.
      if (!value_after(text, "type_size").empty()) call.element_bytes = type_size(text);
      const bool rooted = kind == NcclKind::kBroadcast || kind == NcclKind::kReduce;
      const char* const peer = kind == NcclKind::kSend   ? "receiver_rank"
                               : kind == NcclKind::kRecv ? "sender_rank"
                                                         : "root";
      if (rooted || kind == NcclKind::kSend || kind == NcclKind::kRecv) {
        call.peer = static_cast<std::uint32_t>(need(text, peer, UINT32_MAX));
      }
    }
    of.calls.push_back(call);
  }

  std::map<std::uint64_t, NsysProcess>& processes_;
  NsysNotes& notes_;
  const std::string& path_;
};

// Such a report holds whatever its version puts there; what we ask for must be tables.
ForeignDatabase report_at(const std::string& path) {
  return {path, "a report of Nsight Systems", ForeignDatabase::Schema::kAny};
}

// Texts stand in the row, or in StringIds.
void read_ranges(const ForeignDatabase& database, RangeReader& reader) {
  const std::set<std::string> has = database.columns("NVTX_EVENTS");
  if (has.empty()) return;
  if (!has.contains("start") || !has.contains("end") || !has.contains("text")) {
    throw InputError({database.path()}, "table NVTX_EVENTS lacks a column start, end or text");
  }
  const bool by_id = has.contains("textId") && !database.columns("StringIds").empty();
  ForeignDatabase::Query rows(
      database,
      by_id ? "SELECT e.start, e.end, COALESCE(e.text, s.value) FROM NVTX_EVENTS e LEFT JOIN StringIds s "
              "ON e.textId = s.id ORDER BY e.start"
            : "SELECT start, end, text FROM NVTX_EVENTS ORDER BY start");
  while (rows.next()) {
    if (rows.is_null(0) || rows.is_null(2)) continue;
    const std::int64_t start = rows.integer(0);
    reader.add(rows.text(2), start, rows.is_null(1) ? start : rows.integer(1));
  }
}

void read_kernels(const ForeignDatabase& database, std::map<std::uint64_t, NsysProcess>& processes,
                  NsysNotes& notes) {
  const std::set<std::string> has = database.columns("CUPTI_ACTIVITY_KIND_KERNEL");
  if (has.empty()) return;
  for (const char* column : {"start", "end", "streamId", "globalPid", "demangledName"}) {
    if (has.contains(column)) continue;
    throw InputError({database.path()},
                     fmt::format("table CUPTI_ACTIVITY_KIND_KERNEL lacks column {}", column));
  }
  const bool by_id = !database.columns("StringIds").empty();
  ForeignDatabase::Query rows(
      database,
      by_id ? "SELECT k.start, k.end, k.streamId, k.globalPid, COALESCE(s.value, k.demangledName) FROM "
              "CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN StringIds s ON k.demangledName = s.id ORDER BY k.start"
            : "SELECT start, end, streamId, globalPid, demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER "
              "BY start");
  while (rows.next()) {
    const auto start = static_cast<std::uint64_t>(std::max<std::int64_t>(rows.integer(0), 0));
    const auto end = static_cast<std::uint64_t>(std::max<std::int64_t>(rows.integer(1), 0));
    notes.broken_times += rows.integer(0) < 0 || rows.integer(1) < rows.integer(0);
    // The bits of a global id above the thread's 24 are the process's.
    const std::uint64_t pid = static_cast<std::uint64_t>(rows.integer(3)) >> 24 & 0xFFFFFF;
    NsysProcess& process = processes[pid];
    process.pid = pid;
    process.file = database.path();
    const auto kind = nccl_kernel_kind(rows.text(4));
    if (kind) {
      process.kernels[static_cast<std::uint64_t>(rows.integer(2))].push_back(
          {*kind, start, std::max(start, end)});
    } else {
      process.other_kernels += 1;
      process.other_ns += std::max(start, end) - start;
    }
    process.begin_ns = std::min(process.begin_ns, start);
    process.end_ns = std::max(process.end_ns, end);
  }
}

// Numbers groups, and leaves only what lies between the marks.
void finish(NsysProcess& process, NsysNotes& notes) {
  const std::uint64_t begin = process.marked_begin_ns.value_or(0),
                      end = process.marked_end_ns.value_or(UINT64_MAX);
  const auto outside = [&](const auto& what) { return what.start_ns < begin || what.start_ns > end; };
  std::uint32_t depth = 0, group = 0;
  for (NcclCall& call : process.calls) {
    if (call.kind == NcclKind::kGroupStart && depth++ == 0) ++group;
    if (call.kind == NcclKind::kGroupEnd && depth > 0) --depth;
    if (depth > 0) call.group = group;
  }
  std::erase_if(process.calls, [](const NcclCall& call) {
    return call.kind == NcclKind::kGroupStart || call.kind == NcclKind::kGroupEnd;
  });
  notes.outside_marks += std::erase_if(process.calls, outside);
  for (auto& [stream, kernels] : process.kernels) notes.outside_marks += std::erase_if(kernels, outside);
  for (const NcclCall& call : process.calls) {
    process.begin_ns = std::min(process.begin_ns, call.start_ns);
    process.end_ns = std::max(process.end_ns, call.end_ns);
  }
  process.begin_ns = process.marked_begin_ns.value_or(process.begin_ns);
  process.end_ns = std::max(process.begin_ns, process.marked_end_ns.value_or(process.end_ns));
}

bool is_read(std::string_view table, std::string_view column) {
  static constexpr std::pair<std::string_view, std::string_view> kRead[] = {
      {"NVTX_EVENTS", " start end text textId "},
      {"CUPTI_ACTIVITY_KIND_KERNEL", " start end streamId globalPid demangledName "},
      {"StringIds", " id value "}};
  for (const auto& [name, columns] : kRead) {
    if (name == table && columns.find(fmt::format(" {} ", column)) != columns.npos) return true;
  }
  return false;
}

// Tables that only describe the report.
bool describes(std::string_view table) {
  return table.starts_with("ENUM_") || table.starts_with("META_DATA") || table.starts_with("sqlite_");
}

bool has_rows(const ForeignDatabase& database, const std::string& table) {
  ForeignDatabase::Query rows(database, fmt::format("SELECT 1 FROM {} LIMIT 1", table));
  return rows.next();
}

// Counts what is not read: in a table that is read the other columns, in another one those that by name tell
// sizes, rates or times, or the table if there are none.
void note_unread(const ForeignDatabase& database, const std::string& table, Unread& unread) {
  const bool known = is_read(table, "start") || is_read(table, "id");
  bool any = false;
  for (const std::string& column : database.columns(table)) {
    if (is_read(table, column) || (!known && !tells_a_quantity(column))) continue;
    count_unread(unread, table + "." + column);
    any = true;
  }
  if (!any && !known) count_unread(unread, table);
}

void note_unread(const ForeignDatabase& database, Unread& unread) {
  std::vector<std::string> tables;
  ForeignDatabase::Query names(database, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  while (names.next()) tables.emplace_back(names.text(0));
  for (const std::string& table : tables) {
    const bool plain = std::all_of(table.begin(), table.end(),
                                   [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (plain && !describes(table) && has_rows(database, table)) note_unread(database, table, unread);
  }
}

}  // namespace

std::optional<NcclKind> nccl_kernel_kind(std::string_view name) {
  const std::size_t at = name.find("nccl");
  if (at == name.npos) return std::nullopt;
  std::string_view rest = name.substr(at);
  for (const std::string_view prefix : {"ncclDevKernel_", "ncclKernel_"}) {
    if (!rest.starts_with(prefix)) continue;
    rest.remove_prefix(prefix.size());
    for (const KindName& kernel : kKernels) {
      if (rest.starts_with(kernel.name)) return kernel.kind;
    }
    return NcclKind::kOther;
  }
  return std::nullopt;
}

bool is_nsys_report(const std::string& path) {
  try {
    const ForeignDatabase database = report_at(path);
    return !database.columns("NVTX_EVENTS").empty() ||
           !database.columns("CUPTI_ACTIVITY_KIND_KERNEL").empty();
  } catch (const InputError&) {
    return false;
  }
}

std::vector<NsysProcess> read_nsys_report(const std::string& path, NsysNotes& notes) {
  const ForeignDatabase database = report_at(path);
  std::map<std::uint64_t, NsysProcess> processes;
  RangeReader reader(processes, notes, path);
  read_ranges(database, reader);
  read_kernels(database, processes, notes);
  note_unread(database, notes.unread);
  std::vector<NsysProcess> made;
  for (auto& [pid, process] : processes) {
    finish(process, notes);
    if (!process.calls.empty() || !process.kernels.empty()) made.push_back(std::move(process));
  }
  return made;
}

}  // namespace weft::goal
