#include "tools/weft/goal/matrix_picture.h"

#include <filesystem>

#include "goal/file.h"
#include "goal/transform/heat_map.h"
#include "sim/units/input_error.h"

namespace weft::cli {
namespace {

std::string ending_of(const std::string& path) { return std::filesystem::path(path).extension().string(); }

}  // namespace

void check_picture_name(const std::string& path) {
  const std::string ending = ending_of(path);
  if (ending == ".svg" || ending == ".png" || ending == ".pgm") return;
  throw InputError(path + ": expected a name that ends in .svg, .png or .pgm");
}

void draw_matrix(const std::string& path, std::span<const goal::Exchange> exchanges, goal::Rank ranks,
                 std::uint32_t most_cells) {
  const goal::MatrixCells cells = goal::bin_matrix(exchanges, ranks, most_cells);
  const std::string ending = ending_of(path);
  write_file(path, ending == ".svg"   ? goal::matrix_svg(cells, ranks)
                   : ending == ".png" ? goal::matrix_png(cells)
                                      : goal::matrix_pgm(cells));
}

void write_file(const std::string& path, const std::string& content) {
  goal::FileWriter file(path);
  file.write(content);
  file.commit();
}

}  // namespace weft::cli
