#include "goal/import/nccl/streams.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::goal {

using trace::DeviceFunction;
using trace::DeviceShape;
using trace::StreamKind;

namespace {

DeviceShape shape_of(const TraceRecord& record) {
  return trace::device_function_info(record.device.function).shape;
}

bool waits_for_gpu(DeviceFunction function) {
  return function == DeviceFunction::cudaStreamSynchronize || function == DeviceFunction::cudaStreamQuery ||
         function == DeviceFunction::cudaEventSynchronize || function == DeviceFunction::cudaEventQuery ||
         function == DeviceFunction::cudaDeviceSynchronize || function == DeviceFunction::cudaMemcpy;
}

CollectiveKind kind_of(DeviceFunction function) {
  switch (function) {
    case DeviceFunction::ncclReduce:
      return CollectiveKind::kReduce;
    case DeviceFunction::ncclBroadcast:
    case DeviceFunction::ncclBcast:
      return CollectiveKind::kBcast;
    case DeviceFunction::ncclReduceScatter:
      return CollectiveKind::kReduceScatter;
    case DeviceFunction::ncclAllGather:
      return CollectiveKind::kAllgather;
    case DeviceFunction::ncclAlltoAll:
      return CollectiveKind::kAlltoall;
    case DeviceFunction::ncclGather:
      return CollectiveKind::kGather;
    case DeviceFunction::ncclScatter:
      return CollectiveKind::kScatter;
    default:
      return CollectiveKind::kAllreduce;
  }
}

bool is_reduction(CollectiveKind kind) {
  return kind == CollectiveKind::kAllreduce || kind == CollectiveKind::kReduce ||
         kind == CollectiveKind::kReduceScatter;
}

std::uint64_t bytes_of(const TraceRecord& record) {
  const std::int64_t count = record.device.fields[2], type = record.device.fields[3];
  const std::uint32_t element = trace::nccl_type_bytes(type);
  if (element == 0) throw InputError(fmt::format("datatype {}: its size is not known", type));
  if (count < 0 || count > (std::int64_t{1} << 56)) throw InputError(fmt::format("a count of {}", count));
  return static_cast<std::uint64_t>(count) * element;
}

void append(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
  for (const std::uint32_t op : from) {
    if (std::find(to.begin(), to.end(), op) == to.end()) to.push_back(op);
  }
}

}  // namespace

StreamImporter::StreamImporter(const NcclWorld& world, Rank rank, std::uint16_t first_cpu, bool with_choices,
                               RankImporter& threads, NcclNotes& notes)
    : world_(world),
      file_(world.files()[world.gpu(rank)->file]),
      device_(world.gpu(rank)->device),
      shares_process_(file_.threads_of_device.size() > 1),
      first_cpu_(first_cpu),
      with_choices_(with_choices),
      threads_(threads),
      notes_(notes) {
  if (!shares_process_) return;
  const auto own = file_.threads_of_device.find(device_);
  if (own != file_.threads_of_device.end()) notes_.add(NcclNote::kSharedThreads, own->second.size());
}

// Tells whether the call has to do with this GPU, as a process may have several.
bool StreamImporter::concerns(const TraceRecord& record) const {
  if (!shares_process_) return true;
  const std::int64_t first = record.device.fields[0];
  switch (shape_of(record)) {
    case DeviceShape::kCommunicator:
    case DeviceShape::kCollective:
    case DeviceShape::kPeer:
      return first == 0 || file_.comms[static_cast<std::size_t>(first - 1)].device == device_;
    case DeviceShape::kOnStream:
    case DeviceShape::kCopy:
    case DeviceShape::kEventOnStream:
    case DeviceShape::kEndCapture:
    case DeviceShape::kGraphLaunch:
      return first == 0 || file_.streams[static_cast<std::size_t>(first - 1)].device == device_;
    default: {
      const auto own = file_.threads_of_device.find(device_);
      return own != file_.threads_of_device.end() && own->second.contains(record.thread);
    }
  }
}

