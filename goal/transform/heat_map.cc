#include "goal/transform/heat_map.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <new>

namespace weft::goal {
namespace {

// How dark a cell is: 0 for none, from 1 to 255 on a logarithmic scale.
class Shades {
 public:
  explicit Shades(const MatrixCells& matrix) {
    for (const double bytes : matrix.bytes) {
      if (bytes <= 0) continue;
      least_ = least_ == 0 ? bytes : std::min(least_, bytes);
      most_ = std::max(most_, bytes);
    }
  }
  int operator()(double bytes) const {
    if (bytes <= 0) return 0;
    if (most_ <= least_) return 255;
    return 1 + static_cast<int>(std::lround(254 * std::log(bytes / least_) / std::log(most_ / least_)));
  }
  double least() const { return least_; }
  double most() const { return most_; }

 private:
  double least_ = 0, most_ = 0;
};

// From white over blue to black: red and green are equal.
struct Color {
  int red, blue;
};
Color color_of(int shade) {
  return {shade < 128 ? 255 - 2 * shade : 0,
          shade < 128 ? 255 - shade / 2 : std::max(0, 192 - (shade - 128) * 3 / 2)};
}
std::string color(int shade) {
  const auto [red, blue] = color_of(shade);
  return fmt::format("#{:02x}{:02x}{:02x}", red, red, blue);
}

void put_big_endian(std::string& out, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(value >> shift);
}

// Length, type, data, and the checksum of the last two.
void put_png_chunk(std::string& png, const char* type, const std::string& data) {
  put_big_endian(png, static_cast<std::uint32_t>(data.size()));
  const std::string content = type + data;
  png += content;
  put_big_endian(png, static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(content.data()),
                                                       static_cast<uInt>(content.size()))));
}

}  // namespace

MatrixCells bin_matrix(std::span<const Exchange> exchanges, Rank ranks, std::uint32_t most_cells) {
  MatrixCells matrix;
  if (ranks == 0) return matrix;
  matrix.ranks_per_cell = (ranks - 1) / most_cells + 1;
  matrix.cells = (ranks - 1) / matrix.ranks_per_cell + 1;
  matrix.bytes.assign(std::size_t{matrix.cells} * matrix.cells, 0);
  for (const Exchange& exchange : exchanges) {
    const std::size_t row = exchange.from / matrix.ranks_per_cell,
                      column = exchange.to / matrix.ranks_per_cell;
    matrix.bytes[row * matrix.cells + column] += exchange.bytes;
  }
  return matrix;
}

std::string matrix_svg(const MatrixCells& matrix, Rank ranks) {
  constexpr int kLeft = 60, kTop = 40, kSide = 512;
  const Shades shades(matrix);
  const double cell = matrix.cells == 0 ? 0 : static_cast<double>(kSide) / matrix.cells;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kLeft + kSide + 160, kTop + kSide + 30);
  for (std::uint32_t row = 0; row < matrix.cells; ++row) {
    for (std::uint32_t column = 0; column < matrix.cells; ++column) {
      const double bytes = matrix.bytes[std::size_t{row} * matrix.cells + column];
      if (bytes <= 0) continue;
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\">"
          "<title>{} to {}: {} B</title></rect>\n",
          kLeft + column * cell, kTop + row * cell, cell, cell, color(shades(bytes)),
          row * matrix.ranks_per_cell, column * matrix.ranks_per_cell, bytes);
    }
  }
  svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"black\"/>\n",
                     kLeft, kTop, kSide, kSide);
  const auto text = [&](int x, int y, const char* anchor, const std::string& words) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, words);
  };
  const std::string last = std::to_string(ranks == 0 ? 0 : ranks - 1);
  text(kLeft - 6, kTop + 12, "end", "0");
  text(kLeft - 6, kTop + kSide, "end", last);
  text(kLeft, kTop - 6, "start", "0");
  text(kLeft + kSide, kTop - 6, "end", last);
  text(kLeft + kSide / 2, kTop - 22, "middle", "receiving rank");
  svg += fmt::format(
      "<text transform=\"translate({},{}) rotate(-90)\" text-anchor=\"middle\">sending rank</text>\n",
      kLeft - 40, kTop + kSide / 2);
  if (shades.most() > 0) {
    for (int step = 0; step < 16; ++step) {
      svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"16\" height=\"16\" fill=\"{}\"/>\n",
                         kLeft + kSide + 20, kTop + 16 * step, color(255 - step * 254 / 15));
    }
    text(kLeft + kSide + 42, kTop + 12, "start", fmt::format("{:.3g} B", shades.most()));
    text(kLeft + kSide + 42, kTop + 252, "start", fmt::format("{:.3g} B", shades.least()));
    if (matrix.ranks_per_cell > 1) {
      text(kLeft + kSide + 20, kTop + 280, "start", fmt::format("{} ranks a cell", matrix.ranks_per_cell));
    }
  }
  return svg + "</svg>\n";
}

std::string matrix_pgm(const MatrixCells& matrix) {
  const Shades shades(matrix);
  std::string pgm = fmt::format("P2\n{} {}\n255\n", matrix.cells, matrix.cells);
  for (std::size_t i = 0; i < matrix.bytes.size(); ++i) {
    pgm += fmt::format("{}{}", 255 - shades(matrix.bytes[i]), (i + 1) % matrix.cells == 0 ? '\n' : ' ');
  }
  return pgm;
}

std::string matrix_png(const MatrixCells& matrix) {
  const Shades shades(matrix);
  const std::uint32_t pixels = matrix.cells == 0 ? 1 : std::max(1u, (511 + matrix.cells) / matrix.cells);
  const std::uint32_t side = std::max(1u, matrix.cells * pixels);
  std::string rows;
  for (std::uint32_t y = 0; y < side; ++y) {
    rows += '\0';  // no filter
    for (std::uint32_t x = 0; x < side; ++x) {
      const std::size_t cell = std::size_t{y / pixels} * matrix.cells + x / pixels;
      const auto [red, blue] = color_of(cell < matrix.bytes.size() ? shades(matrix.bytes[cell]) : 0);
      rows += {static_cast<char>(red), static_cast<char>(red), static_cast<char>(blue)};
    }
  }
  uLongf size = compressBound(static_cast<uLong>(rows.size()));
  std::string packed(size, '\0');
  // It can fail for want of memory only.
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
               static_cast<uLong>(rows.size())) != Z_OK)
    throw std::bad_alloc();
  packed.resize(size);
  std::string header;
  put_big_endian(header, side);
  put_big_endian(header, side);
  header += {8, 2, 0, 0, 0};  // bits a sample, truecolour, and the only methods there are
  std::string png = "\x89PNG\r\n\x1a\n";
  put_png_chunk(png, "IHDR", header);
  put_png_chunk(png, "IDAT", packed);
  put_png_chunk(png, "IEND", {});
  return png;
}

std::string matrix_csv(std::span<const Exchange> exchanges) {
  std::string csv = "from,to,messages,bytes\n";
  for (const Exchange& exchange : exchanges) {
    csv += fmt::format("{},{},{},{:.0f}\n", exchange.from, exchange.to, exchange.messages, exchange.bytes);
  }
  return csv;
}

}  // namespace weft::goal
