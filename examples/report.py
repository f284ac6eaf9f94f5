"""What the studies of this folder hand over: tables, and plots in one style. Nothing but Python's own library."""

import csv
import math
from html import escape

# Colours that people with any colour vision tell apart (M. Okabe, K. Ito, 2008), each with a marker and a dash, so
# that prints in grey can be read, too. A policy looks the same in all studies.
BLACK, GREY, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PINK = (
    "#000000", "#888888", "#e69f00", "#56b4e9", "#009e73", "#d8c400", "#0072b2", "#d55e00", "#cc79a7")
STYLES = {
    "ecmp": (BLACK, "", "circle"),
    "minimal": (BLACK, "", "circle"),
    "valiant": (ORANGE, "", "square"),
    "ugal": (SKY, "", "triangle"),
    "ugal_g": (BLUE, "", "diamond"),
    "par": (GREEN, "", "cross"),
    "spray": (GREY, "", "square"),
    "flowlet": (YELLOW, "", "diamond"),
    "letflow": (PINK, "", "triangle"),
    "flowcut": (RED, "", "circle"),
    "flowcut ingress": (RED, "7 3", "triangle"),
    "flowcut nic": (RED, "2 3", "square"),
    "srv6": (BLUE, "", "circle"),
    "reps": (GREEN, "", "diamond"),
    "bitmap": (ORANGE, "", "cross"),
}
FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"