void StreamImporter::pass(const TraceRecord& record, bool inside_too) {
  threads_.pass_time(record, inside_too);
  const std::uint64_t inside = record.leave_ns - record.enter_ns;
  if (waits_for_gpu(record.device.function)) {
    notes_.add(NcclNote::kSynchronizeNs, inside);
  } else if (inside_too) {
    notes_.add(NcclNote::kEnqueueNs, inside);
  }
}

// What is no call: a definition or a measurement. False for a call.
bool StreamImporter::note(const TraceRecord& record) {
  switch (shape_of(record)) {
    case DeviceShape::kDefineComm:
      ++comms_defined_;
      choices_.define(comms_defined_, static_cast<std::uint32_t>(record.device.fields[3]),
                      static_cast<std::uint32_t>(record.device.fields[4]));
      return true;
    case DeviceShape::kDefineStream:
    case DeviceShape::kProfilerStep:
      return true;
    case DeviceShape::kProfilerComm:
      choices_.add(record.device);
      if (file_.profiled_only) {
        choices_.define(++comms_defined_, static_cast<std::uint32_t>(record.device.fields[2]),
                        static_cast<std::uint32_t>(record.device.fields[3]));
      }
      return true;
    case DeviceShape::kProfilerOperation:
      choices_.add(record.device);
      if (file_.profiled_only) profiled_operation(record);
      return true;
    case DeviceShape::kGpuTime:
      gpu_time(record);
      return true;
    default:
      return false;
  }
}

// An operation that nothing but NCCL's profiler interface told of, as the call that it is: on a stream of its
// communicator, in a group with those launched together.
void StreamImporter::profiled_operation(const TraceRecord& record) {
  const auto& told = record.device.fields;
  const auto function = static_cast<DeviceFunction>(told[1]);
  const DeviceShape shape = trace::device_function_info(function).shape;
  if (shape != DeviceShape::kCollective && shape != DeviceShape::kPeer) {
    throw InputError(fmt::format("device function {} of the profiler: no operation", told[1]));
  }
  if (told[10] != profiled_group_ || told[10] == 0) end_profiled_group();
  profiled_group_ = told[10];
  notes_.add(NcclNote::kProfiledOnly);
  pass(record, true);
  last_profiled_ = record;
  last_profiled_.name = {};
  TraceRecord call = last_profiled_;
  call.device.function = function;
  call.device.fields = {told[0], told[0], told[3], told[4], -1, told[5]};
  if (shape == DeviceShape::kPeer) call.device.fields[4] = told[5];
  nccl_threads_[record.thread].depth = 1;
  nccl_operation(call);
}

void StreamImporter::end_profiled_group() {
  if (last_profiled_.thread >= nccl_threads_.size()) return;
  Thread& thread = nccl_threads_[last_profiled_.thread];
  thread.depth = 0;
  launch(last_profiled_, thread.group);
}

void StreamImporter::add(const TraceRecord& record) {
  const DeviceFunction function = record.device.function;
  const DeviceShape shape = shape_of(record);
  if (trace::is_stream_operation(function)) ++stream_operations_;
  if (nccl_threads_.size() <= record.thread) nccl_threads_.resize(record.thread + 1);
  if (note(record) || !concerns(record)) return;
  // ncclInProgress is no error.
  constexpr int kInProgress = 7;
  const bool in_progress = record.error == kInProgress && function < DeviceFunction::cudaLaunchKernel;
  if (record.error != 0 && !in_progress) {
    notes_.add(NcclNote::kFailedCalls);
    pass(record, true);
    return;
  }
  const bool waits = waits_for_gpu(function);
  const bool creates = shape == DeviceShape::kCreate || shape == DeviceShape::kCommunicator ||
                       function == DeviceFunction::ncclCommInitAll;
  pass(record, !waits && !creates);
  if (creates) {
    notes_.add(NcclNote::kCreations);
    notes_.add(NcclNote::kCreationNs, record.leave_ns - record.enter_ns);
  } else if (function == DeviceFunction::cudaLaunchKernel || shape == DeviceShape::kCopy) {
    kernel(record);
  } else if (waits) {
    synchronize(record);
  } else {
    order(record, shape);
  }
}

