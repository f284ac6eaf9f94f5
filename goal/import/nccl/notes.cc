#include "goal/import/nccl/notes.h"

namespace weft::goal {
namespace {

struct NoteText {
  NcclNote note;
  const char* name;
  Severity severity;
  const char* sentence;
};

constexpr std::array<NoteText, kNcclNotes> kNoteTexts = {{
    {NcclNote::kTimedKernels, "timed_kernels", Severity::kInfo,
     "Kernels, copies and graphs that take the time on their stream that CUDA's events measured."},
    {NcclNote::kUntimedKernels, "untimed_kernels", Severity::kWarning,
     "Kernels, copies and graphs without a GPU time, which take no time: compute is what the CPU did in "
     "between."},
    {NcclNote::kSynchronizeNs, "synchronize_ns", Severity::kInfo,
     "Nanoseconds inside calls that wait for the GPU, left out: the operations waited for stand for them."},
    {NcclNote::kEnqueueNs, "enqueue_ns", Severity::kInfo,
     "Nanoseconds inside calls that put work on streams, which count as compute of the CPU."},
    {NcclNote::kCreations, "nccl_communicator_creations", Severity::kInfo,
     "NCCL communicators made or destroyed; what that takes is left out."},
    {NcclNote::kCreationNs, "nccl_creation_ns", Severity::kInfo, "Nanoseconds inside those calls, left out."},
    {NcclNote::kMeasuredNs, "measured_nccl_ns", Severity::kInfo,
     "Nanoseconds that CUDA's events measured around NCCL's own operations; the replay has times of its "
     "own."},
    {NcclNote::kAlone, "operations_alone", Severity::kInfo,
     "Operations in communicators of one rank, which are nothing between ranks."},
    {NcclNote::kUnknownCommunicator, "unknown_communicator", Severity::kWarning,
     "Operations in communicators whose members are not all known, left out: made before the trace began, by "
     "ncclCommGrow, or without a trace of every member."},
    {NcclNote::kFailedCalls, "failed_nccl_calls", Severity::kWarning,
     "Calls of NCCL or CUDA that returned an error and were left out."},
    {NcclNote::kUnknownStreams, "unknown_streams", Severity::kInfo,
     "Streams of which nobody saw how they were made; taken not to wait for the default stream."},
    {NcclNote::kChoices, "recorded_choices", Severity::kInfo,
     "Collectives with the algorithm, protocol and channels that NCCL's profiler interface told."},
    {NcclNote::kChoicesUnmatched, "unmatched_choices", Severity::kWarning,
     "Choices that NCCL's profiler interface told of another operation than the call in its place; left "
     "out."},
    {NcclNote::kChoicesWithoutModel, "choices_without_model", Severity::kWarning,
     "Collectives with a recorded algorithm that there is no model of (CollNet), or none for this operation "
     "(a "
     "tree of an allgather); the choice is left out."},
    {NcclNote::kUnclosedGroups, "unclosed_groups", Severity::kWarning,
     "Operations in groups whose end was not recorded, left out."},
    {NcclNote::kIncompleteProcesses, "cut_processes", Severity::kWarning,
     "Processes whose trace was cut; operations past that point have no partner."},
    {NcclNote::kSharedThreads, "shared_threads", Severity::kInfo,
     "Threads that drive several GPUs: each GPU's rank has their time, and none waits for another's."},
    {NcclNote::kProfiledOnly, "profiled_only", Severity::kWarning,
     "Operations known from NCCL's profiler interface only: streams, kernels, events and waiting are not "
     "known, and "
     "those of a communicator run one after the other."},
}};

}  // namespace

void NcclNotes::report(PackInfo& info) const {
  for (const NoteText& text : kNoteTexts) {
    if (count(text.note) > 0)
      info.anomalies.push_back({text.name, text.severity, text.sentence, count(text.note)});
  }
}

namespace {

struct Meaning {
  std::string_view start;  // of an anomaly's name
  const char* sentence;
};

constexpr std::array kMeanings = {
    Meaning{"not_replayed_cudalaunchhostfunc",
            " The host's function takes no time on its stream, and what is behind it there does not wait for "
            "it."},
    Meaning{"not_replayed_cudastreamaddcallback",
            " The host's function takes no time on its stream, and what is behind it there does not wait for "
            "it."},
    Meaning{"not_replayed_cudamemcpy3d", " The copy takes no time on its stream."},
    Meaning{"not_replayed_cudamemprefetch", " The copy takes no time on its stream."},
    Meaning{"not_replayed_cudawaitexternal", " The stream goes on at once."},
    Meaning{"not_replayed_cudasignalexternal", " What waits for it, outside of CUDA, is not in the graph."},
    Meaning{"not_replayed_cudagraphexecupdate",
            " Later launches are replayed as the graph was when it was made."},
    Meaning{"not_replayed_cudastreambegincapturetograph",
            " What is captured so is replayed once, as if it were put on its stream at once."},
};

}  // namespace

void explain_left_out(PackInfo& info) {
  for (Anomaly& anomaly : info.anomalies) {
    for (const Meaning& meaning : kMeanings) {
      if (!anomaly.name.starts_with(meaning.start)) continue;
      anomaly.sentence += meaning.sentence;
      break;
    }
  }
}

}  // namespace weft::goal
