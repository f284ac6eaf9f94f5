#include "goal/import/nccl/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "goal/import/mpi/communicators.h"
#include "goal/import/mpi/importer.h"
#include "goal/import/mpi/notes.h"
#include "goal/import/mpi/rank_importer.h"
#include "goal/import/mpi/trace_files.h"
#include "goal/import/mpi/trace_reader.h"
#include "goal/import/nccl/notes.h"
#include "goal/import/nccl/streams.h"
#include "goal/import/nccl/world.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;

// What is the same for all ranks, and what is known of the run as a whole.
struct Run {
  const NcclImportOptions& options;
  NcclWorld& world;
  const std::vector<fs::path>& mpi_files;  // by rank; empty without MPI
  CommunicatorTable& communicators;
  OneSidedTraffic& traffic;
  ImportNotes& notes;
  NcclNotes& nccl_notes;
  std::string mpi_library;
  std::uint64_t elapsed_ns = 0;
};

// Reads one of the two files of a process, one record ahead.
class Source {
 public:
  explicit Source(const fs::path& path) : reader_(path.string()) { advance(); }
  bool has() const { return has_; }
  TraceRecord& record() { return record_; }
  void advance() { has_ = reader_.next(record_); }
  const TraceReader& reader() const { return reader_; }

 private:
  TraceReader reader_;
  TraceRecord record_;
  bool has_ = false;
};

std::uint32_t threads_in(const fs::path& path) {
  TraceReader reader(path.string());
  TraceRecord record;
  std::uint32_t threads = 1;
  while (reader.next(record)) threads = std::max(threads, record.thread + 1);
  return threads;
}

void count_others(const TraceReader& reader, ImportNotes& notes, RankImporter& threads) {
  for (const TraceCounter& counter : reader.counters()) {
    if (counter.call_class == trace::CallClass::kLocal) {
      notes.local_calls += counter.calls;
    } else {
      threads.add(counter);
    }
  }
}

void check_whole(const TraceReader& reader, const fs::path& path, Run& run) {
  if (!reader.complete() && !run.options.partial) {
    throw InputError({path.string()},
                     fmt::format("the trace of rank {} is {}; --partial takes each rank up to "
                                 "where its trace ends",
                                 reader.header().rank, reader.status()));
  }
  if (!reader.complete()) run.notes.add(Note::kTruncatedRanks);
  if (reader.complete() && reader.end() != trace::End::kFinalize) run.notes.add(Note::kRanksWithoutFinalize);
}

// One rank: its MPI calls, its NCCL calls, or both, in the order in which they returned.
class RankRun {
 public:
  RankRun(Rank rank, Run& run)
      : run_(run),
        threads_(MpiImportOptions{.partial = run.options.partial}, rank, run.world.ranks(), run.communicators,
                 run.traffic, run.notes) {
    if (!run.mpi_files.empty()) {
      mpi_path_ = run.mpi_files[rank];
      mpi_ = std::make_unique<Source>(mpi_path_);
      run.mpi_library = mpi_->reader().header().mpi_library;
    }
    const NcclGpu* gpu = run.world.gpu(rank);
    if (gpu == nullptr) return;
    const NcclFile& file = run.world.files()[gpu->file];
    nccl_path_ = file.path;
    nccl_ = std::make_unique<Source>(nccl_path_);
    // The first thread is MPI's first too; NCCL's others are others than MPI's.
    const std::uint32_t mpi_threads = mpi_ != nullptr ? threads_in(mpi_path_) : 1;
    other_threads_ = mpi_threads - 1;
    const std::uint32_t streams_from = mpi_threads + file.threads - 1;
    if (streams_from > 0xFFFF) throw InputError({nccl_path_.string()}, "more than 65536 threads");
    streams_ = std::make_unique<StreamImporter>(run.world, rank, static_cast<std::uint16_t>(streams_from),
                                                !run.options.ignore_choices, threads_, run.nccl_notes);
  }

  void import(GraphBuilder& builder) {
    while ((mpi_ && mpi_->has()) || (nccl_ && nccl_->has())) {
      const bool mpi_next = mpi_ && mpi_->has() &&
                            (!nccl_ || !nccl_->has() || mpi_->record().leave_ns <= nccl_->record().leave_ns);
      if (mpi_next) {
        add_mpi();
      } else {
        add_nccl();
      }
    }
    if (mpi_) {
      check_whole(mpi_->reader(), mpi_path_, run_);
      count_others(mpi_->reader(), run_.notes, threads_);
      run_.elapsed_ns = std::max(run_.elapsed_ns, threads_.elapsed_ns());
    }
    if (nccl_) {
      streams_->finish();
      count_others(nccl_->reader(), run_.notes, threads_);
      if (!nccl_->reader().complete()) run_.nccl_notes.add(NcclNote::kIncompleteProcesses);
      if (!mpi_) run_.elapsed_ns = std::max(run_.elapsed_ns, last_ns_ - first_ns_);
    }
    threads_.finish(builder);
  }