void StreamImporter::order(const TraceRecord& record, DeviceShape shape) {
  Thread& thread = nccl_threads_[record.thread];
  switch (shape) {
    case DeviceShape::kCollective:
    case DeviceShape::kPeer:
      return nccl_operation(record);
    case DeviceShape::kEventOnStream:
    case DeviceShape::kInstantiate:
      return stream_order(record);
    case DeviceShape::kEndCapture:
      return end_capture(record);
    case DeviceShape::kGraphLaunch:
      return launch_graph(record);
    case DeviceShape::kOnStream:  // cudaStreamBeginCapture
      stream(record.device.fields[0]).tail = {{}, std::make_shared<Capture>()};
      return;
    default:
      break;
  }
  if (record.device.function == DeviceFunction::ncclGroupStart) {
    ++thread.depth;
  } else {  // ncclGroupEnd
    if (thread.depth > 0) --thread.depth;
    if (thread.depth == 0) launch(record, thread.group);
  }
}

StreamImporter::Stream& StreamImporter::stream(std::int64_t number) {
  // Number 0, unknown, is a stream too.
  const auto index = static_cast<std::size_t>(number);
  if (number < 0 || index > file_.streams.size()) {
    throw InputError(fmt::format("stream {}, of which {} are defined", number, file_.streams.size()));
  }
  if (streams_.size() <= index) streams_.resize(index + 1);
  Stream& found = streams_[index];
  if (found.defined) return found;
  found.defined = true;
  const std::size_t cpu = first_cpu_ + (index == 0 ? file_.streams.size() : index - 1);
  if (cpu > 0xFFFF) throw InputError("more than 65536 threads and streams");
  found.cpu = static_cast<std::uint16_t>(cpu);
  if (index == 0) return found;
  found.kind = file_.streams[index - 1].kind;
  found.device = file_.streams[index - 1].device;
  if (found.kind == StreamKind::kUnknown) notes_.add(NcclNote::kUnknownStreams);
  return found;
}

// The default stream waits for all blocking streams, and they for it (CUDA, "Default stream").
StreamImporter::Tail StreamImporter::tail_of(const Stream& of) const {
  Tail tail = of.tail;
  if (tail.capture != nullptr || of.kind == StreamKind::kUnknown || of.kind == StreamKind::kNonBlocking)
    return tail;
  for (const Stream& other : streams_) {
    if (&other == &of || other.tail.capture != nullptr || other.device != of.device) continue;
    const bool waited_for = of.kind == StreamKind::kLegacyDefault ? other.kind == StreamKind::kBlocking
                                                                  : other.kind == StreamKind::kLegacyDefault;
    if (waited_for) append(tail.ops, other.tail.ops);
  }
  return tail;
}

OpIndex StreamImporter::emit(const TraceRecord& record, const Work& work, std::span<const OpIndex> after) {
  if (work.is_collective) return threads_.add_beside(record, work.cpu, work.collective, after);
  Op op = work.op;
  op.cpu = work.cpu;
  if (op.kind != OpKind::kCalc) {
    // NCCL matches the messages of a pair in their order; a tag says it, whatever runs at the same time.
    const std::uint64_t direction = op.kind == OpKind::kSend ? 0 : 1;
    op.tag =
        tags_[(std::uint64_t{op.comm} << 33) ^ (std::uint64_t{op.peer} << 1) ^ direction]++ & 0x7FFFFFFFu;
  }
  const OpIndex index = threads_.add_beside(record, op, after);
  if (work.timed) computations_[work.number] = index;
  return index;
}

