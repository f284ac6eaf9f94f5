// The command line of weft, a word a line: what it says of words that it can't take. Nothing is done.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tools/weft/cli/command.h"
#include "tools/weft/cli/list.h"
#include "tools/weft/goal/goal.h"
#include "tools/weft/goal/import.h"
#include "tools/weft/run/sim.h"
#include "tools/weft/topo/topo.h"

using namespace weft;

namespace {

// What is written to a standard stream while it lives.
class Captured {
 public:
  explicit Captured(std::FILE*& stream) : stream_(stream), before_(stream) {
    stream = open_memstream(&text_, &size_);
  }
  ~Captured() {
    std::fclose(stream_);
    stream_ = before_;
    std::free(text_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string text() const {
    std::fflush(stream_);
    return {text_, size_};
  }

 private:
  std::FILE*& stream_;
  std::FILE* before_;
  char* text_ = nullptr;
  std::size_t size_ = 0;
};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found = {"weft"};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view word = text.substr(0, end);
    found.emplace_back(word.substr(0, word.find('\0')));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> given = words(fuzz::text_of(data, size));
  std::vector<char*> arguments;
  for (std::string& word : given) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  cli::CommandLine line("weft", "", "1");
  cli::Command root = line.root();
  int exit_code = 0;
  for (const cli::Subcommand& subcommand : {cli::Subcommand{"import", "", cli::add_import},
                                            {"goal", "", cli::add_goal},
                                            {"sim", "", cli::add_sim},
                                            {"topo", "", cli::add_topo},
                                            {"list", "", cli::add_list},
                                            {"describe", "", cli::add_describe}}) {
    cli::Command added = root.add_subcommand(subcommand.name, subcommand.summary);
    subcommand.add(added, exit_code);
  }
  line.read_only();
  Captured out(stdout), errors(stderr);
  const bool understood = line.run(static_cast<int>(given.size()), arguments.data());
  const std::string message = errors.text();
  fuzz::require(understood == message.empty(), "a refusal without a message");
  if (understood) return 0;
  fuzz::check_message(message);
  for (const char& c : message) {
    const bool ends = &c == &message.back();
    fuzz::require(ends ? c == '\n' : static_cast<unsigned char>(c) >= 0x20, "a message of several lines");
  }
  return 0;
}
