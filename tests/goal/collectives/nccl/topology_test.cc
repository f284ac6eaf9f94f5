// NCCL's topology files: three machines' own, and what is wrong.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "goal/collectives/nccl/topology_xml.h"
#include "sim/units/input_error.h"

namespace weft::goal::nccl {
namespace {

NodeFromXml read(const std::string& name, const Node* otherwise = nullptr) {
  const std::string path = "tests/data/nccl/" + name;
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return read_topology(text.str(), name, otherwise);
}

NodeFromXml parsed(const std::string& text) { return read_topology(text, "t.xml"); }

}  // namespace

TEST_CASE("p4d: 8 A100 and 4 NICs, two GPUs beside each") {
  const auto [node, remarks] = read("aws_p4d.xml");
  CHECK(node.gpus == 8);
  CHECK(node.nics == 4);
  CHECK(node.compute_capability == 80);
  CHECK(node.cpu == CpuVendor::kIntel);
  CHECK(node.nic_path == PathType::kOneSwitch);
  CHECK(node.pcie_gbs == 12);
  CHECK(node.nvlink_gbs == 240);
  CHECK_FALSE(node.nvls);
  REQUIRE(remarks.size() == 2);
  CHECK_THAT(remarks[0], Catch::Contains("12 a GPU are taken"));
  CHECK_THAT(remarks[1], Catch::Contains("speeds of NICs"));
}

TEST_CASE("ND A100 v4: the file doesn't tell the kind of GPU") {
  const auto [node, remarks] = read("azure_ndv4.xml");
  CHECK(node.gpus == 8);
  CHECK(node.nics == 8);
  CHECK(node.cpu == CpuVendor::kAmd);
  CHECK(node.pcie_gbs == 24);
  CHECK(node.nic_path == PathType::kOneSwitch);
  CHECK(node.compute_capability == 80);
  // Azure's ND A100 v4 has the board of a DGX A100, with 12 NVLinks of 20 GB/s a GPU.
  CHECK_THAT(remarks.at(0), Catch::Contains("A100 on a board of eight with a NIC each is taken"));
  CHECK_THAT(remarks.at(1), Catch::Contains("12 a GPU are taken"));
  CHECK(node.nvlink_gbs == 240);
  CHECK(read("azure_ndv4.xml", &node_preset("dgx_a100")).node.nvlink_gbs == 240);
}

TEST_CASE("NC A100 v4: GPUs of four cpus, one port of 100 Gb/s") {
  const auto [node, remarks] = read("azure_ncv4.xml");
  CHECK(node.gpus == 4);
  CHECK(node.nics == 1);
  CHECK(node.nic_gbs == 12.5);
  CHECK(node.nic_path == PathType::kSystem);
  CHECK(node.nvlink_gbs == 0);
  CHECK_THAT(remarks.at(0), Catch::Contains("themselves"));
}

TEST_CASE("a whole topology, as NCCL writes it, needs no remark") {
  const auto [node, remarks] = parsed(R"(<system version="1"><cpu numaid="0" vendor="GenuineIntel">
    <pci busid="0:1" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
     <pci busid="0:2" class="0x030200" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="0" sm="90"><nvlink target="0:8" count="10" tclass="0x068000"/><nvlink target="0:9" count="8" tclass="0x068000"/></gpu>
     </pci>
     <pci busid="0:3" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
      <nic><net name="mlx5_0" speed="200000"/><net name="mlx5_1" speed="200000"/></nic>
     </pci>
    </pci></cpu></system>)");
  CHECK(remarks.empty());
  CHECK(node.compute_capability == 90);
  CHECK(node.nvlink_gbs == Approx(18 * 20.6));
  CHECK(node.nvls);
  CHECK(node.nics == 2);
  CHECK(node.nic_gbs == 25);
  CHECK(node.pcie_gbs == 48);
}

TEST_CASE("what is no topology ends with one message at its place") {
  CHECK_THROWS_WITH(parsed("<graph/>"), "t.xml:1:1: found <graph>, but expected <system>");
  CHECK_THROWS_WITH(parsed("<system>\n<cpu></system>"),
                    Catch::StartsWith("t.xml:2:") && Catch::Contains("mismatched"));
  CHECK_THROWS_WITH(parsed(""), Catch::Contains("no element found"));
  CHECK_THROWS_WITH(parsed("<system/>"), "t.xml: the topology has no GPU");
  CHECK_THROWS_WITH(parsed(R"(<system><cpu><nic><net speed="-1"/></nic></cpu></system>)"),
                    Catch::Contains("speed=\"-1\" is not from 0"));
  std::string deep = "<system>", many = "<system><cpu>";
  for (int i = 0; i < 100; ++i) deep += "<pci>";
  CHECK_THROWS_WITH(parsed(deep), Catch::Contains("64 deep"));
  for (int i = 0; i < 1100; ++i) many += "<pci class=\"0x030200\"/>";
  CHECK_THROWS_WITH(parsed(many), Catch::Contains("more than 1024 GPUs"));
}

}  // namespace weft::goal::nccl
