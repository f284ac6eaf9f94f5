#include "tools/sweep/plan.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <set>
#include <system_error>

#include "sim/units/brackets.h"
#include "sim/units/input_error.h"
#include "tools/sweep/sweep.pb.h"

namespace weft::sweep {
namespace {

class FirstParseError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& text) override {
    if (!message.empty()) return;
    at.line = line + 1;
    at.column = column + 1;
    message = text;
  }
  SourceLocation at;
  std::string message;
};

Axis axis_of(const pb::Vary& vary) { return {vary.field(), {vary.value().begin(), vary.value().end()}}; }

std::uint64_t seed_of(std::string_view text, std::string_view all) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  throw InputError(fmt::format("seeds are '{}', but must be whole numbers and ranges, like 1..5,9", all));
}

}  // namespace

bool is_plan(std::string_view text) {
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return false;
    text.remove_prefix(begin);
    if (text.front() != '#') break;
    const std::size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end);
  }
  constexpr std::string_view kWord = "sweep";
  if (!text.starts_with(kWord)) return false;
  const std::size_t next = text.find_first_not_of(" \t\r\n:", kWord.size());
  return next != std::string_view::npos && text[next] == '{';
}

Plan read_plan(std::string_view text, const std::string& file) {
  google::protobuf::TextFormat::Parser parser;
  FirstParseError error;
  parser.RecordErrorsTo(&error);
  pb::File parsed;
  if (!parser.ParseFromString(std::string(text), &parsed)) {
    error.at.file = file;
    throw InputError(error.at, error.message);
  }
  const pb::Sweep& given = parsed.sweep();
  Plan plan{.scenario = given.scenario(),
            .plugins = {given.plugin().begin(), given.plugin().end()},
            .sets = {given.set().begin(), given.set().end()},
            .groups = {},
            .seeds = given.seeds(),
            .prices = given.prices(),
            .file = file};
  for (const pb::Vary& vary : given.vary()) plan.groups.push_back({axis_of(vary)});
  for (const pb::Zip& zip : given.zip()) {
    plan.groups.emplace_back();
    for (const pb::Vary& vary : zip.vary()) plan.groups.back().push_back(axis_of(vary));
  }
  if (given.has_until_ci()) plan.until_ci = parse_share(given.until_ci());
  return plan;
}

PlanFolder::PlanFolder(const Plan& plan) : folder_(std::filesystem::path(plan.file).parent_path().string()) {
  for (const std::string& set : plan.sets) texts_ += set + '\n';
  for (const std::vector<Axis>& group : plan.groups) {
    for (const Axis& axis : group) {
      for (const std::string& value : axis.values) texts_ += value + '\n';
    }
  }
}

std::string PlanFolder::find(const std::string& path) {
  if (folder_.empty() || path.empty() || std::filesystem::path(path).is_absolute()) return path;
  const std::string beside = (std::filesystem::path(folder_) / path).string();
  std::error_code error;
  if (!std::filesystem::exists(beside, error)) return path;
  const bool two = std::filesystem::exists(path, error) && !std::filesystem::equivalent(beside, path, error);
  if (two && std::find(known_.begin(), known_.end(), path) == known_.end()) {
    known_.push_back(path);
    guesses_.push_back(
        fmt::format("{} is taken, which is beside the file of the sweep; there is a {} in the "
                    "working folder too, which its absolute path would name",
                    beside, path));
  }
  return beside;
}

bool PlanFolder::names(const std::string& path) const {
  const auto is_of_name = [&](std::size_t at) {
    return at < texts_.size() && (std::isalnum(static_cast<unsigned char>(texts_[at])) != 0 ||
                                  std::string_view("._-/").find(texts_[at]) != std::string_view::npos);
  };
  for (std::size_t at = 0; !path.empty() && (at = texts_.find(path, at)) != std::string::npos; ++at) {
    if ((at == 0 || !is_of_name(at - 1)) && !is_of_name(at + path.size())) return true;
  }
  return false;
}

