#include <array>
#include <map>

#include "tools/export/perfetto.pb.h"
#include "tools/export/trace_writer.h"

namespace weft::tools {
namespace {

using perfetto::TracePacket;
using perfetto::TrackEvent;

// Names that were given a number, which a packet refers to from then on.
class Interned {
 public:
  // Adds the name to `entries` if it is new.
  template <typename Entries>
  std::uint64_t number(std::string_view name, Entries* (*entries)(TracePacket&), TracePacket& packet) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    const std::uint64_t next = numbers_.size() + 1;
    numbers_.emplace(name, next);
    auto& entry = *entries(packet)->Add();
    entry.set_iid(next);
    entry.set_name(std::string(name));
    return next;
  }

 private:
  std::map<std::string, std::uint64_t, std::less<>> numbers_;
};

class PerfettoWriter final : public TraceWriter {
 public:
  explicit PerfettoWriter(const std::string& path) : file_(path, PartFile::Special::kWrite) {}

  void group(std::uint32_t number, const std::string& name) override {
    auto& descriptor = *begin().mutable_track_descriptor();
    descriptor.set_uuid(of_group(number));
    descriptor.mutable_process()->set_pid(pid(number));
    descriptor.mutable_process()->set_process_name(name);
    write();
  }

  void track(std::uint32_t number, std::uint32_t group, Track kind, const std::string& name) override {
    auto& descriptor = *begin().mutable_track_descriptor();
    descriptor.set_uuid(of_track(number));
    if (kind == Track::kCpu) {
      descriptor.mutable_thread()->set_pid(pid(group));
      descriptor.mutable_thread()->set_tid(kFirstThread + static_cast<std::int32_t>(number));
      descriptor.mutable_thread()->set_thread_name(name);
      return write();
    }
    descriptor.set_name(name);
    descriptor.set_parent_uuid(of_group(group));
    if (kind != Track::kMessages) {
      descriptor.mutable_counter()->set_unit(kind == Track::kBytes
                                                 ? perfetto::CounterDescriptor::UNIT_SIZE_BYTES
                                                 : perfetto::CounterDescriptor::UNIT_UNSPECIFIED);
    }
    write();
  }

  void slice(std::uint32_t track, const TraceSlice& slice) override {
    TracePacket& packet = begin();
    packet.set_timestamp(nanoseconds(slice.start));
    packet.set_sequence_flags(packet.sequence_flags() | kNeedsState);
    TrackEvent& event = *packet.mutable_track_event();
    event.set_type(TrackEvent::TYPE_SLICE_BEGIN);
    event.set_track_uuid(of_track(track));
    event.set_name_iid(names_.number(
        slice.name, +[](TracePacket& p) { return p.mutable_interned_data()->mutable_event_names(); },
        packet));
    for (const TraceArgument& argument : slice.arguments) {
      perfetto::DebugAnnotation& annotation = *event.add_debug_annotations();
      annotation.set_name_iid(arguments_.number(
          argument.name,
          +[](TracePacket& p) { return p.mutable_interned_data()->mutable_debug_annotation_names(); },
          packet));
      annotation.set_uint_value(argument.value);
    }
    if (slice.arrow.part == TraceArrow::Part::kLast) {
      event.add_terminating_flow_ids(slice.arrow.number + 1);
    } else if (slice.arrow.part != TraceArrow::Part::kNone) {
      event.add_flow_ids(slice.arrow.number + 1);
    }
    write();
    TracePacket& last = begin();
    last.set_timestamp(nanoseconds(slice.end));
    last.mutable_track_event()->set_type(TrackEvent::TYPE_SLICE_END);
    last.mutable_track_event()->set_track_uuid(of_track(track));
    write();
  }

  void counter(std::uint32_t track, Time time, double value) override {
    TracePacket& packet = begin();
    packet.set_timestamp(nanoseconds(time));
    TrackEvent& event = *packet.mutable_track_event();
    event.set_type(TrackEvent::TYPE_COUNTER);
    event.set_track_uuid(of_track(track));
    event.set_double_counter_value(value);
    write();
  }

  void finish() override { file_.close(); }

 private:
  static constexpr std::uint32_t kSequence = 1, kStateIsNew = 1, kNeedsState = 2;
  // Threads must not have the numbers of processes.
  static constexpr std::int32_t kFirstThread = 1 << 24;

  static std::uint64_t of_group(std::uint32_t number) { return std::uint64_t{1} << 40 | number; }
  static std::uint64_t of_track(std::uint32_t number) { return std::uint64_t{2} << 40 | number; }
  static std::int32_t pid(std::uint32_t group) { return static_cast<std::int32_t>(group) + 1; }
  static std::uint64_t nanoseconds(Time time) { return static_cast<std::uint64_t>(time.ps()) / 1000; }

  TracePacket& begin() {
    packet_.Clear();
    packet_.set_trusted_packet_sequence_id(kSequence);
    if (is_first_) packet_.set_sequence_flags(kStateIsNew);
    is_first_ = false;
    return packet_;
  }

  // As an element of Trace::packet: any number of them, one behind the other, are a Trace.
  void write() {
    bytes_.clear();
    packet_.SerializeToString(&bytes_);
    std::array<char, 11> head = {static_cast<char>(perfetto::Trace::kPacketFieldNumber << 3 | 2)};
    std::size_t length = 1;
    for (std::size_t rest = bytes_.size(); length == 1 || rest > 0; rest >>= 7) {
      head[length++] = static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    }
    file_.write({head.data(), length});
    file_.write(bytes_);
  }

  results::OutputFile file_;
  Interned names_, arguments_;
  TracePacket packet_;
  std::string bytes_;
  bool is_first_ = true;
};

}  // namespace

std::unique_ptr<TraceWriter> make_perfetto_writer(const std::string& path) {
  return std::make_unique<PerfettoWriter>(path);
}

}  // namespace weft::tools