std::uint32_t StreamImporter::put(const TraceRecord& record, const Work& work, const Tail& after) {
  if (after.capture == nullptr) return emit(record, work, after.ops);
  after.capture->nodes.push_back({work, after.ops});
  return static_cast<std::uint32_t>(after.capture->nodes.size() - 1);
}

void StreamImporter::put_on(const TraceRecord& record, Stream& on, Work work) {
  work.cpu = on.cpu;
  const Tail after = tail_of(on);
  on.tail.ops = {put(record, work, after)};
}

void StreamImporter::collapse(const TraceRecord& record, std::uint16_t cpu, Tail& tail) {
  if (tail.ops.size() < 2) return;
  tail.ops = {put(record, {.cpu = cpu, .op = {.kind = OpKind::kCalc, .cpu = cpu, .value = 0}}, tail)};
}

void StreamImporter::wait_for(const TraceRecord& record, const Tail& tail) {
  if (tail.capture == nullptr) threads_.wait_for(record, tail.ops);
}

// A computation has no length until its time comes.
StreamImporter::Work StreamImporter::computation(const Stream& on) const {
  return {.cpu = on.cpu,
          .op = {.kind = OpKind::kCalc, .cpu = on.cpu, .value = 0},
          .number = stream_operations_,
          .timed = true};
}

void StreamImporter::kernel(const TraceRecord& record) {
  const bool waits = record.device.function == DeviceFunction::cudaMemcpy;
  Stream& on = stream(record.device.fields[0]);
  put_on(record, on, computation(on));
  if (waits) wait_for(record, on.tail);
}

void StreamImporter::gpu_time(const TraceRecord& record) {
  const std::int64_t number = record.device.fields[0], ns = record.device.fields[1];
  if (number < 1 || static_cast<std::uint64_t>(number) > stream_operations_ || ns < 0) {
    throw InputError(
        fmt::format("a GPU time of {} ns for operation {} of {}", ns, number, stream_operations_));
  }
  const auto found = computations_.find(static_cast<std::uint64_t>(number));
  if (found == computations_.end()) {
    notes_.add(NcclNote::kMeasuredNs, static_cast<std::uint64_t>(ns));
    return;
  }
  threads_.set_compute(found->second, static_cast<std::uint64_t>(ns));
  computations_.erase(found);
  notes_.add(NcclNote::kTimedKernels);
}

void StreamImporter::stream_order(const TraceRecord& record) {
  const auto& fields = record.device.fields;
  switch (record.device.function) {
    case DeviceFunction::cudaEventRecord:
      events_[fields[1]] = tail_of(stream(fields[0]));
      break;
    case DeviceFunction::cudaStreamWaitEvent: {
      const auto found = events_.find(fields[1]);
      if (found == events_.end()) break;  // never recorded: CUDA waits for nothing either
      Tail& tail = stream(fields[0]).tail;
      // To wait for an event of a capture is to join it.
      if (found->second.capture != tail.capture) {
        if (found->second.capture == nullptr || found->second.capture->ended) break;
        tail = {{}, found->second.capture};
      }
      append(tail.ops, found->second.ops);
      break;
    }
    default:  // cudaGraphInstantiate
      if (const auto found = graphs_.find(fields[1]); found != graphs_.end())
        executables_[fields[0]] = found->second;
      break;
  }
}

void StreamImporter::synchronize(const TraceRecord& record) {
  switch (record.device.function) {
    case DeviceFunction::cudaStreamSynchronize:
    case DeviceFunction::cudaStreamQuery:
      return wait_for(record, tail_of(stream(record.device.fields[0])));
    case DeviceFunction::cudaEventSynchronize:
    case DeviceFunction::cudaEventQuery: {
      const auto found = events_.find(record.device.fields[0]);
      if (found != events_.end()) wait_for(record, found->second);
      return;
    }
    default:  // cudaDeviceSynchronize
      for (const Stream& each : streams_) wait_for(record, each.tail);
  }
}