 private:
  template <typename Add>
  void add(const Source& source, const fs::path& path, const TraceRecord& record, Add add_it) {
    try {
      add_it();
    } catch (const InputError& error) {
      throw InputError({path.string()}, fmt::format("call {}, {}: {}", source.reader().records(),
                                                    record.function_name(), error.what()));
    }
  }
  void add_mpi() {
    const TraceRecord& record = mpi_->record();
    add(*mpi_, mpi_path_, record, [&] { threads_.add(record, mpi_->reader().communicators()); });
    mpi_->advance();
  }
  void add_nccl() {
    TraceRecord& record = nccl_->record();
    if (record.function == trace::Function::kDevice) {
      if (first_ns_ == 0) first_ns_ = record.leave_ns;
      last_ns_ = std::max({last_ns_, first_ns_, record.leave_ns});
      if (record.thread > 0) record.thread += other_threads_;
      ++run_.notes.not_replayed.all_calls;
      add(*nccl_, nccl_path_, record, [&] { streams_->add(record); });
    }
    nccl_->advance();
  }

  Run& run_;
  RankImporter threads_;
  fs::path mpi_path_, nccl_path_;
  std::unique_ptr<Source> mpi_, nccl_;
  std::unique_ptr<StreamImporter> streams_;
  std::uint32_t other_threads_ = 0;
  std::uint64_t first_ns_ = 0, last_ns_ = 0;
};

void describe(const Run& run, PackInfo& info) {
  std::set<std::string> hosts, programs, libraries;
  for (const NcclFile& file : run.world.files()) {
    hosts.insert(file.header.host);
    programs.insert(file.header.program);
    libraries.insert(file.header.mpi_library);
  }
  info.metadata["source"] = run.mpi_files.empty() ? "NCCL trace" : "MPI and NCCL trace";
  info.metadata["application"] = fmt::format("{}", fmt::join(programs, ", "));
  info.metadata["nccl_library"] = fmt::format("{}", fmt::join(libraries, ", "));
  if (!run.mpi_library.empty()) info.metadata["mpi_library"] = run.mpi_library;
  info.metadata["hosts"] = std::to_string(hosts.size());
  info.metadata["processes"] = std::to_string(run.world.files().size());
  info.metadata["traced_elapsed_ns"] = std::to_string(run.elapsed_ns);
  run.nccl_notes.report(info);
  report_notes(run.notes, info);
  explain_left_out(info);
}

}  // namespace

Graph import_nccl(const fs::path& directory, const NcclImportOptions& options, PackInfo* info) {
  std::vector<fs::path> mpi_files;
  if (!trace_files(directory, kMpiTraces).empty()) mpi_files = mpi_rank_files(directory);
  NcclWorld world(directory, static_cast<Rank>(mpi_files.size()), options.partial);
  GraphBuilder builder;
  world.add_communicators(builder);
  CommunicatorTable communicators(builder, world.ranks());
  ImportNotes notes;
  NcclNotes nccl_notes;
  OneSidedTraffic traffic = one_sided_traffic(mpi_files);
  Run run{options, world, mpi_files, communicators, traffic, notes, nccl_notes, {}, 0};
  for (Rank rank = 0; rank < world.ranks(); ++rank) {
    communicators.begin_rank();
    RankRun(rank, run).import(builder);
  }
  if (info != nullptr) describe(run, *info);
  return builder.finish();
}

Importer nccl_importer() {
  return {
      .info =
          {.name = "nccl",
           .summary =
               "Traces of a program that uses NCCL, as 'weft trace' writes them, with its MPI calls if "
               "it makes any.",
           .source = "tracer/format/README.md",
           .parameters =
               {{"partial", ParameterType::kBoolean, "false",
                 "Take processes whose trace was cut, each up to where it ends, and leave out communicators "
                 "that lack members."},
                {"ignore_choices", ParameterType::kBoolean, "false",
                 "Leave out the algorithms that NCCL chose, and leave them to the scenario."}}},
      .looks_like = "a folder with files nccl-*.wtrc",
      .span = "in NCCL's and CUDA's calls, with MPI from MPI_Init to MPI_Finalize",
      .sniff = [](const fs::path& path) { return !trace_files(path, kNcclTraces).empty(); },
      .import =
          [](const fs::path& path, const Parameters& parameters, PackInfo& info) {
            return import_nccl(path,
                               {.partial = parameters.boolean("partial"),
                                .ignore_choices = parameters.boolean("ignore_choices")},
                               &info);
          }};
}

}  // namespace weft::goal
