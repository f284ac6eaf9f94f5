"""weft report: pages of real runs, opened in headless Chromium."""

import base64
import gzip
import hashlib
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import browser

WEFT, README = (Path(sys.argv.pop(1)).resolve() for _ in range(2))
THIRD_PARTY = README.parent / "third_party"


def weft(*arguments, cwd, status=0):
    run = subprocess.run([WEFT, *arguments], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert run.returncode == status, (arguments, run.returncode, run.stderr)
    return run


def data_of(page):
    text = re.search(r'<script id="data"[^>]*>([^<]*)<', page.read_text()).group(1)
    return json.loads(gzip.decompress(base64.b64decode(text)))


def busy(*more):
    """A congested network with a queue, series and a timeline."""
    return ["sim", "-q", "--job", "halo.weft,placement=random,name=halo", "--job", "traffic=[alltoall:size=200KB,ranks=8],name=shuffle",
            "--sample", "5us", "--interference", *more]


class Pages(unittest.TestCase):
    """Runs and pages that all tests look at."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        weft("goal", "gen", "stencil:dims=[4,4],iterations=6,compute=100us,cells=512,halo=4", "--ranks", "16", "-o", "halo.weft", cwd=cls.folder)
        weft(*busy("--topology", "fat_tree:k=6,link=100Gbps", "-o", "TREE"), cwd=cls.folder)
        weft(*busy("--topology", "torus:dims=6x6,link=100Gbps", "-o", "TORUS"), cwd=cls.folder)
        weft("sim", "-q", "--goal", "halo.weft", "--network", "loggops:L=2000,o=1500,g=10,G=0.08", "-o", "LOGGOPS", cwd=cls.folder)
        weft("report", "TREE", "-o", "one.html", cwd=cls.folder)
        weft("report", "TREE", "TORUS", "LOGGOPS", "-o", "three.html", cwd=cls.folder)
        weft("report", "LOGGOPS", "-o", "loggops.html", cwd=cls.folder)


class Files(Pages):
    def test_data_are_those_of_the_tables(self):
        run, = data_of(self.folder / "one.html")["runs"]
        with sqlite3.connect(f"file:{self.folder}/TREE/results.sqlite?mode=ro", uri=True) as database:
            def one(query):
                return database.execute(query).fetchone()

            self.assertEqual(run["ranks"]["count"], one("SELECT count(*) FROM ranks")[0])
            for name in ("compute_ns", "overhead_ns", "waiting_ns"):
                self.assertAlmostEqual(sum(run["ranks"]["by_job"][name]), one(f"SELECT sum({name}) FROM ranks")[0], 3)
            waited = one("SELECT sum(end_ns - start_ns) FROM timeline WHERE kind = 'wait_network'")[0]
            self.assertGreater(waited, 0)
            self.assertAlmostEqual(sum(run["ranks"]["by_rank"]["wait_network_ns"]), waited, 3)
            self.assertEqual(sum(run["messages"]["completion_ns"]["count"]), one("SELECT value FROM run WHERE key = 'flows.count'")[0])
            self.assertEqual(run["links"]["rows"]["utilization"][0], round(one("SELECT max(utilization) FROM links")[0], 6))
            self.assertEqual(max(run["series"]["queues"]["longest"]), one("SELECT max(queue_bytes) FROM samples")[0])
            self.assertEqual(sum(run["series"]["network"]["bytes_delivered"]), one("SELECT sum(bytes_delivered) FROM network_samples")[0])
            slices = one("SELECT count(*) FROM timeline WHERE end_ns > start_ns")[0]
            self.assertEqual(len(run["timeline"]["slices"]["kind"]), slices)
            self.assertEqual(len(run["drawing"]["lines"]["a"]), one("SELECT count(*) FROM links")[0] / 2)
            most = max(run["drawing"]["lines"]["there"] + run["drawing"]["lines"]["back"])
            self.assertAlmostEqual(most, one("SELECT max(utilization) FROM links")[0], 4)
        summary = json.loads((self.folder / "TREE/summary.json").read_text())
        self.assertEqual(run["summary"]["makespan_ns"], summary["makespan_ns"])
        self.assertEqual(len(run["jobs"]["interference"]["slowdown"]), len(summary["interference"]))
        cost = json.loads(weft("topo", "cost", "fat_tree:k=6,link=100Gbps", "--json", cwd=self.folder).stdout)
        self.assertEqual((run["cost"]["price"], run["cost"]["watts"]), (cost["price"], cost["watts"]))
        parameters = dict(zip(run["parameters"]["name"], run["parameters"]["value"]))
        self.assertEqual(parameters["topology.fat_tree.k"], "6")

    def test_equal_runs_give_equal_pages(self):
        weft("report", "TREE", "-o", "again.html", cwd=self.folder)
        self.assertEqual((self.folder / "one.html").read_bytes(), (self.folder / "again.html").read_bytes())

    def test_names_stand_for_those_of_folders(self):
        weft("report", "TREE", "TORUS", "--name", "4 to 1 <cheap>", "--name", "a torus", "-o", "named.html", cwd=self.folder)
        self.assertEqual([run["name"] for run in data_of(self.folder / "named.html")["runs"]], ["4 to 1 <cheap>", "a torus"])
        weft("report", "TREE", "--name", "4 to 1 <cheap>", "-o", "named.html", cwd=self.folder)
        self.assertIn("<title>Weft report: 4 to 1 &lt;cheap&gt;</title>", (self.folder / "named.html").read_text())

    def test_libraries_are_the_published_ones_and_small(self):
        told = dict(re.findall(r"`(uPlot\S+)` \| `([0-9a-f]{64})`", (THIRD_PARTY / "uplot/README.md").read_text()))
        self.assertEqual(set(told), {"uPlot.iife.min.js", "uPlot.min.css"})
        page = (self.folder / "one.html").read_text()
        size = 0
        for name, digest in told.items():
            content = (THIRD_PARTY / "uplot" / name).read_bytes()
            self.assertEqual(hashlib.sha256(content).hexdigest(), digest)
            self.assertIn(content.decode(), page)
            size += len(content)
        self.assertLess(size, 150_000)

    def test_what_can_not_be_shown_is_one_message(self):
        for arguments, words in ((["none"], "none: this is no folder"), (["."], "results.sqlite: there is no such file"), ([], "RUN is required"),
                                 (["TREE", "--prices", "dear"], "dear"), (["TREE", "TORUS", "--name", "a"], "1 names and 2 runs")):
            run = weft("report", *arguments, "-o", "x.html", cwd=self.folder, status=2)
            self.assertIn(words, run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1)
            self.assertFalse((self.folder / "x.html").exists())
        broken = self.folder / "BROKEN"
        broken.mkdir()
        database = (self.folder / "LOGGOPS/results.sqlite").read_bytes()
        (broken / "summary.json").write_text("[]")
        (broken / "results.sqlite").write_bytes(database)
        self.assertIn("summary.json", weft("report", "BROKEN", cwd=self.folder, status=2).stderr)
        (broken / "summary.json").write_bytes((self.folder / "LOGGOPS/summary.json").read_bytes())
        for damage in (database[:5000], database[:100] + b"\xff" * 4000 + database[4100:], b""):
            (broken / "results.sqlite").write_bytes(damage)
            self.assertIn("results.sqlite", weft("report", "BROKEN", cwd=self.folder, status=2).stderr)
        (broken / "INCOMPLETE").touch()
        self.assertIn("not complete", weft("report", "BROKEN", cwd=self.folder, status=2).stderr)


@unittest.skipUnless(browser.chromium(), "Chromium is not installed")
class InTheBrowser(Pages):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def open(self, page, folded=False, width=1400):
        """With all sections unfolded, unless `folded`, as it comes."""
        self.browser.size(width, 900)
        self.browser.emulate("light")
        took = self.browser.open(self.folder / page)
        if not folded:
            self.unfold()
        self.check_quiet(page)
        return took

    def unfold(self):
        self.ask("document.getElementById('fold').click()")
        # What was folded is drawn as soon as its width is known.
        self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))")

    def check_quiet(self, page):
        """No error, and nothing asked for but the page itself."""
        self.assertEqual(self.browser.problems(), [])
        self.assertEqual(self.browser.requests(), [f"file://{self.folder / page}"])

    def ask(self, expression):
        return self.browser.evaluate(expression)

    def middle(self, selector):
        """Scrolls an element into sight; x and y of its middle, and its size."""
        return self.ask("(() => { const e = document.querySelector(%s); e.scrollIntoView({block: 'center', behavior: 'instant'}); "
                        "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2, b.width, b.height]; })()" % json.dumps(selector))

    def tip(self):
        return self.ask("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")

    def test_one_run(self):
        self.open("one.html")
        self.assertIn("finished after", self.ask("document.querySelector('h1').textContent"))
        sections = self.ask("[...document.querySelectorAll('main section')].map((section) => section.id)")
        self.assertEqual(sections, ["overview", "breakdown", "timeline", "messages", "network", "links", "series", "jobs", "cost", "acted", "order",
                                    "warnings", "left-out", "parameters", "origin"])
        self.assertEqual(self.ask("[...document.querySelectorAll('nav a')].every((link) => document.querySelector(link.hash))"), True)
        self.assertIn("Never fired", self.ask("document.querySelector('#acted').textContent"))
        self.assertIn("slowdown of", self.ask("document.querySelector('#jobs .matrix').textContent"))
        self.assertGreaterEqual(self.ask("document.querySelectorAll('#series .uplot').length"), 5)
        # Every drawing has a name for those who can't see it.
        self.assertEqual(self.ask("[...document.querySelectorAll('canvas:not([aria-hidden]), svg')].filter((e) => !e.closest('[aria-label]')).length"), 0)
        # Nothing is wider than its place.
        self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), 1400)

    def test_given_names_are_what_runs_are_called(self):
        weft("report", "TREE", "TORUS", "--name", "4 to 1 <cheap>", "--name", "a torus", "-o", "called.html", cwd=self.folder)
        self.open("called.html")
        text = self.ask("document.querySelector('#overview').textContent")
        for name in ("4 to 1 <cheap>", "a torus"):
            self.assertIn(name, text)
        for folder in ("TREE", "TORUS"):
            self.assertNotIn(folder, text)
        weft("report", "TREE/", "./TORUS", "-o", "called.html", cwd=self.folder)
        self.open("called.html")
        text = self.ask("document.querySelector('#overview').textContent")
        for folder in ("TREE", "TORUS"):
            self.assertIn(folder, text)

    def test_the_first_look_is_two_screens(self):
        for page in ("one.html", "three.html", "loggops.html"):
            self.open(page, folded=True, width=1280)
            self.assertLessEqual(self.ask("document.documentElement.scrollHeight"), 1800, page)
            self.assertEqual(self.ask("document.querySelectorAll('section > details[open]').length"), 0)
            folded = self.ask("document.querySelectorAll('section > details').length")
            self.assertGreater(folded, 8)
            # A picture and the main figures are there without a click.
            self.assertGreater(self.ask("document.querySelectorAll('#overview .bar, #overview canvas').length"), 0)
            self.assertIn("runtime", self.ask("document.querySelector('#overview').textContent"))
            # What is asked for unfolds alone, and all of it by the button, and folds again.
            self.ask("document.querySelector('nav a[href=\"#parameters\"]').click()")
            self.assertEqual(self.ask("[...document.querySelectorAll('section > details[open]')].map((fold) => fold.parentElement.id)"), ["parameters"])
            self.unfold()
            self.assertEqual(self.ask("document.querySelectorAll('section > details[open]').length"), folded)
            self.unfold()
            self.assertEqual(self.ask("document.querySelectorAll('section > details[open]').length"), 0)
            self.check_quiet(page)

    def test_on_a_telephone(self):
        for page in ("one.html", "three.html", "loggops.html"):
            self.open(page, folded=True, width=390)
            self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), 390, page)
            self.unfold()
            self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), 390, page)

    def test_topologies_break_between_parameters(self):
        # Each piece between separators is in one line: it has one box.
        pieces = """(() => {
          const broken = [];
          for (const place of document.querySelectorAll('.eyebrow, td.path')) {
            const walk = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
            while (walk.nextNode()) for (const found of walk.currentNode.data.matchAll(/[\\w.=+]+/g)) {
              const range = document.createRange();
              range.setStart(walk.currentNode, found.index);
              range.setEnd(walk.currentNode, found.index + found[0].length);
              if (range.getClientRects().length > 1 && found[0].length < 40) broken.push(found[0]);
            }
          }
          return broken;
        })()"""
        for width in (1280, 390):
            self.open("three.html", width=width)
            self.assertIn("oversubscription", self.ask("document.querySelector('#network .eyebrow').textContent"))
            self.assertEqual(self.ask(pieces), [])

    def test_warnings_are_in_full_at_the_top(self):
        shutil.copytree(self.folder / "TREE", self.folder / "WARNED")
        texts = [f"warning {i}: the routing policy of /a/long/path/{'x' * 60}/{i} has no effect here" for i in range(5)]
        with sqlite3.connect(self.folder / "WARNED/results.sqlite") as database:
            database.execute("DELETE FROM warnings")
            database.executemany("INSERT INTO warnings (kind, text) VALUES ('warning', ?)", [(text,) for text in texts])
        weft("report", "WARNED", "TREE", "-o", "warned.html", cwd=self.folder)
        self.open("warned.html", folded=True, width=390)
        notices = self.ask("[...document.querySelectorAll('#overview .notice')].map((notice) => notice.textContent)")
        for text in texts:
            self.assertEqual([notice for notice in notices if text in notice], [f"WARNED {text}"])
        seen = self.ask("[...document.querySelectorAll('#overview .notice')].filter((notice) => notice.checkVisibility()).length")
        self.assertEqual(seen, 3)
        self.ask("document.querySelector('#overview .more summary').click()")
        self.assertEqual(self.ask("[...document.querySelectorAll('#overview .notice')].filter((notice) => notice.checkVisibility()).length"),
                         len(texts) + len(json.loads((self.folder / "TREE/summary.json").read_text())["warnings"]))
        self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), 390)

    def test_many_ranks_have_the_colours_of_the_legend(self):
        # Two ranks a column and fewer than two pixels for each; each third has a computation three times as long.
        with open(self.folder / "uneven.goal", "w") as graph:
            graph.write("num_ranks 2048\n")
            for rank in range(2048):
                graph.write(f"rank {rank} {{\nl1: calc {30000 + 60000 * (rank % 3 == 0)}\nl2: send 100b to {(rank + 1) % 2048}\n"
                            f"l3: recv 100b from {(rank - 1) % 2048}\nl2 requires l1\n}}\n")
        weft("sim", "-q", "--goal", "uneven.goal", "--network", "loggops:L=2000,o=1500,g=10,G=0.08", "-o", "UNEVEN", cwd=self.folder)
        weft("report", "UNEVEN", "-o", "uneven.html", cwd=self.folder)
        for width in (1280, 777, 390):
            self.open("uneven.html", width=width)
            for section in ("overview", "breakdown"):
                shades, others = self.ask("""(() => {
                  const canvas = document.querySelector('#%s .plot canvas'), {width, height} = canvas;
                  const {data} = canvas.getContext('2d').getImageData(70, 0, width - 70, height - 27);
                  const hex = (i) => '#' + [0, 1, 2].map((k) => data[i + k].toString(16).padStart(2, '0')).join('');
                  const counts = {};
                  for (let i = 0; i < data.length; i += 4) {
                    const shade = data[i + 3] === 0 ? 'ground' : data[i + 3] < 255 ? 'mixed' : hex(i);
                    counts[shade] = (counts[shade] ?? 0) + 1;
                  }
                  const legend = ['compute', 'overhead', 'network', 'peers', 'waiting'].map(colour);
                  const known = new Set([...legend, colour('rule'), 'ground']);
                  return [legend.filter((shade) => counts[shade] > 0).length,
                          Object.entries(counts).filter(([shade]) => !known.has(shade)).reduce((sum, [, count]) => sum + count, 0)];
                })()""" % section)
                self.assertGreaterEqual(shades, 2)
                self.assertEqual(others, 0, (section, width))

    def test_other_network_models(self):
        self.open("loggops.html")
        text = self.ask("document.querySelector('#left-out').textContent")
        self.assertIn("no topology", text)
        self.assertIn("nothing was sampled", text)

    def test_critical_path(self):
        shutil.copytree(self.folder / "TREE", self.folder / "PATH")
        summary = json.loads((self.folder / "PATH/summary.json").read_text())
        shares = {"compute_ns": 500000, "overhead_ns": 0, "latency_ns": 1000, "bandwidth_ns": 90000, "queueing_ns": 102000.5, "matching_ns": 0, "start_ns": 0}
        part = {"name": "host 0 -> edge 0.0", "pieces": 3, "total_ns": 90000, "shares": shares}
        summary["critical_path"] = {"runtime_ns": 693000.5, "bound_by": "compute", "shares": shares, "classes": [part], "ranks": [], "links": [part]}
        (self.folder / "PATH/summary.json").write_text(json.dumps(summary))
        weft("report", "PATH", "TREE", "-o", "path.html", cwd=self.folder)
        self.open("path.html")
        text = self.ask("document.querySelector('#critical-path').textContent")
        self.assertIn("host 0 -> edge 0.0", text)
        self.assertIn("102 µs", text)
        self.assertIn("was 72% computing and 15% queues", self.ask("document.querySelector('#overview').textContent"))
        self.open("one.html")
        self.assertFalse(self.ask("Boolean(document.querySelector('#critical-path'))"))

    def test_tips(self):
        self.open("one.html")
        for selector, words in (("#timeline canvas", "rank "), ("#breakdown .plot canvas", "of halo"), ("#series .uplot .u-over", "at "),
                                ("#breakdown .bar", "Computing"), ("#network rect.node", " ")):
            x, y, _, _ = self.middle(selector)
            self.browser.mouse("mouseMoved", x - 1, y)
            self.browser.mouse("mouseMoved", x, y)
            self.browser.wait_for("!document.getElementById('tip').hidden")
            self.assertIn(words, self.tip(), selector)
            self.browser.mouse("mouseMoved", 5, 5)
        # A link of the drawing, in its middle.
        x, y = self.ask("(() => { const p = document.querySelector('#network path.hit'); p.closest('svg').scrollIntoView({block: 'center', behavior: 'instant'}); "
                        "const m = p.getPointAtLength(p.getTotalLength() / 2).matrixTransform(p.getScreenCTM()); return [m.x, m.y]; })()")
        self.browser.mouse("mouseMoved", x, y)
        self.assertIn("in use", self.tip())
        self.check_quiet("one.html")

    def range(self):
        return self.ask("(() => { const {from, to} = document.querySelector('#timeline canvas').dataset; return [Number(from), Number(to)]; })()")

    def test_zoom_of_the_timeline(self):
        self.open("one.html")
        whole = self.range()
        x, y, width, _ = self.middle("#timeline canvas")
        self.browser.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.browser.mouse("mouseMoved", x + width / 8, y, button="left")
        self.browser.mouse("mouseReleased", x + width / 8, y, button="left", clickCount=1)
        zoomed = self.range()
        self.assertLess(zoomed[1] - zoomed[0], (whole[1] - whole[0]) / 5)
        self.assertGreater(zoomed[0], whole[0])
        self.ask("document.querySelector('#timeline canvas').focus()")
        self.browser.key("ArrowRight")
        self.assertGreater(self.range()[0], zoomed[0])
        self.browser.key("+", text="+")
        self.assertLess(self.range()[1] - self.range()[0], (zoomed[1] - zoomed[0]) * 0.6)
        self.browser.key("0", text="0")
        self.assertEqual(self.range(), whole)
        self.check_quiet("one.html")

    def test_zoom_of_series_and_drawing(self):
        self.open("one.html")
        scale = "(() => { const {min, max} = document.querySelector('#series .plot').chart().scales.x; return max - min; })()"
        whole = self.ask(scale)
        x, y, width, _ = self.middle("#series .u-over")
        self.browser.mouse("mouseMoved", x, y)
        self.browser.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.browser.mouse("mouseMoved", x + width / 4, y, button="left")
        self.browser.mouse("mouseReleased", x + width / 4, y, button="left", clickCount=1)
        self.browser.wait_for(f"{scale} < {whole / 2}")
        self.ask("document.querySelector('#series .plot').focus()")
        self.browser.key("0", text="0")
        self.browser.wait_for(f"{scale} > {whole * 0.99}")
        view = "document.querySelector('#network svg').getAttribute('viewBox').split(' ').map(Number)[2]"
        before = self.ask(view)
        self.ask("document.querySelector('#network button[aria-label=\"Zoom in\"]').click()")
        self.assertLess(self.ask(view), before)
        self.check_quiet("one.html")

    # Keeps what is written on canvases, with its left and right end in their pixels.
    WRITTEN = """(() => {
      const fillText = CanvasRenderingContext2D.prototype.fillText;
      window.written = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
        const box = this.measureText(text), at = this.getTransform().transformPoint({x, y});
        window.written.push({canvas: this.canvas, text, left: at.x - box.actualBoundingBoxLeft, right: at.x + box.actualBoundingBoxRight});
        return fillText.call(this, text, x, y, ...rest);
      };
      window.cutOff = () => window.written.filter(({canvas, left, right}) => left < 0 || right > canvas.width)
        .map(({text, left, right, canvas}) => `${text}: ${left} to ${right} of ${canvas.width}`);
      window.writtenOn = (plot) => window.written.filter(({canvas}) => plot.contains(canvas)).map(({text}) => text);
    })()"""

    def test_no_word_of_a_drawing_is_cut(self):
        script = self.browser.send("Page.addScriptToEvaluateOnNewDocument", source=self.WRITTEN)["identifier"]
        try:
            for width in (1400, 700, 390):
                self.open("three.html", width=width)
                self.assertGreater(self.ask("window.written.filter(({text}) => /^[0-9.]+ [GT]b.s$/.test(text)).length"), 2)
                self.assertEqual(self.ask("window.cutOff()"), [])
            # Words wider than any that these runs have, on a chart of its own.
            self.ask("document.querySelector('main').prepend(lineChart([0, 1, 2], [{name: 'a', colour: '#000', values: [1, 2, 3]}], "
                     "{title: 'wide', x: (at) => `${at} thousand metres`, y: (value) => `${value} thousand Gb/s`}))")
            self.browser.wait_for("window.written.some(({text}) => text.includes('thousand Gb'))")
            self.assertEqual(self.ask("window.cutOff()"), [])
        finally:
            self.browser.send("Page.removeScriptToEvaluateOnNewDocument", identifier=script)

    def test_logarithmic_axes_have_values(self):
        script = self.browser.send("Page.addScriptToEvaluateOnNewDocument", source=self.WRITTEN)["identifier"]
        try:
            self.open("one.html")
            # By the values, and the part of them that is asked for: what an axis some 500 pixels wide says.
            for values, part, expected in (((3e5, 1e7), None, {"500 µs", "1 ms", "2 ms", "5 ms", "10 ms"}), ((4e5, 1e6), None, {"500 µs", "1 ms"}),
                                           ((2e6, 3e6), None, {"2 ms", "2.5 ms", "3 ms"}), ((1, 1e6), None, {"1 ns", "10 ns", "1 µs", "1 ms"}),
                                           ((4.1e6, 4.4e6), None, {"4 ms", "4.5 ms", "5 ms"}),
                                           ((1e6, 1e7), (4.1e6, 4.4e6), {"4.1 ms", "4.2 ms", "4.3 ms", "4.4 ms"})):
                self.ask(f"(() => {{ window.one = lineChart({list(values)}, [{{name: 'a', colour: '#000', values: [0, 1]}}], "
                         "{title: 'wide', x: (ns) => timeText(ns), y: percentText, logarithmic: true, most: 1}); window.one.style.width = '600px'; "
                         "document.querySelector('main').prepend(window.one); })()")
                self.browser.wait_for("window.writtenOn(window.one).some((text) => text.includes('s'))")
                if part:
                    self.ask(f"window.one.querySelector('.plot').chart().setScale('x', {{min: {part[0]}, max: {part[1]}}})")
                    self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
                self.assertLessEqual(expected, set(self.ask("window.writtenOn(window.one)")), values)
            # And each of the page's own.
            axes = self.ask("[...document.querySelectorAll('#messages .plot')].filter((plot) => plot.chart).map((plot) => "
                            "plot.chart().axes[0]._values.filter((text) => text).length)")
            self.assertGreaterEqual(len(axes), 2)
            self.assertGreaterEqual(min(axes), 2)
            self.assertEqual(self.ask("window.cutOff()"), [])
        finally:
            self.browser.send("Page.removeScriptToEvaluateOnNewDocument", identifier=script)

    def test_curves_end_with_the_run(self):
        self.open("one.html")
        run, = data_of(self.folder / "one.html")["runs"]
        makespan = run["summary"]["makespan_ns"]
        self.assertNotEqual(makespan % 5000, 0)
        self.assertAlmostEqual(run["series"]["end_ns"], makespan, delta=1)
        ends = self.ask("[...document.querySelectorAll('#series .plot')].filter((plot) => plot.chart).map((plot) => plot.chart().data[0].at(-1))")
        self.assertGreater(len(ends), 4)
        self.assertAlmostEqual(max(ends), makespan, delta=1)
        # What was delivered, over the time in which it was, is the sum of the rows.
        delivered = self.ask("(() => { const plot = [...document.querySelectorAll('#series .plot')].find((e) => e.ariaLabel.startsWith('Delivered')); "
                             "const [x, y] = plot.chart().data; return x.reduce((sum, at, i) => (i ? sum + (y[i] * (at - x[i - 1])) / 8e9 : 0), 0); })()")
        with sqlite3.connect(f"file:{self.folder}/TREE/results.sqlite?mode=ro", uri=True) as database:
            (total,), = database.execute("SELECT sum(bytes_delivered) FROM network_samples")
        self.assertAlmostEqual(delivered / total, 1, 6)

    def test_unknown_power_is_not_shown(self):
        weft("report", "TREE", "--prices", "hammingmesh_sc22", "-o", "paper.html", cwd=self.folder)
        self.open("paper.html")
        cost = self.ask("document.querySelector('#cost').textContent")
        self.assertIn("it gives no power", cost)
        self.assertIsNone(re.search(r"\b0 ?W|drawn|energy|Power", cost), cost)
        self.assertIsNone(re.search(r"\bW\b", self.ask("document.querySelector('#overview').textContent")))
        self.open("one.html")
        self.assertIn("drawn by the network", self.ask("document.querySelector('#cost').textContent"))

    def test_training_steps_tell_mfu(self):
        for name, rate in ("STEP", "3200Gbps"), ("SLOW", "10Gbps"):
            weft("sim", "-q", "--traffic", "llm:model=llama3_8b,dp=4,global_batch=4,seq=2048,device=h100", "--network", "flow",
                 "--topology", f"single_switch:hosts=4,link={rate}", "-o", name, cwd=self.folder)
        weft("report", "STEP", "-o", "step.html", cwd=self.folder)
        weft("report", "STEP", "SLOW", "-o", "steps.html", cwd=self.folder)
        # A token takes six FLOPs for each weight of the products, and twelve for each layer, hidden value and earlier
        # token, half a sequence on average. An H100 has 989.4 TFLOP/s.
        weights = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336) + 128256 * 4096
        token = 6 * weights + 12 * 32 * 4096 * 2048 / 2
        shares = []
        for run in ("STEP", "SLOW"):
            seconds = json.loads((self.folder / run / "summary.json").read_text())["makespan_ns"] * 1e-9
            shares.append(token * 4 * 2048 / seconds / 4 / 989.4e12)
        self.open("step.html")
        figures = self.ask("[...document.querySelectorAll('#overview .figure')].map((figure) => figure.textContent)")
        figure, = (figure for figure in figures if "(MFU)" in figure)
        self.assertAlmostEqual(float(figure.split("%")[0]), 100 * shares[0], delta=0.06)
        self.open("steps.html")
        rows = self.ask("[...document.querySelectorAll('#compare tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
        row, = (row for row in rows if row[0] == "Model FLOPs utilization (MFU)")
        for text, share in zip(row[1:], shares):
            self.assertAlmostEqual(float(text.strip("%")), 100 * share, delta=0.06)
        self.open("one.html")
        self.assertNotIn("MFU", self.ask("document.querySelector('main').textContent"))

    def type(self, selector, text):
        self.ask("(() => { const field = document.querySelector(%s); field.focus(); field.value = %s; field.dispatchEvent(new Event('input', {bubbles: true})); })()"
                 % (json.dumps(selector), json.dumps(text)))

    def test_filters_and_order_of_tables(self):
        self.open("one.html")
        lanes = "Number(document.querySelector('#timeline canvas').dataset.lanes)"
        self.assertEqual(self.ask(lanes), 16 + 8)
        self.type("#timeline input[type=search]", "0-3 halo")
        self.assertEqual(self.ask(lanes), 4)
        rows = "[...document.querySelectorAll('#parameters tbody tr')].map((row) => row.textContent)"
        self.type("#parameters input[type=search]", "fat_tree link")
        found = self.ask(rows)
        self.assertGreaterEqual(len(found), 1)
        for row in found:
            self.assertIn("topology.fat_tree", row)
        column = "[...document.querySelectorAll('#links tbody tr td:nth-child(6)')].map((cell) => cell.textContent)"
        self.ask("document.querySelector('#links th:nth-child(6) button').click()")
        self.assertEqual(self.ask("document.querySelector('#links th:nth-child(6)').getAttribute('aria-sort')"), "descending")

        def number(text):
            value, _, unit = text.partition(" ")
            return float(value.replace(",", "")) * {"": 1, "B": 1, "kB": 1e3, "MB": 1e6}[unit]

        values = [number(text) for text in self.ask(column)]
        self.assertEqual(values, sorted(values, reverse=True))
        self.assertGreater(values[0], 0)

    def test_dark_and_light(self):
        self.open("one.html")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = self.ask(ground)
        self.browser.emulate("dark")
        self.browser.wait_for("document.documentElement.dataset.theme === 'dark'")
        self.assertNotEqual(self.ask(ground), light)
        self.ask("document.getElementById('theme').click()")
        self.assertEqual(self.ask(ground), light)
        self.check_quiet("one.html")

    def contrast(self, front, ground):
        """As WCAG 2.1 defines it, of two variables of the styles."""
        def luminance(name):
            text = self.ask(f"colour('{name}')").lstrip("#")
            parts = [int(text[i:i + 2], 16) / 255 for i in (0, 2, 4)]
            red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue

        high, low = sorted((luminance(front), luminance(ground)), reverse=True)
        return (high + 0.05) / (low + 0.05)

    def test_contrast(self):
        self.open("one.html")
        for scheme in ("light", "dark"):
            self.browser.emulate(scheme)
            self.browser.wait_for(f"document.documentElement.dataset.theme === '{scheme}'")
            for front, least in (("text", 7), ("muted", 4.5), ("accent", 4.5), ("good", 4.5), ("bad", 4.5), ("compute", 3), ("network", 3)):
                self.assertGreaterEqual(self.contrast(front, "ground"), least, (scheme, front))

    def test_print(self):
        self.open("one.html")
        self.browser.emulate("dark")
        self.browser.wait_for("document.documentElement.dataset.theme === 'dark'")
        pdf = self.browser.pdf()
        self.assertTrue(pdf.startswith(b"%PDF-"))
        pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
        self.assertGreaterEqual(pages, 3)
        # And back as it was.
        self.browser.wait_for("document.documentElement.dataset.theme === 'dark'")
        self.check_quiet("one.html")

    def test_keyboard_reaches_everything(self):
        self.open("one.html")
        wanted = self.ask("document.querySelectorAll('main a, main button:not([hidden]), main input, main select, main [tabindex=\"0\"]').length")
        reached = self.ask("[...document.querySelectorAll('main a, main button:not([hidden]), main input, main select, main [tabindex=\"0\"]')]"
                           ".filter((e) => { e.focus(); return document.activeElement === e; }).length")
        self.assertEqual(reached, wanted)
        self.assertGreater(wanted, 40)

    def test_several_runs(self):
        self.open("three.html")
        self.assertEqual(self.ask("[...document.querySelectorAll('main section')].map((section) => section.id).slice(0, 2)"), ["overview", "compare"])
        self.assertRegex(self.ask("document.querySelector('h1').textContent"), "is the fastest")
        differing = self.ask("document.querySelector('#compare').textContent")
        self.assertIn("Simulated runtime", differing)
        chosen = self.ask("[...document.querySelectorAll('#compare tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
        self.assertIn(["topology", "fat_tree", "torus", "–"], chosen)
        self.assertIn(["network", "packet", "packet", "loggops"], chosen)
        heads = self.ask("[...document.querySelectorAll('#compare table')][0].querySelectorAll('thead th').length")
        self.assertEqual(heads, 4)
        self.assertEqual(self.ask("document.querySelectorAll('#timeline canvas').length"), 3)
        self.assertEqual(self.ask("document.querySelectorAll('#network svg').length"), 2)
        # Seen on a projector, and on a telephone.
        for width in (1024, 1920, 390):
            self.browser.size(width, 768)
            self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), width)
        self.check_quiet("three.html")

    def test_many_points_open_soon(self):
        """100,000 points: told, with a bound that only a hang would miss."""
        weft("sim", "-q", "--traffic", "alltoall:size=4KB,iterations=8", "--topology", "fat_tree:k=8", "--set", "output.timeline=on", "--sample", "1us",
             "-o", "MANY", cwd=self.folder)
        weft("report", "MANY", "-o", "many.html", cwd=self.folder)
        run, = data_of(self.folder / "many.html")["runs"]
        points = len(run["timeline"]["slices"]["kind"]) + len(run["timeline"]["messages"]["sent"]) + len(run["messages"]["sample"]["flow"])
        took = self.open("many.html")
        size = (self.folder / "many.html").stat().st_size
        print(f"\n{points:,} points, {size / 1e6:.2f} MB: drawn {took} ms after the page was opened")
        self.assertGreaterEqual(points, 100_000)
        self.assertLess(size, 10_000_000)
        self.assertLess(took, 60_000)


if __name__ == "__main__":
    unittest.main()
