// Reads the text file of one rank that liballprof wrote: a line a call, "MPI_Send:BEGIN:argument:…:END".
//
// Source: liballprof, of the LogGOPSim tool chain: T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim –
// Simulating Large-Scale Applications in the LogGOPS Model", HPDC 2010.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "goal/file.h"
#include "goal/import/liballprof/signatures.h"
#include "goal/import/mpi_calls/call.h"

namespace weft::goal {

// What a rank's file has that calls can't say.
struct AllprofNotes {
  std::uint64_t unknown_outcomes = 0;     // Waitany, Waitsome, Test… and Iprobe
  std::uint64_t implied_completions = 0;  // requests that were used again without a Wait
  std::uint64_t cut_lines = 0;            // a last line without an end
  std::uint64_t without_finalize = 0;     // ranks
};

class AllprofRankFile : public CallSource {
 public:
  // `request_bytes` is the size of MPI_Request, which tells which requests an array holds; 0: that of the MPI
  // library that the handles of communicators look like. Throws InputError if the file can't be read.
  AllprofRankFile(const std::string& path, std::uint32_t request_bytes, AllprofNotes& notes);

  bool next(MpiCall& call) override;
  SourceLocation location() const override { return {path_, line_number_}; }

 private:
  bool next_line();
  void read_call(MpiCall& call);
  void read_times(MpiCall& call);
  void read_arguments(MpiCall& call, const AllprofSignature& signature);
  void read_argument(MpiCall& call, char what, std::size_t& field);
  void read_communicator(MpiCall& call, std::string_view text);
  std::uint64_t type_size(std::string_view text);
  std::vector<std::uint64_t> numbers(std::string_view text);
  void finish_call(MpiCall& call);
  void finish_completions(MpiCall& call);
  std::uint64_t whole(std::string_view text, const char* expected);
  std::int64_t signed_whole(std::string_view text, const char* expected);
  std::uint64_t nanoseconds(std::string_view microseconds);
  [[noreturn]] void fail(std::string_view found, const char* expected);

  std::string path_;
  FileView file_;
  std::string_view rest_, line_;
  std::int64_t line_number_ = 0;
  AllprofNotes& notes_;
  std::uint32_t request_bytes_;
  bool mpich_ = false;  // does the library's handles look like MPICH's?
  bool finalized_ = false, ended_ = false;
  std::vector<std::string_view> fields_;
  std::uint64_t request_count_ = 0, request_address_ = 0;  // of the call
  std::unordered_map<std::uint64_t, bool> active_;         // requests by address; true: persistent
  bool held_ = false;                                      // held_call_ comes next
  MpiCall held_call_;
};

// Does a file look like one of liballprof's, by its first bytes?
bool looks_like_allprof(std::string_view head);

}  // namespace weft::goal