void StreamImporter::end_capture(const TraceRecord& record) {
  const std::shared_ptr<Capture> capture = stream(record.device.fields[0]).tail.capture;
  if (capture == nullptr) return;
  for (Stream& each : streams_) {
    if (each.tail.capture == capture) each.tail = {};
  }
  capture->ended = true;
  graphs_[record.device.fields[1]] = capture;
}

void StreamImporter::launch_graph(const TraceRecord& record) {
  Stream& on = stream(record.device.fields[0]);
  const auto found = executables_.find(record.device.fields[1]);
  const bool known = found != executables_.end();
  const auto is_nccl = [](const Node& node) {
    return node.work.is_collective || node.work.op.kind != OpKind::kCalc;
  };
  if (!known || std::none_of(found->second->nodes.begin(), found->second->nodes.end(), is_nccl)) {
    return put_on(record, on, computation(on));
  }
  // Its nodes, each behind those it waits for; the stream goes on behind those that nothing in the graph
  // waits for.
  Tail before = tail_of(on);
  collapse(record, on.cpu, before);
  const std::vector<Node>& nodes = found->second->nodes;
  std::vector<OpIndex> ops;
  std::vector<bool> last(nodes.size(), true);
  for (const Node& node : nodes) {
    std::vector<OpIndex> after;
    for (const std::uint32_t index : node.after) {
      after.push_back(ops[index]);
      last[index] = false;
    }
    Work work = node.work;
    if (work.timed) notes_.add(NcclNote::kUntimedKernels);
    work.timed = false;  // there is one measurement of the whole graph
    ops.push_back(emit(record, work, node.after.empty() ? before.ops : after));
  }
  on.tail.ops.clear();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (last[i]) on.tail.ops.push_back(ops[i]);
  }
}

void StreamImporter::finish() {
  if (file_.profiled_only) end_profiled_group();
  notes_.add(NcclNote::kUntimedKernels, computations_.size());
  for (const Thread& thread : nccl_threads_) {
    if (!thread.group.empty()) notes_.add(NcclNote::kUnclosedGroups, thread.group.size());
  }
}

void StreamImporter::nccl_operation(const TraceRecord& record) {
  const std::int64_t number = record.device.fields[0];
  Stream& on = stream(record.device.fields[1]);
  const NcclFileComm* comm =
      number >= 1 && number <= comms_defined_ ? &file_.comms[static_cast<std::size_t>(number - 1)] : nullptr;
  if (comm == nullptr || comm->comm == kAny || world_.comms()[comm->comm].graph_number == kAny) {
    notes_.add(NcclNote::kUnknownCommunicator);
    return;
  }
  std::optional<Work> work = work_of(record, *comm, world_.comms()[comm->comm]);
  if (!work) return;
  work->cpu = on.cpu;
  DeviceFunction function = record.device.function;
  if (function == DeviceFunction::ncclBcast) function = DeviceFunction::ncclBroadcast;  // as NCCL has it
  const auto id = static_cast<std::uint32_t>(number);
  std::vector<Issued> alone = {{.comm = id,
                                .stream = record.device.fields[1],
                                .function = function,
                                .nth = calls_[{id, function}]++,
                                .count = record.device.fields[2],
                                .work = std::move(*work)}};
  Thread& thread = nccl_threads_[record.thread];
  if (thread.depth > 0) {
    thread.group.push_back(std::move(alone[0]));
  } else {
    launch(record, alone);
  }
}

