// Draws the charts of the page from the data beside them. Nothing here fetches anything.
"use strict";
(() => {
  const BAR = 0, SPAN = 1, INTERVAL = 2, LINE = 3, DASHES = 4, JOINED = 5, POINTS = 6, DIAMONDS = 7;
  const root = document.documentElement;
  const color = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // Numbers for people, as the tables have them.
  const digits = (v) => {
    const a = Math.abs(v);
    if (a === 0) return "0";
    if (a < 0.9995) return String(Number(v.toPrecision(3)));
    return String(Number(v.toFixed(a < 9.995 ? 2 : a < 99.95 ? 1 : 0)));
  };
  const scaled = (v, steps) => {
    let best = steps[0];
    for (const s of steps) if (Math.abs(v) / s[0] >= 0.9995) best = s;
    return `${digits(v / best[0])} ${best[1]}`;
  };
  const units = {
    bytes: [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"], [1e15, "PB"]],
    rate: [[1, "B/s"], [1e3, "kB/s"], [1e6, "MB/s"]],
    time: [[1e-6, "us"], [1e-3, "ms"], [1, "s"]],
    watts: [[1, "W"], [1e3, "kW"], [1e6, "MW"]],
    flops: [[1e9, "GFLOP/s"], [1e12, "TFLOP/s"], [1e15, "PFLOP/s"]],
  };
  const binary = (v) => {
    const names = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = 0;
    for (; v >= 1024 && v % 1024 === 0 && power < 4; power++) v /= 1024;
    return v < 10000 && (power > 0 || v < 1000) && v === Math.floor(v) ? `${v} ${names[power]}` : null;
  };
  const number = (v) => (Math.abs(v) >= 1e6 ? Number(v.toPrecision(4)).toExponential().replace("e+", "e") : String(Number(v.toPrecision(4))));
  const show = {
    number,
    short: (v) => v.toLocaleString("en-US", Math.abs(v) < 1e4 ? { maximumSignificantDigits: 3 } : { notation: "compact", maximumSignificantDigits: 3 }),
    money: (v) => v.toLocaleString("en-US", Math.abs(v) < 100 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 }),
    bytes: (v) => binary(v) ?? scaled(v, units.bytes),
    rate: (v) => (v === 0 || Math.abs(v) >= 1e7 ? `${digits(v / 1e9)} GB/s` : scaled(v, units.rate)),
    time: (v) => (v === 0 ? "0 s" : Math.abs(v) < 9999.5 ? scaled(v, units.time) : Math.abs(v) < 259200 ? `${digits(v / 3600)} h` : `${digits(v / 86400)} d`),
    fraction: (v) => `${digits(100 * v)} %`,
    flops: (v) => scaled(v, units.flops),
    watts: (v) => scaled(v, units.watts),
  };

  // Axes of sizes have ticks at powers of two, as messages have.
  const binaryTicks = (scale) => {
    const from = Math.ceil(Math.log2(scale.min)), to = Math.floor(Math.log2(scale.max));
    const room = Math.max(2, Math.floor(scale.width / 64));
    let step = 1;
    while ((to - from) / step > room) step++;
    scale.ticks = [];
    for (let p = Math.ceil(from / step) * step; p <= to; p += step) scale.ticks.push({ value: 2 ** p });
  };
  const decimalTicks = (scale) => {
    const kept = scale.ticks.filter((t) => Math.abs(Math.log10(t.value) % 1) < 1e-9);
    if (kept.length >= 3) scale.ticks = kept;
  };
  const axis = (a, width) => {
    const options = {
      type: a.log ? "logarithmic" : "linear",
      title: { display: Boolean(a.title), text: a.title, color: color("--soft") },
      grid: { color: color("--faint"), tickLength: 4, borderColor: color("--line"), drawBorder: false },
      border: { color: color("--line") },
      ticks: { color: color("--soft"), maxRotation: 0, autoSkipPadding: 12, maxTicksLimit: Math.max(3, Math.min(9, Math.floor(width / 95))), callback: (v) => (a.as === "money" ? show.short(v) : show[a.as](v)) },
    };
    if (a.log) options.afterBuildTicks = a.as === "bytes" ? binaryTicks : decimalTicks;
    return options;
  };

  // Whiskers, which Chart.js has none of. Those of a category have their figure at the end.
  const whiskers = {
    id: "whiskers",
    afterDatasetsDraw(chart) {
      const { ctx, scales, chartArea } = chart;
      const draw = (x1, y1, x2, y2) => {
        const [dx, dy] = x1 === x2 ? [4, 0] : [0, 4];
        ctx.beginPath();
        for (const [a, b, c, d] of [[x1, y1, x2, y2], [x1 - dx, y1 - dy, x1 + dx, y1 + dy], [x2 - dx, y2 - dy, x2 + dx, y2 + dy]]) {
          ctx.moveTo(a, b);
          ctx.lineTo(c, d);
        }
        ctx.stroke();
      };
      ctx.save();
      ctx.lineWidth = 1.5;
      ctx.strokeStyle = ctx.fillStyle = color("--ink");
      ctx.font = `600 12px ${Chart.defaults.font.family}`;
      ctx.textBaseline = "middle";
      for (const d of chart.options.whiskers) {
        if (d.category !== undefined) {
          const y = scales.y.getPixelForValue(d.category);
          let end = scales.x.getPixelForValue(d.high ?? d.x);
          if (d.low !== null) draw(scales.x.getPixelForValue(d.low), y, end, y);
          if (d.note) ctx.fillText(d.note, Math.min(end + 8, chartArea.right - ctx.measureText(d.note).width), end + 8 + ctx.measureText(d.note).width > chartArea.right ? y - 16 : y);
        } else {
          ctx.strokeStyle = color(d.hue);
          const x = scales.x.getPixelForValue(d.x), y = scales.y.getPixelForValue(d.y);
          if (d.low !== null) draw(scales.x.getPixelForValue(d.low), y, scales.x.getPixelForValue(d.high), y);
          if (d.below !== null) draw(x, scales.y.getPixelForValue(d.below), x, scales.y.getPixelForValue(d.above));
        }
      }
      ctx.restore();
    },
  };

  // A datum comes as [category or x, y or low, high …, note]; see common/render_html_chart.c.
  const barSet = (c, s, fill) => ({
    type: "bar",
    label: s.name,
    data: s.data.map((d) => ({ y: c.categories[d[0]], x: s.mark === SPAN ? [d[1], d[2]] : d[1], note: d[3] })),
    backgroundColor: fill,
    borderColor: color("--card"),
    borderWidth: s.mark === SPAN && c.dense ? 0 : c.stacked ? { right: 1 } : s.mark === SPAN ? { right: 0.5 } : 0,
    borderSkipped: false,
    grouped: !c.stacked && s.mark !== SPAN,
    stack: c.stacked ? "all" : undefined,
    maxBarThickness: 30,
    barPercentage: c.dense ? 0.86 : 0.8,
    categoryPercentage: c.dense ? 0.95 : 0.75,
    minBarLength: s.mark === SPAN ? 1 : 0,
  });
  const lineSet = (s, fill) => ({
    type: "scatter",
    label: s.name,
    data: s.data.map((d) => ({ x: d[0], y: d[1] ?? NaN, note: d[2] })),
    showLine: s.mark !== POINTS && s.mark !== DIAMONDS && s.mark !== INTERVAL,
    borderDash: s.mark === DASHES ? [6, 4] : [],
    borderWidth: 2,
    borderColor: fill,
    backgroundColor: s.mark === LINE || s.mark === DASHES ? fill : color("--card"),
    pointBackgroundColor: s.mark === INTERVAL || s.mark === DIAMONDS ? fill : color("--card"),
    pointBorderWidth: 1.75,
    pointRadius: s.mark === LINE || s.mark === DASHES ? 0 : s.mark === JOINED ? 2.5 : s.mark === INTERVAL || s.mark === DIAMONDS ? 5.5 : 3.5,
    pointHitRadius: 8,
    pointStyle: s.mark === DIAMONDS ? "rectRot" : s.mark === LINE || s.mark === DASHES ? "line" : "circle",
  });

  const whiskersOf = (c) => {
    const all = [];
    for (const s of c.series) {
      if (s.mark !== INTERVAL) continue;
      for (const d of s.data)
        all.push(c.categories ? { category: d[0], low: d[1], high: d[2], note: d[3], x: d[4] }
                              : { x: d[0], y: d[1], low: d[3], high: d[4], below: d[5], above: d[6], hue: s.hue });
    }
    return all;
  };

  // Lines no wider than the room: parted between words, in long names after . _ - or /, at the worst anywhere.
  const ruler = document.createElement("canvas").getContext("2d");
  const fitsIn = (room, size) => {
    ruler.font = `${size}px ${Chart.defaults.font.family}`;
    return (line) => ruler.measureText(line).width <= room;
  };
  const shorten = (text, room, size) => {
    const fits = fitsIn(room, size);
    if (fits(text)) return text;
    const letters = [...text];
    while (letters.length > 1 && !fits(`${letters.join("")}…`)) letters.pop();
    return `${letters.join("").trimEnd()}…`;
  };
  const wrap = (text, room, size, most) => {
    const fits = fitsIn(room, size);
    const lines = [];
    let line = "";
    const put = (part) => {
      if (line && !fits((line + part).trimEnd())) {
        lines.push(line.trimEnd());
        line = "";
      }
      line += part;
    };
    for (const word of text.split(/(?<= )/)) {
      if (fits(word.trimEnd())) put(word);
      else for (const part of word.split(/(?<=[._\-/])/)) fits(part.trimEnd()) ? put(part) : [...part].forEach(put);
    }
    lines.push(line.trimEnd());
    return lines.length > most ? [...lines.slice(0, most - 1), shorten(lines.slice(most - 1).join(" "), room, size)] : lines;
  };

  // Chart.js tells rows apart by their names.
  const unlike = (names) => names.map((name, i) => name + "\u200b".repeat(names.slice(0, i).filter((n) => n === name).length));

  // Chart.js gives names half of the width at most, padding and ticks included, and cuts what is longer.
  const namesOf = (width, text) => wrap(text, Math.min(240, width / 2 - 24), 12, 3);

  const configure = (c, width) => {
    const narrow = width < 480;
    const legendSize = narrow ? 11 : 12;
    const bars = Boolean(c.categories);
    const marks = whiskersOf(c);
    const sets = c.series.filter((s) => !(bars && s.mark === INTERVAL)).map((s) => (bars ? barSet(c, s, color(s.hue)) : lineSet(s, color(s.hue))));
    const scales = bars
      ? { x: { ...axis(c.x, width), stacked: c.stacked }, y: { type: "category", labels: c.categories, stacked: c.stacked, grid: { display: false, drawBorder: false }, border: { display: false },
          ticks: { color: color("--ink"), autoSkip: c.categories.length > 24, callback(v) { return namesOf(width, this.getLabelForValue(v)); } } } }
      : { x: axis(c.x, width), y: axis(c.y, width) };
    // Logarithmic axes would go on to the next power of ten.
    const known = bars ? [] : c.series.flatMap((s) => s.data.map((d) => d[0]));
    if (!bars && c.x.log) Object.assign(scales.x, { min: Math.min(...known) / 1.3, max: Math.max(...known) * 1.3 });
    const highest = Math.max(...marks.filter((d) => d.category !== undefined).map((d) => (d.high ?? d.x) * (narrow ? 1.32 : 1.13)));
    if (Number.isFinite(highest)) scales.x.suggestedMax = highest;
    // Whiskers are no data to Chart.js, which would cut them off.
    const reach = (axis, values) => {
      const ends = values.filter((v) => typeof v === "number");
      if (ends.length > 0) Object.assign(axis, { suggestedMin: Math.min(...ends), suggestedMax: Math.max(...ends) });
    };
    if (!bars && marks.length > 0) {
      reach(scales.x, marks.flatMap((d) => [d.low, d.high]));
      reach(scales.y, marks.flatMap((d) => [d.below, d.above]));
    }
    const valueOf = (item) => (Array.isArray(item.raw.x) ? `${show[c.x.as](item.raw.x[0])} to ${show[c.x.as](item.raw.x[1])}` : show[c.x.as](item.raw.x));
    return {
      data: { datasets: sets },
      plugins: [whiskers],
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        indexAxis: bars ? "y" : "x",
        ...(bars ? {} : { parsing: false }),
        normalized: false,
        whiskers: marks,
        scales,
        interaction: { mode: "nearest", intersect: bars, axis: "xy" },
        plugins: {
          legend: { display: sets.length > 1, position: "bottom", align: "start", labels: { color: color("--ink"), usePointStyle: !bars, boxWidth: bars ? 12 : 8, boxHeight: bars ? 12 : 8, padding: narrow ? 8 : 14, font: { size: legendSize },
            generateLabels: (chart) => Chart.defaults.plugins.legend.labels.generateLabels(chart).map((l) => ({ ...l, text: shorten(l.text, width - 40, legendSize) })) } },
          tooltip: {
            callbacks: {
              title: (items) => (bars && items.length > 0 ? c.categories[items[0].dataIndex] && items[0].raw.y : ""),
              label: (item) => {
                const name = item.dataset.label;
                const text = bars ? `${name}: ${valueOf(item)}` : `${name}: ${show[c.y.as](item.raw.y)} at ${show[c.x.as](item.raw.x)}`;
                return item.raw.note ? [text, item.raw.note] : text;
              },
            },
          },
        },
      },
    };
  };

  const figures = [];
  const draw = (f) => {
    if (f.chart) f.chart.destroy();
    f.chart = new Chart(f.canvas, configure(f.data, f.box.clientWidth));
  };
  const start = () => {
    if (typeof Chart === "undefined") return;
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    for (const figure of document.querySelectorAll("figure[data-chart]")) {
      const data = JSON.parse(figure.querySelector("script").textContent);
      if (data.categories) data.categories = unlike(data.categories);
      const box = figure.querySelector(".canvas"), canvas = figure.querySelector("canvas");
      const narrow = box.clientWidth < 480;
      const legend = data.series.length > 1 ? (narrow ? 16 : 5) * data.series.length : 0;
      const lines = data.dense ? Math.max(...data.categories.map((name) => namesOf(box.clientWidth, name).length)) : 0;
      const rows = data.categories ? Math.max(40, (data.dense ? 11 + 15 * lines : narrow && !data.stacked ? 58 : 46) * data.categories.length) : 270;
      box.style.minHeight = `${80 + rows + legend}px`;
      const f = { data, box, canvas, chart: null };
      figures.push(f);
      draw(f);
    }
    root.dataset.charts = String(figures.length);
  };
  const redraw = () => figures.forEach(draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // Paper is white whatever the screen is.
  matchMedia("print").addEventListener("change", redraw);
  // A hidden table that a link leads to opens.
  const reveal = () => {
    const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    const hidden = target?.querySelector("details");
    if (hidden) hidden.open = true;
  };
  addEventListener("hashchange", reveal);
  addEventListener("beforeprint", () => {
    for (const d of document.querySelectorAll("details:not(.data)")) d.open = true;
    figures.forEach((f) => f.chart.resize());
  });
  start();
  reveal();
})();
