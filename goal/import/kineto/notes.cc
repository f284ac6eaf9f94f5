#include "goal/import/kineto/notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/units/printable.h"

namespace weft::goal {
namespace {

struct Text {
  KinetoNote note;
  const char* name;
  Severity severity;
  const char* sentence;
};

constexpr const char* kAssumedRanksText =
    "Profiles whose ranks are taken in the order of their files' names, as neither distributedInfo nor a "
    "name "
    "like rank3.json says which is which.";

constexpr Text kTexts[] = {
    {KinetoNote::kUnexplainedGpuIdleNs, "unexplained_gpu_idle_ns", Severity::kInfo,
     "Nanoseconds that GPU streams were idle though no recorded dependency held them up (launch latency, "
     "mostly); replayed as they are."},
    {KinetoNote::kKernelsWithoutLaunch, "kernels_without_launch", Severity::kInfo,
     "GPU operations whose launch is not in the profile; they wait for their stream only."},
    {KinetoNote::kKernelsBeforeLaunch, "kernels_before_their_launch", Severity::kInfo,
     "GPU operations that began before their launch by the clocks recorded; they don't wait for it."},
    {KinetoNote::kInferredStreamWaits, "inferred_stream_waits", Severity::kInfo,
     "Waits of one stream for another, taken from the order of launches as the profile does not name the "
     "streams."},
    {KinetoNote::kRecordedStreamWaits, "recorded_stream_waits", Severity::kInfo,
     "Waits of one stream for another, as the profile names them."},
    {KinetoNote::kThreadWaits, "thread_waits", Severity::kInfo,
     "Pauses of a thread that count as waiting for another thread, which finished something meanwhile."},
    {KinetoNote::kUnknownSize, "communication_of_unknown_size", Severity::kWarning,
     "Collectives and messages whose bytes the profile does not tell; the time they took counts as compute."},
    {KinetoNote::kUnknownCalls, "unknown_calls", Severity::kWarning,
     "Calls of communication whose names say nothing to weft; the time they took counts as compute."},
    {KinetoNote::kUnfitSizes, "sizes_that_do_not_fit", Severity::kWarning,
     "Collectives whose ranks have equal shares, which don't add up to the whole, or all-to-alls whose "
     "splits don't divide it; the shares were taken."},
    {KinetoNote::kCallsWithoutKernel, "calls_without_kernel", Severity::kWarning,
     "Collectives and messages that were asked for and for which the profile has no kernel; they are left "
     "out."},
    {KinetoNote::kContinuedKernels, "continued_kernels", Severity::kInfo,
     "Kernels that go on with a collective that another kernel began; the replay has it once."},
    {KinetoNote::kOtherCommunication, "communication_in_other_kernels", Severity::kWarning,
     "Kernels whose names say that they communicate without NCCL or RCCL, of which a profile tells neither "
     "sizes nor ranks; the time they took, waiting included, counts as compute."},
    {KinetoNote::kUnfitMessages, "messages_that_do_not_fit", Severity::kWarning,
     "Pairs of ranks whose messages, in order, are sent with other sizes than they are received with; each "
     "side's were taken."},
    {KinetoNote::kUnknownTypes, "unknown_types", Severity::kWarning,
     "Calls on elements of a type that is not known; 4 bytes an element were taken."},
    {KinetoNote::kAssumedRoots, "assumed_roots", Severity::kInfo,
     "Collectives whose root the profile does not name; the group's first rank was taken."},
    {KinetoNote::kAssumedGroups, "assumed_groups", Severity::kWarning,
     "Calls whose process group the profile does not name; all ranks were taken."},
    {KinetoNote::kCutSplits, "cut_splits", Severity::kWarning,
     "All-to-alls of whose sizes the profile keeps the first only; all were taken as equal."},
    {KinetoNote::kBrokenEvents, "broken_events", Severity::kWarning,
     "Events without a proper time, left out."},
    {KinetoNote::kCutOff, "communication_without_partner", Severity::kWarning,
     "Collectives and messages at the ends of the profile that other ranks' profiles lack; the time they "
     "took "
     "counts as compute."},
    {KinetoNote::kMessagesWithoutPeer, "messages_without_peer", Severity::kWarning,
     "Messages whose other end the profile does not name; the time they took counts as compute."},
    {KinetoNote::kCopiedRanks, "copied_ranks", Severity::kWarning,
     "Ranks without a profile, which do what another rank did."},
    {KinetoNote::kOtherEvents, "other_events", Severity::kInfo,
     "Events that say nothing of time or communication of their own: annotations, Python frames, counters."},
    {KinetoNote::kJoinedCalls, "calls_of_execution_trace", Severity::kInfo,
     "Communication calls whose sizes, groups and roots are those of the execution trace."},
    {KinetoNote::kCallsNotJoined, "calls_without_execution_trace", Severity::kWarning,
     "Communication calls that the execution trace lacks (by rf_id), or has another one for; the profile's "
     "own "
     "words hold."},
    {KinetoNote::kAssumedSplits, "assumed_splits", Severity::kWarning,
     "All-to-alls of which only the whole size is recorded, not what each rank gets; equal shares were "
     "taken."},
    {KinetoNote::kRanksOfNames, "ranks_of_names", Severity::kInfo,
     "Profiles whose distributedInfo says no rank; the number in the file's name was taken."},
    {KinetoNote::kUnfitGroups, "sizes_of_groups_that_do_not_fit", Severity::kWarning,
     "Calls whose group has another size than the number of its ranks that they name; the ranks were taken."},
    {KinetoNote::kOtherSchemas, "other_schemas", Severity::kWarning,
     "Profiles of a schemaVersion that weft does not know; they are read as those of version 1."},
    {KinetoNote::kAssumedRanks, "assumed_ranks", Severity::kInfo, kAssumedRanksText},
    {KinetoNote::kAssumedRanksOfMessages, "assumed_ranks", Severity::kWarning, kAssumedRanksText},
};

constexpr std::size_t kMostNames = 4;

}  // namespace

void KinetoNotes::name(KinetoNote note, std::string_view what) {
  std::vector<std::string>& names = names_[static_cast<std::size_t>(note)];
  std::string text = printable(std::string(what));
  if (names.size() > kMostNames || std::ranges::find(names, text) != names.end()) return;
  names.push_back(names.size() < kMostNames ? std::move(text) : "…");
}

void KinetoNotes::report(PackInfo& info) const {
  for (const Text& text : kTexts) {
    if (count(text.note) == 0) continue;
    std::string sentence = text.sentence;
    const std::vector<std::string>& names = names_[static_cast<std::size_t>(text.note)];
    if (!names.empty()) {
      sentence.pop_back();
      sentence += fmt::format(" ({}).", fmt::join(names, ", "));
    }
    info.anomalies.push_back({text.name, text.severity, std::move(sentence), count(text.note)});
  }
}

}  // namespace weft::goal
