#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/export/trace_writer.h"

namespace weft::tools {
namespace {

class ChromeWriter final : public TraceWriter {
 public:
  explicit ChromeWriter(const std::string& path) : file_(path, PartFile::Special::kWrite) {
    file_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  }

  void group(std::uint32_t number, const std::string& name) override {
    add(fmt::format(R"("ph":"M","name":"process_name","pid":{},"args":{{"name":{}}})", number + 1,
                    quoted(name)));
  }

  void track(std::uint32_t number, std::uint32_t group, Track kind, const std::string& name) override {
    if (tracks_.size() <= number) tracks_.resize(number + 1);
    tracks_[number] = {group + 1, kind, name};
    if (kind != Track::kCpu) return;
    add(fmt::format(R"("ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}})", group + 1,
                    number, quoted(name)));
    add(fmt::format(R"("ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}})",
                    group + 1, number, number));
  }

  void slice(std::uint32_t track, const TraceSlice& slice) override {
    const OfTrack& of = tracks_[track];
    std::string arguments;
    for (const TraceArgument& argument : slice.arguments) {
      fmt::format_to(std::back_inserter(arguments), "{}\"{}\":{}", arguments.empty() ? "" : ",",
                     argument.name, argument.value);
    }
    const std::string name = quoted(std::string(slice.name));
    if (of.kind == Track::kMessages) {  // they overlap
      const std::string who =
          fmt::format(R"("cat":"message","id":{},"name":{},"pid":{})", slice.arrow.number, name, of.pid);
      add(fmt::format(R"("ph":"b","ts":{},{},"args":{{{}}})", microseconds(slice.start), who, arguments));
      return add(fmt::format(R"("ph":"e","ts":{},{})", microseconds(slice.end), who));
    }
    add(fmt::format(R"("ph":"X","ts":{},"dur":{},"name":{},"pid":{},"tid":{},"args":{{{}}})",
                    microseconds(slice.start), microseconds(slice.end - slice.start), name, of.pid, track,
                    arguments));
    if (slice.arrow.part == TraceArrow::Part::kNone) return;
    const bool first = slice.arrow.part == TraceArrow::Part::kFirst;
    add(fmt::format(R"("ph":"{}","cat":"arrow","name":"message","id":{},"ts":{},"pid":{},"tid":{})",
                    first ? R"(s)" : R"(f","bp":"e)", slice.arrow.number, microseconds(slice.start), of.pid,
                    track));
  }

  void counter(std::uint32_t track, Time time, double value) override {
    const OfTrack& of = tracks_[track];
    add(fmt::format(R"("ph":"C","ts":{},"name":{},"pid":{},"args":{{"value":{}}})", microseconds(time),
                    quoted(of.name), of.pid, value));
  }

  void finish() override {
    file_.write("\n]}\n");
    file_.close();
  }

 private:
  struct OfTrack {
    std::uint32_t pid = 0;
    Track kind = Track::kCpu;
    std::string name;
  };

  static std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  static std::string microseconds(Time time) {
    return fmt::format("{}.{:06}", time.ps() / 1'000'000, time.ps() % 1'000'000);
  }
  void add(const std::string& event) {
    file_.write(is_first_ ? "\n{" : ",\n{");
    file_.write(event);
    file_.write("}");
    is_first_ = false;
  }

  results::OutputFile file_;
  std::vector<OfTrack> tracks_;
  bool is_first_ = true;
};

}  // namespace

std::unique_ptr<TraceWriter> make_chrome_writer(const std::string& path) {
  return std::make_unique<ChromeWriter>(path);
}

}  // namespace weft::tools
