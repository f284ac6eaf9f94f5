"""tools/measure/gpu with stand-ins for PyTorch: what it writes, and how it refuses. No GPU is needed."""
import os
import subprocess
import sys
import tempfile
import unittest

GPU = "tools/measure/gpu"

# Each call takes 5 us by the events' clock; a tensor is only a thing with a few methods.
STAND_IN = '''
import types
__version__ = "stand-in"
bfloat16, float32, uint8 = "bfloat16", "float32", "uint8"
now = [0.0]
def work(*args, **kwargs):
    now[0] += 0.005
    return Tensor()
class Tensor:
    copy_ = add_ = work
def make(*args, **kwargs): return Tensor()
randn = empty = zeros = randn_like = empty_like = make
matmul = work
autograd = types.SimpleNamespace(grad=work)
nn = types.SimpleNamespace(functional=types.SimpleNamespace(scaled_dot_product_attention=work))
class Nothing:
    def __enter__(self): return self
    def __exit__(self, *args): pass
    def synchronize(self): pass
no_grad = Nothing
class Event(Nothing):
    def __init__(self, enable_timing): pass
    def record(self): self.at = now[0]
    def elapsed_time(self, end): return end.at - self.at
class Graph:
    def replay(self): now[0] += 20 * 0.005
cuda = types.SimpleNamespace(
    is_available=lambda: True, synchronize=lambda: None, get_device_name=lambda: "none", Event=Event, Stream=Nothing,
    stream=lambda s: s, CUDAGraph=Graph, graph=lambda g: Nothing())
'''
NO_GPU = "import types\ncuda = types.SimpleNamespace(is_available=lambda: False)\n"
NOT_INSTALLED = "raise ImportError('none')\n"


class GpuTest(unittest.TestCase):
    def run_with(self, torch, *arguments):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        with open(os.path.join(self.folder, "torch.py"), "w") as file:
            file.write(torch)
        self.output = os.path.join(self.folder, "my.csv")
        return subprocess.run([sys.executable, GPU, "-o", self.output, *arguments], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": self.folder}, check=False)

    def test_without_pytorch(self):
        done = self.run_with(NOT_INSTALLED, "--like", "h100")
        self.assertEqual((done.returncode, os.path.exists(self.output)), (2, False))
        self.assertIn("PyTorch is not installed", done.stderr)

    def test_without_gpu(self):
        done = self.run_with(NO_GPU, "--like", "h100")
        self.assertEqual((done.returncode, os.path.exists(self.output)), (2, False))
        self.assertIn("finds no GPU", done.stderr)

    def test_without_device(self):
        self.assertEqual(self.run_with(STAND_IN).returncode, 2)

    def test_what_is_written(self):
        done = self.run_with(STAND_IN, "--like", "h100", "--quick")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.output) as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], "# like h100")
        self.assertEqual(lines[2], "op,m,n,k,precision,us")
        rows = [line.split(",") for line in lines[3:]]
        self.assertEqual({row[0] for row in rows},
                         {"gemm", "attention_forward", "attention_backward", "copy", "launch"})
        self.assertTrue(all(len(row) == 6 for row in rows))
        self.assertEqual({row[5] for row in rows}, {"5.000"})


if __name__ == "__main__":
    unittest.main()
