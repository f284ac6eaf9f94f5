// The folder of a sweep: its points, which of them are done, and what came of them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft::sweep {

// One run.
struct Point {
  std::vector<std::string> values;  // of the fields varied
  std::uint64_t seed = 0;
  std::string scenario;  // text of a scenario file that says all of it
  std::uint32_t threads = 1;
  std::optional<double> price, watts;  // of the network, in dollars and watts
  std::string name = {};               // of its folder; given by Folder::add()
};

// What a run left: its summary.json.
struct Result {
  std::string outcome;  // "complete", …
  std::string digest;
  double makespan_ns = 0;
  nlohmann::ordered_json summary;

  bool complete() const { return outcome == "complete"; }
};

// DIR/sweep.json lists the points; DIR/points has for each NAME.txtpb, its scenario, NAME, the folder of its
// run, and NAME.err, what was said on standard error where it is not done. A point is done where the folder
// holds the whole results of exactly that scenario, and the files that this names are as it says: add() sees
// to it that it holds no others. So who runs `weft sim points/NAME.txtpb -o points/NAME`, and when, doesn't
// matter.
class Folder {
 public:
  // Creates the folder, and locks it against others until the end of this object. Throws InputError.
  Folder(std::string path, std::vector<std::string> fields);
  // One that is there, to be read; not locked, so that a sweep may go on in it. Throws InputError if it is
  // none.
  static Folder read(const std::string& path);
  Folder(Folder&& other) noexcept;
  Folder& operator=(Folder&&) = delete;
  ~Folder();

  const std::string& path() const { return path_; }
  const std::vector<std::string>& fields() const { return fields_; }
  const std::vector<Point>& points() const { return points_; }
  std::string scenario_file(const Point& point) const { return path_ + "/points/" + point.name + ".txtpb"; }
  std::string run_folder(const Point& point) const { return path_ + "/points/" + point.name; }
  std::string error_file(const Point& point) const { return path_ + "/points/" + point.name + ".err"; }

  // What seeds are added until: half the interval of each mean makespan by the mean; 0: they are as given.
  double until_ci() const { return until_ci_; }
  void set_until_ci(double share) { until_ci_ = share; }

  // The name of the run whose results add() would let count no longer, as its settings were others; "": none.
  std::string others(Point point) const;
  // Adds a point, and makes ready to run it: results of another scenario in its folder no longer count.
  void add(Point point);
  // Writes the list of points.
  void save() const;
  // What came of the point, where it is done. One that was interrupted or had too little memory is not.
  std::optional<Result> result(const Point& point) const;
  // Which file result() would read now: another string where the run was made again; "": none that counts.
  std::string stamp(const Point& point) const;
  // A file that the point's scenario names, and that has changed since (input_line()); "": none. One that is
  // no longer there tells nothing: the folder may have been taken elsewhere.
  std::string changed_input(const Point& point) const;
  // Reads results only where they are others than when it was last found done.
  bool done(const Point& point) const;
  // Was it run, to its end or not?
  bool begun(const Point& point) const;
  std::vector<const Point*> open_points() const;
  // Why it is not done: that a file changed, or what its run said last; "" for nothing.
  std::string last_words(const Point& point) const;

 private:
  Folder() = default;
  std::string name_of(const Point& point) const;

  std::string path_;
  std::vector<std::string> fields_;
  std::vector<Point> points_;
  double until_ci_ = 0;
  int lock_ = -1;
  mutable std::unordered_map<std::string, std::string> done_;  // stamps of points found done, by name
};

// A comment for a point's scenario that says how the file is now, by size and time of change, with its
// newline;
// "" where there is none.
std::string input_line(const std::string& file);

// A file of the folder, whole or not at all. Throws InputError.
void write_file(const std::string& path, const std::string& text);

}  // namespace weft::sweep