std::optional<StreamImporter::Work> StreamImporter::work_of(const TraceRecord& record,
                                                            const NcclFileComm& comm,
                                                            const NcclComm& members) {
  const auto& fields = record.device.fields;
  Work work{.number = stream_operations_};
  const std::uint64_t bytes = bytes_of(record);
  if (shape_of(record) == DeviceShape::kPeer) {
    if (fields[4] < 0 || fields[4] >= comm.size) {
      throw InputError(fmt::format("peer {} in a communicator of {} ranks", fields[4], comm.size));
    }
    work.op = {.kind = record.device.function == DeviceFunction::ncclSend ? OpKind::kSend : OpKind::kRecv,
               .cpu = 0,
               .peer = members.members[static_cast<std::size_t>(fields[4])],
               .comm = members.graph_number,
               .value = bytes};
    return work;
  }
  if (comm.size == 1) {
    notes_.add(NcclNote::kAlone);
    return std::nullopt;
  }
  work.is_collective = true;
  Collective& collective = work.collective;
  collective.kind = kind_of(record.device.function);
  collective.comm = members.graph_number;
  collective.bytes = bytes;
  if (is_reduction(collective.kind)) collective.element_bytes = trace::nccl_type_bytes(fields[3]);
  if (has_root(collective.kind)) {
    if (fields[5] < 0 || fields[5] >= comm.size) {
      throw InputError(fmt::format("root {} in a communicator of {} ranks", fields[5], comm.size));
    }
    collective.root = static_cast<std::uint32_t>(fields[5]);
  }
  return work;
}

// What NCCL chose is known when the operation is launched.
void StreamImporter::set_choice(const Issued& issued, Collective& collective) {
  const NcclChoice* choice =
      with_choices_ ? choices_.find(issued.comm, issued.function, issued.nth) : nullptr;
  if (choice == nullptr) return;
  if (choice->count != issued.count) {
    notes_.add(NcclNote::kChoicesUnmatched);
    return;
  }
  collective.algorithm = algorithm_text(*choice, collective.kind);
  notes_.add(collective.algorithm.empty() ? NcclNote::kChoicesWithoutModel : NcclNote::kChoices);
}

void StreamImporter::launch(const TraceRecord& record, std::vector<Issued>& group) {
  std::vector<std::uint32_t> comms;
  for (const Issued& issued : group) {
    if (std::find(comms.begin(), comms.end(), issued.comm) == comms.end()) comms.push_back(issued.comm);
  }
  for (const std::uint32_t comm : comms) launch_on(record, group, comm);
  group.clear();
}

// One communicator's part of a group: it begins when all of its streams have come there, messages run
// together, collectives one after the other, and its streams go on when all is done.
void StreamImporter::launch_on(const TraceRecord& record, std::span<const Issued> group, std::uint32_t comm) {
  std::vector<std::int64_t> numbers;
  Tail begin;
  for (const Issued& issued : group) {
    if (issued.comm != comm || std::find(numbers.begin(), numbers.end(), issued.stream) != numbers.end())
      continue;
    const Tail tail = tail_of(stream(issued.stream));
    if (numbers.empty()) begin.capture = tail.capture;
    if (begin.capture == tail.capture) append(begin.ops, tail.ops);
    numbers.push_back(issued.stream);
  }
  const auto parts =
      std::count_if(group.begin(), group.end(), [&](const Issued& i) { return i.comm == comm; });
  const std::uint16_t cpu = stream(numbers[0]).cpu;
  if (parts > 1) collapse(record, cpu, begin);
  Tail end{{}, begin.capture}, previous = begin;
  bool any_collective = false;
  for (const Issued& issued : group) {
    if (issued.comm != comm) continue;
    if (!issued.work.is_collective) {
      end.ops.push_back(put(record, issued.work, begin));
      continue;
    }
    Work work = issued.work;
    set_choice(issued, work.collective);
    previous.ops = {put(record, work, previous)};
    any_collective = true;
  }
  if (any_collective) append(end.ops, previous.ops);
  collapse(record, cpu, end);
  for (const std::int64_t number : numbers) stream(number).tail = end;
}

}  // namespace weft::goal
