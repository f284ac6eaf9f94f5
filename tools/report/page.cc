#include "tools/report/page.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>

#include "sim/units/input_error.h"
#include "sim/units/version.h"
#include "sim/units/xml_text.h"
#include "tools/report/budget.h"
#include "tools/report/page_files.h"
#include "tools/report/run.h"

namespace weft::report {
namespace {

using Json = nlohmann::ordered_json;

std::string base64(std::string_view bytes) {
  constexpr const char* kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(bytes.size() - i, 3);
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      three = three << 8 | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0);
    }
    for (std::size_t k = 0; k < 4; ++k) text += k <= left ? kLetters[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string gzip(std::string_view data) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16, kMemory = 9;
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string out(deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// The file of page/ of this name.
std::string_view file(std::string_view name) {
  const auto found = std::find_if(std::begin(kPageFiles), std::end(kPageFiles),
                                  [&](const PageFile& file) { return file.name == name; });
  return found->text;
}

void replace(std::string& text, std::string_view mark, std::string_view with) {
  text.replace(text.find(mark), mark.size(), with);
}

std::string data_of(const std::vector<std::string>& folders, const topologies::PriceList& prices,
                    const Budget& budget, Files files, const std::vector<std::string>& names) {
  Json data = {{"version", kVersion}, {"runs", Json::array()}};
  for (std::size_t i = 0; i < folders.size(); ++i) {
    data["runs"].push_back(read_run(folders[i], prices, budget, files));
    if (!names.empty()) data["runs"].back()["name"] = names[i];
  }
  return data.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string packed(std::string_view data) { return base64(gzip(data)); }

std::string page_of(std::string_view title, std::string_view data) {
  std::string styles, scripts;
  for (const PageFile& file : kPageFiles) {
    if (file.name.ends_with(".css")) styles += std::string(file.text) + "\n";
    if (file.name.ends_with(".js")) scripts += std::string(file.text) + "\n";
  }
  std::string page(file("page.html"));
  replace(page, "{{STYLES}}", styles);
  replace(page, "{{DATA}}", packed(data));
  replace(page, "{{SCRIPTS}}", scripts);
  replace(page, "{{TITLE}}", xml_text(title));
  return page;
}

std::string make_page(const std::vector<std::string>& folders, const topologies::PriceList& prices,
                      std::size_t most_bytes, Files files, const std::vector<std::string>& names) {
  std::string title = "Weft report";
  if (folders.size() == 1) title += ": " + (names.empty() ? folders : names).front();
  constexpr std::size_t kMostParts = 4096;
  for (std::size_t parts = std::max<std::size_t>(folders.size(), 1); parts <= kMostParts; parts *= 2) {
    std::string page = page_of(title, data_of(folders, prices, Budget().divided_by(parts), files, names));
    if (page.size() <= most_bytes) return page;
  }
  throw InputError(
      fmt::format("{} runs don't fit in one page of {} bytes; give fewer", folders.size(), most_bytes));
}

}  // namespace weft::report