Axis parse_axis(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    throw InputError(
        fmt::format("'{}' is no list of values; expected FIELD=V1,V2, like routing=ecmp,spray "
                    "or topology=[fat_tree:k=4,link=100Gbps],torus:dims=4x4",
                    text));
  }
  Axis axis{.field = std::string(text.substr(0, equals)), .values = {}};
  for (const std::string_view value : split_outside_brackets(text.substr(equals + 1), ',')) {
    axis.values.emplace_back(without_brackets(value));
  }
  return axis;
}

std::vector<Axis> parse_zip(std::string_view text) {
  std::vector<Axis> axes;
  for (const std::string_view part : split_outside_brackets(text, ';')) axes.push_back(parse_axis(part));
  return axes;
}

std::vector<std::uint64_t> parse_seeds(std::string_view text) {
  std::vector<std::uint64_t> seeds;
  for (const std::string_view part : split_outside_brackets(text, ',')) {
    const std::size_t dots = part.find("..");
    const std::uint64_t first = seed_of(part.substr(0, dots), text);
    const std::uint64_t last = dots == std::string_view::npos ? first : seed_of(part.substr(dots + 2), text);
    if (last < first || last - first >= kMostPoints) {
      throw InputError(
          fmt::format("seeds are '{}', but a range has its smaller number first, and at most {} "
                      "of them",
                      text, kMostPoints));
    }
    for (std::uint64_t seed = first;; ++seed) {
      if (std::find(seeds.begin(), seeds.end(), seed) == seeds.end()) seeds.push_back(seed);
      if (seed == last) break;
    }
  }
  return seeds;
}

double parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::string_view number = text.substr(0, text.size() - (percent ? 1 : 0));
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (percent) value /= 100;
  if (error != std::errc() || end != number.data() + number.size() || !(value > 0 && value < 1)) {
    throw InputError(
        fmt::format("the width of the interval is '{}', but must be a share, like 2% or 0.02", text));
  }
  return value;
}

namespace {

// One run done twice would pass for two, whose interval has no width.
void check_repeats(const std::vector<Axis>& group) {
  std::set<std::vector<std::string>> known;
  for (std::size_t i = 0; i < group[0].values.size(); ++i) {
    std::vector<std::string> values;
    for (const Axis& axis : group) values.push_back(axis.values[i]);
    if (known.insert(values).second) continue;
    throw InputError(fmt::format("'{}' has the value '{}' twice; seeds repeat a run: --seeds 1..5",
                                 group[0].field, group[0].values[i]));
  }
}

}  // namespace

void check_groups(const std::vector<std::vector<Axis>>& groups) {
  std::set<std::string> known;
  double points = 1;
  for (const std::vector<Axis>& group : groups) {
    for (const Axis& axis : group) {
      if (axis.field == "seed") throw InputError("seeds are varied by seeds, not as a field: --seeds 1..5");
      if (axis.field == "output.directory")
        throw InputError("output.directory can't be varied: every run has a folder in the sweep's (-o)");
      if (!known.insert(axis.field).second) throw InputError(fmt::format("'{}' is varied twice", axis.field));
      if (axis.values.empty()) throw InputError(fmt::format("'{}' is varied, but has no values", axis.field));
      if (axis.values.size() != group[0].values.size()) {
        throw InputError(fmt::format("'{}' and '{}' go together, but have {} and {} values", group[0].field,
                                     axis.field, group[0].values.size(), axis.values.size()));
      }
    }
    if (group.empty()) throw InputError("a zip has no fields");
    check_repeats(group);
    points *= static_cast<double>(group[0].values.size());
  }
  if (points > kMostPoints) {
    throw InputError(fmt::format("these are {:.0f} points; {} are the most", points, kMostPoints));
  }
}

std::vector<std::string> fields_of(const std::vector<std::vector<Axis>>& groups) {
  std::vector<std::string> fields;
  for (const auto& group : groups) {
    for (const Axis& axis : group) fields.push_back(axis.field);
  }
  return fields;
}

std::vector<std::vector<std::string>> combinations_of(const std::vector<std::vector<Axis>>& groups) {
  std::vector<std::vector<std::string>> all = {{}};
  for (const auto& group : groups) {
    std::vector<std::vector<std::string>> longer;
    for (const auto& before : all) {
      for (std::size_t i = 0; i < group[0].values.size(); ++i) {
        longer.push_back(before);
        for (const Axis& axis : group) longer.back().push_back(axis.values[i]);
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace weft::sweep
