#include "goal/import/kineto/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <unordered_map>

#include "goal/import/json/byte_stream.h"
#include "goal/import/json/json_reader.h"
#include "sim/units/memory.h"

namespace weft::goal {
namespace {

constexpr std::size_t kNameLooked = 200;  // so much of a kernel's name is looked at

bool contains(std::string_view text, std::string_view word) { return text.find(word) != text.npos; }

// Is this the name of a kernel of NCCL or RCCL, in any of its spellings?
bool is_comm_kernel(std::string_view name) {
  for (std::size_t i = 0; i + 4 <= std::min(name.size(), kNameLooked); ++i) {
    const auto lower = [&](std::size_t at) { return std::tolower(static_cast<unsigned char>(name[at])); };
    if (lower(i + 1) == 'c' && lower(i + 2) == 'c' && lower(i + 3) == 'l' &&
        (lower(i) == 'n' || lower(i) == 'r')) {
      return true;
    }
  }
  return false;
}

// The name of a kernel without its arguments if it communicates by other means: symmetric memory, NVSHMEM,
// all-reduces of inference engines, Transformer Engine's userbuffers. Empty for others.
std::string_view other_communication(std::string_view name) {
  static constexpr std::string_view kWords[] = {"allreduce",
                                                "allgather",
                                                "reducescatter",
                                                "alltoall",
                                                "crossdevicereduce",
                                                "quickreduce",
                                                "multimem",
                                                "nvshmem",
                                                "rocshmem",
                                                "deepep",
                                                "userbuffers",
                                                "symmetricmemory",
                                                "lowlatency::dispatch"};
  std::string bare;
  for (const char c : name) {
    if (c != '_') bare += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const auto found = [&](std::string_view word) { return contains(bare, word); };
  if (std::none_of(std::begin(kWords), std::end(kWords), found)) return {};
  if (name.starts_with("void ")) name.remove_prefix(5);
  return name.substr(0, std::min<std::size_t>(name.find_first_of("<("), 60));
}

HostKind kind_of_api(std::string_view name) {
  if (contains(name, "DeviceSynchronize") || contains(name, "CtxSynchronize")) return HostKind::kDeviceSync;
  if (contains(name, "StreamSynchronize")) return HostKind::kStreamSync;
  if (contains(name, "EventSynchronize")) return HostKind::kEventSync;
  if (contains(name, "StreamWaitEvent")) return HostKind::kStreamWait;
  if (contains(name, "EventRecord")) return HostKind::kEventRecord;
  if (contains(name, "Memcpy")) return HostKind::kMemcpy;
  return HostKind::kApi;
}

bool is_host_comm(std::string_view name) { return name.starts_with("gloo:") || name.starts_with("mpi:"); }
bool is_comm_annotation(std::string_view name) {
  return name.starts_with("nccl:") || name.starts_with("rccl:") || name.starts_with("ucc:");
}

// Arguments of events that have a part in the graph. What comm_call.cc reads is among them.
bool is_read(std::string_view argument) {
  static constexpr std::string_view kRead[] = {"correlation",
                                               "stream",
                                               "device",
                                               "External id",
                                               "Record function id",
                                               "wait_on_stream",
                                               "wait_on_cuda_event_record_corr_id",
                                               "Collective name",
                                               "Process Group Name",
                                               "Process Group ID",
                                               "Process Group Ranks",
                                               "Group size",
                                               "Global rank start",
                                               "Global rank stride",
                                               "dtype",
                                               "In msg nelems",
                                               "Out msg nelems",
                                               "In split size",
                                               "Out split size",
                                               "Rank",
                                               "Dst Rank",
                                               "Src Rank",
                                               "Input type",
                                               "Input Dims"};
  return std::find(std::begin(kRead), std::end(kRead), argument) != std::end(kRead);
}

// Members of an event with a duration that are read.
bool is_member(std::string_view member) {
  static constexpr std::string_view kRead[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"};
  return std::find(std::begin(kRead), std::end(kRead), member) != std::end(kRead);
}

// Events without a duration that have no say in what takes how long: names of threads, arrows between events.
bool is_description(std::string_view phase) {
  return phase == "M" || phase == "s" || phase == "t" || phase == "f";
}

class Collector {
 public:
  explicit Collector(const std::string& path)
      : event_row_(trace_.unread), gpu_row_(trace_.unread), host_row_(trace_.unread) {
    trace_.path = path;
  }

  bool member(JsonValue member) {
    if (member.key() == "distributedInfo") {
      read_distributed(member);
    } else if (member.key() != "schemaVersion") {
      count_unread(trace_.unread, member.key());
    } else if (member.integer() != 1) {
      trace_.other_schema = fmt::format("'{}'", member.text());
    }
    return true;
  }

  bool event(JsonValue event) {
    const std::string_view phase = event["ph"].text();
    if (phase != "X") {
      // Other tools write durations as pairs of a beginning and an end; PyTorch's profiler doesn't.
      if (!is_description(phase)) {
        count_unread(trace_.unread,
                     phase.empty() ? "events without a phase" : fmt::format("events of phase {}", phase));
      }
      return true;
    }
    event_row_.begin();
    for (const JsonValue member : event.items()) event_row_.add(member.key(), is_member);
    const auto start = event["ts"].thousandths(), duration = event["dur"].thousandths();
    std::int64_t end = 0;
    // Differences of times must have room too.
    constexpr std::int64_t kMostNs = 4'000'000'000'000'000'000;
    if (!start || !duration || *duration < 0 || __builtin_add_overflow(*start, *duration, &end) ||
        *start < -kMostNs || end > kMostNs) {
      ++trace_.broken_events;
      return true;
    }
    take(event, *start, end);
    if ((trace_.host.size() + trace_.gpu.size()) % kCheckEvery == 0) {
      expect_memory(static_cast<double>(kCheckEvery) * 4 * sizeof(HostEvent), "the events of a profile");
    }
    return true;
  }

  RankTrace finish() {
    if (trace_.host.empty() && trace_.gpu.empty()) {
      throw InputError({trace_.path},
                       "no events with a duration in \"traceEvents\"; expected a profile that "
                       "PyTorch's profiler wrote");
    }
    trace_.threads = static_cast<std::uint32_t>(threads_.size());
    // Names are many times fewer than kernels.
    // tidy: order because sums do not depend on it
    for (const auto& [name, count] : kernels_) {
      const std::string_view other = other_communication(name);
      if (!other.empty()) trace_.other_communication[std::string(other)] += count;
    }
    return std::move(trace_);
  }

 private:
  static constexpr std::size_t kCheckEvery = std::size_t{1} << 20;

  void take(JsonValue event, std::int64_t start, std::int64_t end) {
    const std::string_view category = event["cat"].text(), name = event["name"].text();
    if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset" ||
        category == "Kernel" || category == "Memcpy" || category == "Memset") {
      return take_gpu(event, name, start, end);
    }
    if (category == "cuda_runtime" || category == "cuda_driver" || category == "Runtime") {
      return take_host(event, kind_of_api(name), start, end, kNoCall);
    }
    if (category == "cuda_sync") return take_sync(event);
    if (name.starts_with("ProfilerStep#") && category != "gpu_user_annotation") {
      trace_.steps.push_back({step_of(name.substr(13)), start, end});
      return;
    }
    if (is_host_comm(name) && category != "gpu_user_annotation") {
      return take_host(event, HostKind::kHostComm, start, end, annotated(name, event["args"]));
    }
    if (category == "cpu_op" || category == "Operator") return take_op(event, name, start, end);
    if (is_comm_annotation(name) && category == "user_annotation") {
      return take_host(event, HostKind::kAnnotation, start, end, annotated(name, event["args"]));
    }
    if (trace_.other_events.size() < 100) ++trace_.other_events[std::string(category.substr(0, 64))];
  }

  void take_op(JsonValue event, std::string_view name, std::int64_t start, std::int64_t end) {
    if (name != "record_param_comms") return take_host(event, HostKind::kOp, start, end, kNoCall);
    see(event["args"], host_row_);
    CommCall call;
    read_comm_args(event["args"], call);
    const std::uint32_t index = add(std::move(call));
    // Before "Record function id" there was, "External id" was the same.
    const JsonValue id = event["args"]["Record function id"];
    const auto function = (id ? id : event["args"]["External id"]).unsigned_integer();
    if (function) trace_.call_of_function.emplace(*function, index);
    take_host(event, HostKind::kComm, start, end, index);
  }

  void take_host(JsonValue event, HostKind kind, std::int64_t start, std::int64_t end, std::uint32_t call) {
    HostEvent host{.start = start, .end = end, .call = call, .kind = kind};
    const bool starts_something =
        kind == HostKind::kApi || kind == HostKind::kMemcpy || kind >= HostKind::kStreamSync;
    if (starts_something) host.correlation = correlation_of(event["args"]);
    host.thread = thread_of(event);
    trace_.host.push_back(host);
  }

  // "ProfilerStep#12". A step of another name is as good as one without a number.
  static std::int64_t step_of(std::string_view number) {
    const auto step = whole_number(number);
    return step ? *step : 0;
  }

  // The event's own, else that of its row: "stream 7" in older profiles.
  static std::int64_t stream_number(JsonValue stream, JsonValue row) {
    if (!stream.missing()) return stream.integer_or(0);
    std::string_view text = row.text();
    text.remove_prefix(std::min(text.size(), text.find_last_not_of("0123456789") + 1));
    const auto number = whole_number(text);
    return number ? *number : 0;
  }

  void take_gpu(JsonValue event, std::string_view name, std::int64_t start, std::int64_t end) {
    const JsonValue args = event["args"];
    see(args, gpu_row_);
    GpuEvent gpu{.start = start, .end = end, .correlation = correlation_of(args)};
    gpu.stream = stream_of(args["device"].integer_or(0), stream_number(args["stream"], event["tid"]));
    gpu.communicates = is_comm_kernel(name);
    if (gpu.communicates) {
      CommCall call;
      if (!read_comm_args(args, call) || call.kind == CommKind::kNone) {
        call = {};  // the bracket around several calls ("coalesced") says less than the kernel's name
        read_comm_name(name, call);
      }
      gpu.call = add(std::move(call));
    } else {
      key_.assign(name.substr(0, kNameLooked));
      ++kernels_[key_];
    }
    trace_.gpu.push_back(gpu);
  }

  void take_sync(JsonValue event) {
    const JsonValue args = event["args"];
    SyncRecord sync{.correlation = correlation_of(args)};
    sync.stream = args["stream"].integer_or(-1);
    sync.wait_on_stream = args["wait_on_stream"].integer_or(-1);
    sync.record_correlation = args["wait_on_cuda_event_record_corr_id"].unsigned_or(0);
    if (sync.correlation != kNoCorrelation) trace_.syncs.push_back(sync);
  }

  void read_distributed(JsonValue info) {
    constexpr std::uint64_t kNotSaid = UINT64_MAX;  // -1
    trace_.rank = static_cast<std::int64_t>(info["rank"].unsigned_or(kNotSaid));
    trace_.world = static_cast<std::int64_t>(info["world_size"].unsigned_or(kNotSaid));
    trace_.names_no_rank = trace_.rank < 0;
    trace_.backend = info["backend"].text();
    count_members(info, {"rank", "world_size", "backend", "pg_config"}, "distributedInfo");
    for (const JsonValue config : info["pg_config"].items()) {
      GroupName group;
      group.name = config["pg_name"].text();
      group.size = config["pg_size"].integer_or(-1);
      count_members(config, {"pg_name", "pg_size", "ranks"}, "pg_config");
      for (const JsonValue rank : config["ranks"].items()) {
        const auto number = rank.unsigned_integer();
        if (!number || *number >= kAny) {
          throw InputError({trace_.path},
                           fmt::format("distributedInfo: process group '{}' has '{}' among its "
                                       "ranks; expected whole numbers",
                                       group.name, rank.text()));
        }
        group.ranks.push_back(static_cast<Rank>(*number));
      }
      trace_.groups.push_back(std::move(group));
    }
  }

  void count_members(JsonValue of, std::initializer_list<std::string_view> read, const char* what) {
    for (const JsonValue member : of.items()) {
      if (!member.key().empty() && std::find(read.begin(), read.end(), member.key()) == read.end()) {
        count_unread(trace_.unread, fmt::format("{} {}", what, member.key()));
      }
    }
  }

  static std::uint64_t correlation_of(JsonValue args) {
    return args["correlation"].unsigned_or(kNoCorrelation);
  }

  static void see(JsonValue args, UnreadRow& row) {
    row.begin();
    for (const JsonValue argument : args.items()) row.add(argument.key(), is_read);
  }

  std::uint32_t annotated(std::string_view name, JsonValue args) {
    see(args, host_row_);
    CommCall call;
    read_annotation(name, args, call);
    return add(std::move(call));
  }

  std::uint32_t add(CommCall call) {
    trace_.calls.push_back(std::move(call));
    return static_cast<std::uint32_t>(trace_.calls.size() - 1);
  }

  std::uint32_t thread_of(JsonValue event) {
    key_.assign(event["pid"].text()).append(1, '\n').append(event["tid"].text());
    const auto known = threads_.find(key_);
    if (known != threads_.end()) return known->second;
    if (threads_.size() >= kMostLanes) {
      throw InputError({trace_.path}, fmt::format("events of more than {} threads", kMostLanes));
    }
    return threads_.emplace(key_, static_cast<std::uint32_t>(threads_.size())).first->second;
  }

  std::uint32_t stream_of(std::int64_t device, std::int64_t stream) {
    const auto known = streams_.find({device, stream});
    if (known != streams_.end()) return known->second;
    if (streams_.size() >= kMostLanes) {
      throw InputError({trace_.path}, fmt::format("events of more than {} streams", kMostLanes));
    }
    trace_.stream_numbers.push_back(stream);
    return streams_.emplace(std::pair(device, stream), static_cast<std::uint32_t>(streams_.size()))
        .first->second;
  }

  static constexpr std::size_t kMostLanes = 30000;
  RankTrace trace_;
  UnreadRow event_row_, gpu_row_, host_row_;
  std::unordered_map<std::string, std::uint32_t> threads_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> streams_;
  std::string key_;
  std::unordered_map<std::string, std::uint64_t> kernels_;  // how many, by the begin of their names
};

}  // namespace

RankTrace read_kineto(const std::string& path) {
  Collector collector(path);
  JsonHandlers handlers;
  handlers.member = [&](JsonValue member, const SourceLocation&) { return collector.member(member); };
  handlers.element = [&](std::string_view, JsonValue event, const SourceLocation& where) {
    if (!event.is_object()) throw InputError(where, "expected an event in braces among the trace's events");
    return collector.event(event);
  };
  read_json(path, {"traceEvents"}, handlers);
  return collector.finish();
}

bool looks_like_kineto(const std::string& path) {
  try {
    ByteStream bytes(path);
    std::string head(64 * 1024, '\0');
    head.resize(bytes.read(head.data(), head.size()));
    const auto first = head.find_first_not_of(" \t\r\n");
    if (first == head.npos) return false;
    // Up to PyTorch 1.13 the legacy profiler wrote a bare list of events.
    if (head[first] == '[') return contains(head, "\"ph\"") && contains(head, "\"ts\"");
    if (head[first] != '{') return false;
    return contains(head, "\"traceEvents\"") || contains(head, "\"deviceProperties\"") ||
           contains(head, "\"distributedInfo\"");
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace weft::goal