def write_csv(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def text_table(lines, left=1):
    """Columns of equal width, of which the first `left` begin at the left."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(w) if i < left else cell.rjust(w)
                               for i, (cell, w) in enumerate(zip(line, widths))).rstrip() for line in lines)


def nice_ticks(low, high, about=5):
    """Round values from low or above to high or below."""
    step = 10 ** math.floor(math.log10((high - low) / about))
    step = next(step * m for m in (1, 2, 2.5, 5, 10) if (high - low) / (step * m) <= about)
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


class Axis:
    """From values to places: 0 at low, 1 at high. `names`: of steps at equal distances, instead of numbers."""

    def __init__(self, label="", low=0.0, high=1.0, log=False, ticks=None, names=None, unit=""):
        self.label, self.log, self.names, self.unit = label, log, names, unit
        self.low, self.high = (math.log10(low), math.log10(high)) if log else (low, high)
        if names is not None:
            self.low, self.high, ticks = -0.5, len(names) - 0.5, range(len(names))
        elif ticks is None and log:
            ticks = [m * 10 ** e for e in range(-3, 10) for m in (1, 2, 5)]
        elif ticks is None:
            ticks = nice_ticks(low, high)
        self.ticks = [t for t in ticks if -1e-9 <= self.place(t) <= 1 + 1e-9]

    def place(self, value):
        return ((math.log10(value) if self.log else value) - self.low) / (self.high - self.low)

    def text(self, tick):
        return self.names[tick] if self.names is not None else f"{tick:,.6g}{self.unit}"


class Panel:
    """One diagram of a plot."""

    def __init__(self, box, title, across, up):
        self.left, self.top, self.width, self.height = box
        self.across, self.up = across, up
        self.levels, self.points, self.joins = [], [], []
        bottom, right = self.top + self.height, self.left + self.width
        self.back = [f'<text x="{self.left}" y="{self.top - 10}" font-size="14" font-weight="bold">{escape(title)}</text>']
        for tick in up.ticks:
            y = self.y(tick)
            self.back.append(f'<path d="M{self.left} {y:.1f}H{right}" stroke="#e2e2e2"/><text x="{self.left - 7}" '
                             f'y="{y + 4:.1f}" font-size="12" text-anchor="end">{escape(up.text(tick))}</text>')
        for tick in across.ticks:
            x = self.x(tick)
            for i, line in enumerate(across.text(tick).split("\n")):
                self.back.append(f'<text x="{x:.1f}" y="{bottom + 17 + 14 * i}" font-size="12" text-anchor="middle">'
                                 f'{escape(line)}</text>')
            if across.names is None:
                self.back.append(f'<path d="M{x:.1f} {bottom}v4" stroke="black"/>')
        self.back.append(f'<path d="M{self.left} {self.top}V{bottom}H{right}" fill="none" stroke="black"/>')
        lines = max([across.text(tick).count("\n") for tick in across.ticks], default=0)
        self.back.append(f'<text x="{self.left + self.width / 2:.1f}" y="{bottom + 38 + 14 * lines}" font-size="13" '
                         f'text-anchor="middle">{escape(across.label)}</text>')
        self.back.append(f'<text transform="translate({self.left - 50} {self.top + self.height / 2:.1f}) rotate(-90)" '
                         f'font-size="13" text-anchor="middle">{escape(up.label)}</text>')
        self.data = []

    def x(self, value):
        return self.left + self.width * self.across.place(value)

    def y(self, value):
        return self.top + self.height * (1 - self.up.place(value))

    def line(self, points, style, wide=False):
        color, dash, marker = style
        places = [(self.x(a), self.y(b)) for a, b in points]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        self.data.append(f'<polyline class="data" points="{line}" fill="none" stroke="{color}" '
                         f'stroke-width="{3.5 if wide else 2}" stroke-dasharray="{dash}" stroke-linejoin="round"/>')
        if marker:
            self.data += [mark(a, b, color, marker, 4.5 if wide else 3.5) for a, b in places]

    def bar(self, place, width, value, color):
        """`place`, `width`: in steps of the axis below."""
        x, y = self.x(place - width / 2), self.y(value)
        self.data.append(f'<rect class="data" x="{x:.1f}" y="{y:.1f}" width="{self.x(place + width / 2) - x - 1:.1f}" '
                         f'height="{self.top + self.height - y:.1f}" fill="{color}"/>')

    def point(self, a, b, color, name="", size=7):
        self.points.append((self.x(a), self.y(b)))
        self.data.append(f'<circle class="data" cx="{self.x(a):.1f}" cy="{self.y(b):.1f}" r="{size}" fill="{color}">'
                         f'<title>{escape(name)}</title></circle>')

    def names(self, names):
        """Of points, (a, b, name): each where it covers no point, line or other name, as near as can be."""
        taken = [(x - 8, y - 8, x + 8, y + 8) for x, y in self.points] + self.joins
        for a, b, name in names:
            wide, best = 7.5 * len(name), None
            for far in range(0, 60, 4):
                for x, y in ((12 + far / 2, 4), (-12 - wide - far / 2, 4), (10, 18 + far), (10, -8 - far),
                             (-wide - 10, 18 + far), (-wide - 10, -8 - far)):
                    left, base = self.x(a) + x, self.y(b) + y
                    box = (left, base - 11, left + wide, base + 3)
                    if all(box[2] < o[0] or o[2] < box[0] or box[3] < o[1] or o[3] < box[1] for o in taken):
                        best = best or (left, base, box)
                if best:
                    break
            left, base, box = best or (self.x(a) + 12, self.y(b) + 4, (0, 0, 0, 0))
            taken.append(box)
            self.levels.append(label(left, base, name, BLACK, "start", 13))

    def level(self, value, text, color=BLACK, begin=None, end=None, at_left=False):
        """A dashed line at a height that theory gives, with its name at one end, on top of all else."""
        x0 = self.left if begin is None else self.x(begin)
        x1 = self.left + self.width if end is None else self.x(end)
        self.levels.append(f'<path class="level" d="M{x0:.1f} {self.y(value):.1f}H{x1:.1f}" stroke="{color}" '
                           'stroke-width="1.5" stroke-dasharray="6 4"/>')
        if text:
            at, anchor = (x0 + 4, "start") if at_left else (x1 - 4, "end")
            self.levels.append(label(at, self.y(value) - 6, text, color, anchor))

    def text(self, a, b, text, color=BLACK, anchor="start", shift=(0, 0), size=12):
        self.levels.append(label(self.x(a) + shift[0], self.y(b) + shift[1], text, color, anchor, size))

    def join(self, a, b, c, d, color=GREY):
        """Of two points, one above the other."""
        self.joins.append((self.x(a), min(self.y(b), self.y(d)), self.x(a), max(self.y(b), self.y(d))))
        self.back.append(f'<path d="M{self.x(a):.1f} {self.y(b):.1f}L{self.x(c):.1f} {self.y(d):.1f}" stroke="{color}" '
                         'stroke-width="1.5"/>')

    def svg(self):
        return self.back + self.data + self.levels


def label(x, y, text, color, anchor, size=12):
    """Text that can be read on lines."""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" text-anchor="{anchor}" stroke="white" '
            f'stroke-width="4" paint-order="stroke">{escape(text)}</text>')


def mark(x, y, color, marker, size):
    paths = {"square": f"M{-size} {-size}h{2 * size}v{2 * size}h{-2 * size}z",
             "triangle": f"M0 {-1.3 * size}L{1.2 * size} {size}H{-1.2 * size}z",
             "diamond": f"M0 {-1.4 * size}L{1.4 * size} 0L0 {1.4 * size}L{-1.4 * size} 0z",
             "cross": f"M{-size} {-size}L{size} {size}M{size} {-size}L{-size} {size}"}
    if marker not in paths:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{color}"/>'
    return (f'<path transform="translate({x:.1f} {y:.1f})" d="{paths[marker]}" fill="{color}" stroke="{color}" '
            f'stroke-width="{2.2 if marker == "cross" else 0}"/>')


class Plot:
    """Panels in rows and columns, below a title and one legend for all: no line is ever below it."""

    LEFT, RIGHT, BETWEEN, ABOVE, BELOW = 70, 24, 76, 34, 54

    def __init__(self, title, subtitle="", columns=1, rows=1, panel=(760, 400), legend=(), names_of_lines=1):
        """`legend`: (name, style) of lines, or (name, colour) of areas. `names_of_lines`: text lines below an axis."""
        self.panel_size = panel
        self.below = self.BELOW + 14 * (names_of_lines - 1)
        self.width = self.LEFT + columns * panel[0] + (columns - 1) * self.BETWEEN + self.RIGHT
        self.out = [f'<text x="{self.LEFT}" y="32" font-size="20" font-weight="bold">{escape(title)}</text>']
        y = 32
        for line in subtitle.split("\n") if subtitle else []:
            y += 20
            self.out.append(f'<text x="{self.LEFT}" y="{y}" font-size="13" fill="#444444">{escape(line)}</text>')
        self.top = self.legend(legend, y + 26) + self.ABOVE if legend else y + self.ABOVE
        self.height = self.top + rows * panel[1] + (rows - 1) * (self.ABOVE + self.below) + self.below
        self.panels = []

    def legend(self, entries, y):
        x = self.LEFT
        for name, style in entries:
            wide = 48 + 7.5 * len(name)
            if x + wide > self.width - self.RIGHT and x > self.LEFT:
                x, y = self.LEFT, y + 22
            if isinstance(style, str):
                self.out.append(f'<rect class="legend" x="{x}" y="{y - 11}" width="22" height="13" fill="{style}"/>')
            else:
                color, dash, marker = style
                self.out.append(f'<path d="M{x} {y - 5}h26" stroke="{color}" stroke-width="2.5" stroke-dasharray="{dash}"/>')
                if marker:
                    self.out.append(mark(x + 13, y - 5, color, marker, 4.5))
            self.out.append(f'<text x="{x + 32}" y="{y}" font-size="13">{escape(name)}</text>')
            x += wide
        return y

    def panel(self, column, row, title, across, up):
        wide, high = self.panel_size
        box = (self.LEFT + column * (wide + self.BETWEEN), self.top + row * (high + self.ABOVE + self.below), wide, high)
        self.panels.append(Panel(box, title, across, up))
        return self.panels[-1]

    def svg(self):
        body = self.out + [line for panel in self.panels for line in panel.svg()]
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
                          f'viewBox="0 0 {self.width} {self.height}" font-family="{FONT}">',
                          f'<rect width="{self.width}" height="{self.height}" fill="white"/>', *body, "</svg>"]) + "\n"


def shade(value, best, worst):
    """0 for `best` or better, 1 for `worst` or worse, by ratio in between."""
    if min(value, best, worst) <= 0:
        return float((value <= 0) == (worst < best))
    return min(1.0, max(0.0, math.log(value / best) / math.log(worst / best)))


def heat_map(title, subtitle, heads, groups, cell=(58, 23)):
    """A table whose cells tell good from bad at a glance: white for shade 0, red for 1.

    heads: (title, [names of columns]) of blocks of columns; groups: (title, [(name, [(text, shade), …])]) of rows."""
    wide, high = cell
    left, gap, top = 176, 16, 54 + 20 * subtitle.count("\n") + (20 if subtitle else 0)
    out = [f'<text x="16" y="32" font-size="20" font-weight="bold">{escape(title)}</text>']
    for i, line in enumerate(subtitle.split("\n") if subtitle else []):
        out.append(f'<text x="16" y="{54 + 20 * i}" font-size="13" fill="#444444">{escape(line)}</text>')
    places, x = [], left
    for head, names in heads:
        out.append(f'<text x="{x}" y="{top}" font-size="14" font-weight="bold">{escape(head)}</text>')
        for name in names:
            for i, line in enumerate(name.split("\n")):
                out.append(f'<text x="{x + wide / 2:.1f}" y="{top + 21 + 14 * i}" font-size="11.5" text-anchor="middle">'
                           f'{escape(line)}</text>')
            places.append(x)
            x += wide
        x += gap
    y = top + 21 + 14 * max(name.count("\n") for _, names in heads for name in names) + 8
    for group, rows in groups:
        out.append(f'<text x="16" y="{y + 16}" font-size="12.5" font-weight="bold" fill="#444444">{escape(group)}</text>')
        y += 22
        for name, cells in rows:
            out.append(f'<text x="{left - 8}" y="{y + high - 7}" font-size="13" text-anchor="end">{escape(name)}</text>')
            for place, (text, dark) in zip(places, cells):
                color = "#{:02x}{:02x}{:02x}".format(*(round(255 + dark * (end - 255)) for end in (196, 60, 0)))
                out.append(f'<rect class="data" x="{place}" y="{y}" width="{wide - 1}" height="{high - 1}" fill="{color}"/>'
                           f'<text x="{place + wide / 2:.1f}" y="{y + high - 7}" font-size="12" text-anchor="middle" '
                           f'fill="{"white" if dark > 0.6 else BLACK}">{escape(text)}</text>')
            y += high
        y += 6
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{x}" height="{y + 12}" viewBox="0 0 {x} {y + 12}" '
                      f'font-family="{FONT}">', f'<rect width="{x}" height="{y + 12}" fill="white"/>', *out, "</svg>"]) + "\n"
