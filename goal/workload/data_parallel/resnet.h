// Training of residual networks on images, data parallel.
//
// Sources: K. He et al., Deep Residual Learning, CVPR 2016, table 1; the stride is in the 3 x 3 convolution,
// as in torchvision and MLPerf (v1.5); S. Zagoruyko and N. Komodakis, Wide Residual Networks, 2016.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "goal/workload/workload.h"

namespace weft::goal {

// A convolution with its batch normalization, or the classifier. Images are square.
struct CnnLayer {
  std::uint32_t in = 0, out = 0, kernel = 1;
  std::uint32_t in_side = 1, out_side = 1;
  bool classifier = false;
  bool rectified = true;  // followed by a ReLU of its own
  bool added = false;     // ends a block: the shortcut is added, then rectified

  std::uint64_t products() const { return std::uint64_t{in} * kernel * kernel; }  // for each output
  std::uint64_t pixels() const { return std::uint64_t{out_side} * out_side; }
  // Multiplications with additions, forward, of an image.
  std::uint64_t multiply_adds() const { return products() * out * pixels(); }
  // In the order in which a module lists them.
  std::vector<std::uint64_t> tensors() const;
};

// In forward order. Throws InputError that names the models there are.
std::vector<CnnLayer> resnet_layers(const std::string& model, std::uint32_t image_side = 224);
std::uint64_t parameters(const std::vector<CnnLayer>& layers);
std::uint64_t multiply_adds(const std::vector<CnnLayer>& layers);

Workload resnet_workload();

}  // namespace weft::goal
