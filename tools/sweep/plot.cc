#include "tools/sweep/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "sim/units/quantity.h"
#include "sim/units/xml_text.h"

namespace weft::sweep {
namespace {

// Okabe and Ito (2008): told apart with any colour vision.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#e69f00", "#56b4e9", "#000000", "#999999"};
constexpr double kLeft = 90, kTop = 50, kWide = 720, kHigh = 400;
constexpr std::size_t kMostLines = 24;

std::string text_at(double x, double y, const std::string& text, const char* anchor, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12\" text-anchor=\"{}\"{}>{}</text>\n", x,
                     y, anchor, more, xml_text(text));
}

// What a value amounts to, where it is a number or a quantity.
std::optional<double> amount(const std::string& text) {
  try {
    return static_cast<double>(parse_bytes(text));
  } catch (const InputError&) {
  }
  try {
    return static_cast<double>(parse_bandwidth(text).bps());
  } catch (const InputError&) {
  }
  try {
    return parse_time(text).seconds();
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// From values to places in the picture.
struct Scale {
  double low = 0, high = 1, from = 0, to = 1;
  bool logarithmic = false;
  double operator()(double value) const {
    const double share =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + (high == low ? 0.5 : share) * (to - from);
  }
};

struct Across {
  std::vector<std::string> names;
  std::vector<double> places;  // in the picture
};

Across across_of(const std::vector<Group>& groups) {
  Across across;
  std::vector<double> amounts;
  for (const Group& group : groups) {
    const std::string name = group.values.empty() ? "" : group.values[0];
    if (std::find(across.names.begin(), across.names.end(), name) != across.names.end()) continue;
    across.names.push_back(name);
    if (const std::optional<double> value = amount(name)) amounts.push_back(*value);
  }
  const bool known = amounts.size() == across.names.size();
  for (std::size_t i = 0; !known && i < across.names.size(); ++i)
    amounts.resize(i), amounts.push_back(double(i));
  const auto [least, most] = std::minmax_element(amounts.begin(), amounts.end());
  const Scale scale{.low = *least,
                    .high = *most,
                    .from = kLeft + 40,
                    .to = kLeft + kWide - 40,
                    .logarithmic = known && *least > 0 && *most / *least > 10};
  for (const double value : amounts) across.places.push_back(scale(value));
  return across;
}

// Frame and the marks of the upward axis, from 0.
std::string frame(const std::string& title, double highest, const std::string& below) {
  std::string svg = text_at(kLeft, 30, title, "start", " font-weight=\"bold\"");
  for (int i = 0; i <= 4; ++i) {
    const double y = kTop + kHigh - kHigh * i / 4;
    svg += fmt::format("<path d=\"M{} {:.1f}h{}\" stroke=\"#dddddd\"/>\n", kLeft, y, kWide);
    svg += text_at(kLeft - 8, y + 4, i == 0 ? "0" : short_time(highest * i / 4), "end");
  }
  return svg + text_at(kLeft + kWide / 2, kTop + kHigh + 42, below, "middle");
}

std::string whole(const std::string& body, double height) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}</svg>\n",
      kLeft + kWide + 30, height, kLeft + kWide + 30, height, body);
}

double highest_of(const std::vector<Group>& groups) {
  double highest = 1;
  for (const Group& group : groups) {
    if (group.estimates[0])
      highest = std::max({highest, group.estimates[0]->mean, group.estimates[0]->high.value_or(0)});
  }
  return highest * 1.05;
}

std::string rest_of(const std::vector<std::string>& fields, const Group& group) {
  std::string name;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    name += fmt::format("{}{}={}", i == 1 ? "" : ", ", fields[i].substr(fields[i].rfind('.') + 1),
                        group.values[i]);
  }
  return name;
}

struct Place {
  double x = 0, y = 0, low = 0, high = 0;
};

std::string curve(const std::vector<Place>& places, const char* colour, bool dashed) {
  std::string line, band, back, marks;
  for (const Place& p : places) {
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", p.x, p.y);
    band += fmt::format("{}{:.1f} {:.1f}", band.empty() ? "M" : "L", p.x, p.high);
    back = fmt::format("L{:.1f} {:.1f}", p.x, p.low) + back;
    marks += fmt::format("<circle class=\"data\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", p.x,
                         p.y, colour);
    marks += fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}\" stroke=\"{}\"/>\n", p.x, p.low, p.high, colour);
  }
  return fmt::format("<path class=\"band\" d=\"{}{}z\" fill=\"{}\" fill-opacity=\"0.18\"/>\n", band, back,
                     colour) +
         fmt::format("<path class=\"line\" d=\"{}\" stroke=\"{}\" fill=\"none\" stroke-width=\"2\"{}/>\n",
                     line, colour, dashed ? " stroke-dasharray=\"5 3\"" : "") +
         marks;
}

}  // namespace

