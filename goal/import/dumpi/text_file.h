// Reads what dumpi2ascii prints of the DUMPI file of one rank.
//
// Source: SST DUMPI 1.0 (Sandia National Laboratories): what its program dumpi2ascii prints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "goal/file.h"
#include "goal/import/dumpi/arguments.h"
#include "goal/import/mpi_calls/call.h"

namespace weft::goal {

// Is this the begin of such a text?
bool looks_like_dumpi_text(std::string_view head);

class DumpiTextFile : public CallSource {
 public:
  // Throws InputError if the file can't be read. `notes` gets what is met.
  DumpiTextFile(const std::string& path, Rank world_size, DumpiNotes& notes);

  bool next(MpiCall& call) override;
  SourceLocation location() const override { return place(record_at_); }

 private:
  struct Times {
    std::uint64_t wall = 0, cpu = 0;
    std::uint32_t thread = 0;
  };

  void read_sizes();
  void read_call(MpiCall& call, std::string_view name);
  Times read_times();
  void set_times(MpiCall& call, const Times& start, const Times& stop);
  // One line, or as many as it has. `number`: the function's.
  void read_argument(MpiCall& call, std::size_t number);
  void read_array(MpiCall& call, char what);
  void read_statuses();

  std::string_view line() const { return text_.substr(at_, text_.find('\n', at_) - at_); }
  void skip_line();
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool skip(std::string_view word);
  void expect(std::string_view word);
  std::int64_t number(const char* expected);
  std::uint64_t nanoseconds();
  SourceLocation place(std::size_t at) const;
  [[noreturn]] void fail(const std::string& expected) const;

  std::string path_;
  FileView file_;
  const std::string_view text_;
  DumpiNotes& notes_;
  DumpiArguments arguments_;
  std::size_t at_ = 0;
  std::size_t record_at_ = 0;
  bool ended_ = false;
};

}  // namespace weft::goal
