#include "tools/sweep/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "sim/results/output_file.h"
#include "sim/results/sha256.h"
#include "sim/units/input_error.h"
#include "sim/units/printable.h"

namespace weft::sweep {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;
constexpr int kVersion = 1;

// These files are written again as a sweep goes on, so they are no inputs in the sense of
// sim/units/used_files.h.
std::optional<std::string> content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// What may stand in the name of a folder, and in a command line without quotes.
std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) ||
                      std::string_view("._=+-").find(c) != std::string_view::npos;
    result += kept ? c : '_';
  }
  return result;
}

constexpr std::string_view kSize = " bytes, changed ";

}  // namespace

std::string input_line(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return "";
  return fmt::format("# {}: {}{}{}.{:09}\n", printable(file), status.st_size, kSize, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

void write_file(const std::string& path, const std::string& text) {
  results::OutputFile file(path);
  file.write(text);
  file.close();
}

Folder::Folder(std::string path, std::vector<std::string> fields)
    : path_(std::move(path)), fields_(std::move(fields)) {
  std::error_code error;
  fs::create_directories(path_ + "/points", error);
  if (error) throw InputError(fmt::format("{}: can't create the folder: {}", path_, error.message()));
  lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(std::exchange(lock_, -1));
    throw InputError(fmt::format("{}: another sweep is at work there", path_));
  }
}

Folder::Folder(Folder&& other) noexcept
    : path_(std::move(other.path_)),
      fields_(std::move(other.fields_)),
      points_(std::move(other.points_)),
      until_ci_(other.until_ci_),
      lock_(std::exchange(other.lock_, -1)),
      done_(std::move(other.done_)) {}

Folder::~Folder() {
  if (lock_ >= 0) close(lock_);
}

Folder Folder::read(const std::string& path) {
  const std::optional<std::string> text = content(path + "/sweep.json");
  if (!text && fs::is_directory(path + "/points")) {
    throw InputError(
        fmt::format("{}: a sweep was begun there, but has not written which runs it has "
                    "(sweep.json) yet",
                    path));
  }
  if (!text) throw InputError(fmt::format("{}: this is no folder of a sweep: it has no sweep.json", path));
  Folder folder;
  folder.path_ = path;
  try {
    const Json json = Json::parse(*text);
    if (json.at("schema_version") != kVersion) throw InputError(path + ": left by another version");
    folder.fields_ = json.at("fields").get<std::vector<std::string>>();
    folder.until_ci_ = json.value("until_ci", 0.0);
    for (const Json& each : json.at("points")) {
      Point point{.values = each.at("values").get<std::vector<std::string>>(),
                  .seed = each.at("seed").get<std::uint64_t>(),
                  .scenario = "",
                  .name = each.at("name").get<std::string>()};
      const bool sound = point.values.size() == folder.fields_.size() && plain(point.name) == point.name;
      if (!sound) throw InputError(path + "/sweep.json: damaged");
      point.threads = each.value("threads", point.threads);
      if (each.contains("price")) point.price = each["price"].get<double>();
      if (each.contains("watts")) point.watts = each["watts"].get<double>();
      folder.points_.push_back(std::move(point));
    }
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}/sweep.json: damaged: {}", path, error.what()));
  }
  return folder;
}

std::string Folder::name_of(const Point& point) const {
  constexpr std::size_t kMostBytes = 100;
  std::string name;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::string& field = fields_[i];
    name += plain(field.substr(field.rfind('.') + 1) + "=" + point.values[i]) + "_";
  }
  // Where letters were lost, or a value could be taken for two, what the values were is told by a hash.
  std::string exact;
  bool lost = name.size() > kMostBytes;
  for (const std::string& value : point.values) {
    exact += value + '\n';
    lost = lost || plain(value) != value || value.find('=') != std::string::npos;
  }
  const std::string seed = fmt::format("seed={}", point.seed);
  if (!lost) return name + seed;
  results::Sha256 hash;
  hash.add(exact);
  return name.substr(0, kMostBytes) + hash.finish().substr(0, 8) + "_" + seed;
}

std::string Folder::others(Point point) const {
  point.name = name_of(point);
  const std::optional<std::string> there = content(scenario_file(point));
  return there && *there != point.scenario ? point.name : "";
}

void Folder::add(Point point) {
  point.name = name_of(point);
  if (content(scenario_file(point)) != point.scenario) {
    // In this order: what a kill leaves in between is a point that is not done.
    std::error_code ignored;
    fs::remove(run_folder(point) + "/summary.json", ignored);
    write_file(scenario_file(point), point.scenario);
  }
  points_.push_back(std::move(point));
}

void Folder::save() const {
  Json points = Json::array();
  for (const Point& point : points_) {
    points.push_back({{"name", point.name}, {"values", point.values}, {"seed", point.seed}});
    if (point.threads > 1) points.back()["threads"] = point.threads;
    if (point.price) points.back()["price"] = *point.price;
    if (point.watts) points.back()["watts"] = *point.watts;
  }
  Json all = {{"schema_version", kVersion}, {"fields", fields_}};
  if (until_ci_ > 0) all["until_ci"] = until_ci_;
  all["points"] = std::move(points);
  write_file(path_ + "/sweep.json", all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string Folder::changed_input(const Point& point) const {
  std::ifstream file(scenario_file(point), std::ios::binary);
  for (std::string line; std::getline(file, line) && line.starts_with("# ");) {
    const std::size_t size = line.rfind(kSize);
    const std::size_t colon = size == std::string::npos ? size : line.rfind(": ", size);
    if (colon == std::string::npos || colon < 2) continue;
    const std::string name = line.substr(2, colon - 2), now = input_line(name);
    if (!now.empty() && now != line + "\n") return name;
  }
  return "";
}

std::string Folder::stamp(const Point& point) const {
  const std::string folder = run_folder(point);
  struct stat status {};
  if (stat((folder + "/summary.json").c_str(), &status) != 0) return "";
  if (fs::exists(folder + "/INCOMPLETE") || !changed_input(point).empty()) return "";
  return fmt::format("{} {} {}.{:09}", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

bool Folder::done(const Point& point) const {
  const std::string now = stamp(point);
  if (now.empty()) return false;
  const auto known = done_.find(point.name);
  if (known != done_.end() && known->second == now) return true;
  if (!result(point)) return false;
  done_[point.name] = now;
  return true;
}

std::optional<Result> Folder::result(const Point& point) const {
  if (stamp(point).empty()) return std::nullopt;
  const std::optional<std::string> text = content(run_folder(point) + "/summary.json");
  if (!text) return std::nullopt;
  try {
    Result result{.outcome = "", .digest = "", .summary = Json::parse(*text)};
    result.outcome = result.summary.at("outcome").get<std::string>();
    result.digest = result.summary.at("digest").get<std::string>();
    result.makespan_ns = result.summary.at("makespan_ns").get<double>();
    if (result.outcome == "interrupted" || result.outcome == "memory limit") return std::nullopt;
    return result;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

bool Folder::begun(const Point& point) const {
  return fs::exists(error_file(point)) || fs::exists(run_folder(point));
}

std::vector<const Point*> Folder::open_points() const {
  std::vector<const Point*> open;
  for (const Point& point : points_) {
    if (!done(point)) open.push_back(&point);
  }
  return open;
}

std::string Folder::last_words(const Point& point) const {
  if (const std::string changed = changed_input(point); !changed.empty()) {
    return fmt::format("to do again: {} has changed since", changed);
  }
  std::string text = content(error_file(point)).value_or("");
  text.erase(text.find_last_not_of(" \n") + 1);
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace weft::sweep