std::string makespan_plot(const std::vector<std::string>& fields, const std::vector<Group>& groups) {
  if (groups.empty()) return whole("", kTop);
  const Scale up{.low = 0, .high = highest_of(groups), .from = kTop + kHigh, .to = kTop};
  const Across across = across_of(groups);
  std::string body =
      frame("Runtime, mean over seeds with its 95% interval", up.high, fields.empty() ? "" : fields[0]);
  for (std::size_t i = 0; i < across.names.size(); ++i) {
    body += text_at(across.places[i], kTop + kHigh + 20, across.names[i], "middle");
  }
  std::vector<std::string> names;
  std::map<std::string, std::vector<Place>> lines;
  for (const Group& group : groups) {
    if (!group.estimates[0]) continue;
    const std::string name = rest_of(fields, group);
    if (!lines.contains(name)) names.push_back(name);
    const auto at =
        std::find(across.names.begin(), across.names.end(), group.values.empty() ? "" : group.values[0]);
    const Estimate& e = *group.estimates[0];
    lines[name].push_back({across.places[static_cast<std::size_t>(at - across.names.begin())], up(e.mean),
                           up(e.low.value_or(e.mean)), up(e.high.value_or(e.mean))});
  }
  double y = kTop + kHigh + 66;
  for (std::size_t i = 0; i < std::min(names.size(), kMostLines); ++i) {
    std::vector<Place>& places = lines[names[i]];
    std::ranges::stable_sort(places, {}, &Place::x);
    const char* colour = kColours[i % std::size(kColours)];
    body += curve(places, colour, i >= std::size(kColours));
    if (names[i].empty()) continue;
    body += fmt::format("<path d=\"M{} {:.1f}h24\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", kLeft, y - 4,
                        colour, i >= std::size(kColours) ? " stroke-dasharray=\"5 3\"" : "");
    body += text_at(kLeft + 32, y, names[i], "start");
    y += 18;
  }
  if (names.size() > kMostLines) {
    body += text_at(
        kLeft, y, fmt::format("{} more lines are left out; summary.csv has them", names.size() - kMostLines),
        "start");
    y += 18;
  }
  return whole(body, y);
}

std::string price_plot(const std::vector<Group>& groups) {
  std::vector<const Group*> known;
  double most = 1;
  for (const Group& group : groups) {
    if (!group.price || !group.estimates[0]) continue;
    known.push_back(&group);
    most = std::max(most, *group.price);
  }
  std::ranges::stable_sort(known, [](const Group* a, const Group* b) {
    return std::pair(*a->price, a->estimates[0]->mean) < std::pair(*b->price, b->estimates[0]->mean);
  });
  const Scale up{.low = 0, .high = highest_of(groups), .from = kTop + kHigh, .to = kTop};
  const Scale across{.low = 0, .high = most * 1.15, .from = kLeft, .to = kLeft + kWide};
  std::string body = frame("Runtime against price; nothing is both cheaper and faster than what is joined",
                           up.high, "price of the network, $");
  std::string front, marks;
  double fastest = INFINITY;
  for (const Group* group : known) {
    const double x = across(*group->price), y = up(group->estimates[0]->mean);
    const bool best = group->estimates[0]->mean < fastest;
    if (best) front += fmt::format("{}{:.1f} {:.1f}", front.empty() ? "M" : "L", x, y);
    fastest = std::min(fastest, group->estimates[0]->mean);
    marks += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n",
                         best ? "front" : "other", x, y, best ? kColours[0] : kColours[7]);
    std::string name;
    for (const std::string& value : group->values) name += (name.empty() ? "" : ", ") + value;
    marks += text_at(x + 7, y - 5, name + ", $" + grouped(std::round(*group->price)), "start");
  }
  if (!front.empty())
    body += fmt::format("<path d=\"{}\" stroke=\"{}\" fill=\"none\"/>\n", front, kColours[0]);
  return whole(body + marks, kTop + kHigh + 60);
}

}  // namespace weft::sweep
