"use strict";
// Charts of a run, drawn with Observable Plot. All text reaches the page as text, never as HTML.
(() => {
  const run = JSON.parse(document.getElementById("run-data").textContent);
  const hidden = new Set();
  const all = (selector) => [...document.querySelectorAll(selector)];
  // Ten colours, and a shape for each ten methods.
  const colour = (k) => `var(--m${k % 10})`;
  const shapes = ["circle", "square", "diamond"];
  const ten = (k) => Math.min(Math.floor(k / 10), 2);
  const marked = (rows, options) => shapes.map((symbol, s) => Plot.dot(rows.filter((r) => ten(r.k) === s), { ...options, symbol }));
  const place = new Map(run.methods.map((m, k) => [m.name, k]));
  const shown = () => run.methods.map((m, k) => ({ ...m, k })).filter((m) => !hidden.has(m.k));
  const seen = (name) => place.has(name) && !hidden.has(place.get(name));
  const there = (v) => v !== null && v !== undefined;
  const digits = d3.format(",.4~r");
  const num = (v) => (!there(v) ? "–" : v !== 0 && Math.abs(v) < 1e-3 ? d3.format(".2~e")(v) : digits(v)).replace("-", "−");
  const pct = (v) => (there(v) ? d3.format(v && v < 0.01 ? ".1%" : ".0%")(v).replace("%", " %") : "–");
  // On an axis that is short, whole numbers would say the same twice.
  // Large numbers have SI prefixes on an axis, tiny ones an exponent.
  const si = (values) => {
    const most = d3.max(values.filter(there), Math.abs) || 0;
    const format = most >= 1e4 ? d3.format("~s") : most > 0 && most < 1e-3 ? d3.format("~e") : null;
    return format ? { tickFormat: (v) => format(v).replace("-", "−") } : {};
  };
  const shares = (most) => (v) => d3.format(most < 0.1 ? ".1~%" : ".0%")(v).replace("%", " %");
  const chosen = (name) => document.querySelector(`[data-choice="${name}"]`)?.value;
  const metric = run.metric.name;
  const better = run.metric.greater_is_better !== false;
  const ahead = better ? "higher is better →" : "← lower is better";
  const cut = (text, most = 40) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

  // Text that is too wide, as this browser draws it, loses its middle.
  const pen = document.createElement("canvas").getContext("2d");
  const wide = (text) => { pen.font = `12px ${getComputedStyle(document.body).fontFamily}`; return pen.measureText(text).width; };
  const fit = (text, room) => {
    const letters = [...text.replace(/\s+/g, " ")];
    const kept = (n) => (n < letters.length ? `${letters.slice(0, Math.ceil(n / 2)).join("")}…${letters.slice(letters.length - Math.floor(n / 2)).join("")}` : letters.join(""));
    if (wide(kept(letters.length)) <= room) return kept(letters.length);
    let [least, most] = [1, letters.length - 1];
    while (least < most) {
      const n = Math.ceil((least + most) / 2);
      if (wide(kept(n)) <= room) least = n; else most = n - 1;
    }
    return kept(least);
  };

  // A column of names at the left, no wider than two fifths of the chart.
  const named = (names, width) => {
    const room = Math.min((d3.max(names, wide) || 8) + 18, width * 0.4);
    const short = (name) => fit(name, room - 14);
    return { room, short, ticks: Math.max(2, (width - room) / 80), axis: { tickFormat: short, tickSize: 0, label: null } };
  };
  // Where all values are the same they give no scale: some room on either side does.
  const scaled = (values, [lowest, highest] = [-Infinity, Infinity]) => {
    const [low, high] = d3.extent(values.filter(there));
    const form = si(values);
    if (low === undefined || high - low > 1e-9 * Math.abs(low)) return { nice: true, ...form };
    const room = Math.abs(low) * 0.1 || 1;
    return { domain: [Math.max(lowest, low - room), Math.min(highest, low + room)], nice: true, ...form };
  };
  // Powers of ten, and three times those where they are few.
  const logTicks = (low, high, room) => {
    const powers = d3.range(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1).map((e) => 10 ** e);
    const within = (list) => list.filter((v) => v >= low * 0.999 && v <= high * 1.001);
    const fine = within(powers.flatMap((v) => [v, 3 * v]));
    if (fine.length <= room && high < 1000 * low) return fine;
    const some = within(powers);
    return some.filter((_, k) => k % Math.ceil(some.length / Math.max(room, 2)) === 0);
  };
  const logarithmic = (low, high, room) => ({ type: "log", domain: [low, high], clamp: true, nice: false, ticks: logTicks(low, high, room), ...(high >= 1e4 || low < 1e-3 ? { tickFormat: (v) => d3.format(v < 1e-3 ? "~e" : "~s")(v).replace("-", "−") } : { tickFormat: "~g" }) });
  // Values that differ by orders of magnitude are compared on a logarithmic scale.
  const RATIO = 30;
  const spread = (values, ends, range, room) => {
    const [low, high] = d3.extent(values.filter(there));
    if (!(low > 0 && high > RATIO * low)) return { scale: { ticks: room, ...scaled(ends, range) }, lowest: range[0], note: "" };
    const floor = Math.max(low / 4, d3.min(ends.filter((v) => v > 0)));
    return { scale: logarithmic(floor, d3.max(ends), room), lowest: floor, note: ", log scale" };
  };
  // What the metric can be at all, if no value gives that the lie.
  const limits = (values) => {
    const [low, high] = (run.metric.range || []).map((v, i) => (there(v) ? v : [-Infinity, Infinity][i]));
    return low !== undefined && values.every((v) => !there(v) || (low <= v && v <= high)) ? [low, high] : [-Infinity, Infinity];
  };
  const reach = (value, error, [low, high]) => (error > 0 ? [Math.max(low, value - 2 * error), Math.min(high, value + 2 * error)] : [value]);
  const base = (width, extra) => ({
    width, style: { fontSize: "12px", fontFamily: "inherit", overflow: "visible" }, marginRight: 24, marginBottom: 46, ...extra,
  });
  // No line of a tip is wider than half of a phone.
  const tip = (lines) => ({ title: (d) => lines(d).filter(Boolean).join("\n"), fontSize: 12.5, lineHeight: 1.3, stroke: "var(--soft)", lineWidth: innerWidth < 700 ? 13 : 30, textOverflow: "ellipsis-middle", maxRadius: 60 });

  const bars = (rows, value, error, stroke, dy = 0, [low, high] = [-Infinity, Infinity]) => {
    const known = rows.filter((r) => there(value(r)) && error(r) > 0);
    const bar = (times, strokeWidth) => Plot.ruleY(known, {
      x1: (r) => Math.max(low, value(r) - times * error(r)), x2: (r) => Math.min(high, value(r) + times * error(r)), y: "name",
      stroke, strokeWidth, dy, strokeLinecap: "round",
    });
    return [bar(2, 1.2), bar(1, 3.5)];
  };

  // A row for each of the names, a dot for each method; what is sure has a bar for its error.
  const dots = (width, every, names, choice, sure, range, counted = (name) => name) => {
    const key = chosen(choice);
    const label = document.querySelector(`[data-choice="${choice}"]`).selectedOptions[0].textContent;
    const rows = every.filter((r) => seen(r.method));
    const methods = shown();
    const { room, short, axis, ticks } = named(names.map(counted), width);
    const step = 7;
    const sharing = key === "value" ? limits(rows.map((r) => r[key])) : [0, 1];
    const known = rows.filter((r) => there(r[key]));
    const ends = known.flatMap((r) => reach(r[key], key === sure ? r.error : 0, sharing));
    const alike = new Set(known.map((r) => r[key])).size < 2;
    const { scale, lowest, note } = range && alike ? { scale: { domain: range, ticks }, lowest: sharing[0], note: "" } : spread(known.map((r) => r[key]), ends, sharing, ticks);
    const marks = methods.flatMap((m, i) => {
      const dy = (i - (methods.length - 1) / 2) * step;
      const own = known.filter((r) => r.method === m.name);
      return [
        ...(key === sure ? bars(own, (r) => r[key], (r) => r.error, colour(m.k), dy, [lowest, sharing[1]]) : []),
        Plot.dot(own, { x: key, y: "name", r: m.ours ? 5 : 4, fill: colour(m.k), symbol: shapes[ten(m.k)], dy }),
      ];
    });
    return Plot.plot(base(width, {
      marginLeft: room, height: 62 + names.length * Math.max(24, step * methods.length + 12),
      x: { label: label + note, grid: true, ...scale, labelAnchor: "center", labelArrow: "none" },
      y: { domain: names, axis: null },
      marks: [
        Plot.axisY({ ...axis, tickFormat: (d) => short(counted(d)) }),
        names.length > 1 ? Plot.ruleY(names, { y: (d) => d, strokeOpacity: 0.06 }) : null,
        ...marks,
        Plot.tip(known, Plot.pointer({ x: key, y: "name", ...tip((r) => [
          `${r.name} (${d3.format(",")(r.n)} rows)`, r.method,
          `${label} ${num(r[key])}${key === sure && there(r.error) ? ` ± ${num(r.error)}` : ""}`]) })),
      ],
    }));
  };

  const draw = {
    values(width) {
      const rows = shown().filter((m) => there(m.value));
      const { room, axis, ticks } = named(rows.map((r) => r.name), width);
      const range = limits(rows.map((r) => r.value));
      const { scale, lowest, note } = spread(rows.map((r) => r.value), rows.flatMap((r) => reach(r.value, r.error, range)), range, ticks);
      range[0] = lowest;
      return Plot.plot(base(width, {
        marginLeft: room, height: 62 + 38 * rows.length,
        x: { label: fit(`${metric} (${ahead}${note})`, width - 40), grid: true, ...scale, labelAnchor: "center", labelArrow: "none" },
        y: { domain: rows.map((r) => r.name), axis: null },
        marks: [
          Plot.axisY(axis),
          ...bars(rows, (r) => r.value, (r) => r.error, (r) => colour(r.k), 0, range),
          ...marked(rows, { x: "value", y: "name", r: 5.5, fill: (r) => colour(r.k) }),
          Plot.tip(rows, Plot.pointerY({ x: "value", y: "name", ...tip((r) => [
            r.name, `${metric} ${num(r.value)}${there(r.error) ? ` ± ${num(r.error)}` : ""}`,
            there(r.seconds) && `${num(r.seconds)} s`, there(r.calls) && `${r.calls} metric calls`]) })),
        ],
      }));
    },

    improvements(width) {
      const rows = shown().filter((m) => !m.ours && there(m.improvement));
      if (!rows.length) return null;
      const { room, axis, ticks } = named(rows.map((r) => r.name), width);
      return Plot.plot(base(width, {
        marginLeft: room, height: 62 + 38 * rows.length,
        x: { label: "improvement (higher is better →)", grid: true, ticks, ...scaled([0, ...rows.flatMap((r) => reach(r.improvement, r.improvement_error, [-Infinity, Infinity]))]), labelAnchor: "center", labelArrow: "none" },
        y: { domain: rows.map((r) => r.name), axis: null },
        marks: [
          Plot.axisY(axis), Plot.ruleX([0], { strokeOpacity: 0.6 }),
          ...bars(rows, (r) => r.improvement, (r) => r.improvement_error, (r) => colour(r.k)),
          ...marked(rows, { x: "improvement", y: "name", r: 5, fill: (r) => colour(r.k) }),
          Plot.tip(rows, Plot.pointerY({ x: "improvement", y: "name", ...tip((r) => [
            `over ${r.name}`, `${num(r.improvement)}${there(r.improvement_error) ? ` ± ${num(r.improvement_error)}` : ""}`]) })),
        ],
      }));
    },

    // The objective against a limited metric; beyond the limit the ground is shaded.
    limits(width) {
      const k = +(chosen("limit") || 0);
      const limit = run.limits.limits[k];
      const points = run.limits.curve.objective.map((y, i) => ({ x: run.limits.curve.limits[k][i], y })).filter((p) => there(p.x) && there(p.y));
      const own = [{ x: limit.validation, y: run.limits.value }];
      const [low, high] = d3.extent([...points, ...own].map((p) => p.x).concat(limit.bound));
      const room = (high - low) * 0.04 || 0.05;
      const [left, right] = [low - room, high + room];
      const broken = limit.direction === ">=" ? [left, limit.bound] : [limit.bound, right];
      return Plot.plot(base(width, {
        marginLeft: 56, marginTop: 30, height: Math.min(360, Math.max(260, width * 0.45)),
        x: { label: fit(`${limit.name} (limit: ${limit.text})`, width - 80), domain: [left, right], grid: true, ticks: width / 90, ...si([left, right]), labelAnchor: "center", labelArrow: "none" },
        y: { label: fit(`${metric} (${better ? "↑ higher" : "↓ lower"} is better)`, width - 20), grid: true, ...scaled([...points, ...own].map((p) => p.y), limits(points.map((p) => p.y))), labelArrow: "none" },
        marks: [
          Plot.rectX([broken], { x1: "0", x2: "1", fill: "var(--bad)", fillOpacity: 0.08 }),
          Plot.ruleX([limit.bound], { stroke: "var(--bad)", strokeDasharray: "5 3", strokeWidth: 1.5 }),
          Plot.line(points, { x: "x", y: "y", stroke: "var(--soft)", strokeWidth: 1.4 }),
          Plot.dot(points, { x: "x", y: "y", r: 2.4, fill: "var(--soft)" }),
          Plot.dot(own, { x: "x", y: "y", r: 7, fill: colour(0), stroke: "var(--card)", strokeWidth: 1.5 }),
          Plot.tip([...points, ...own], Plot.pointer({ x: "x", y: "y", ...tip((d) => [own.includes(d) && "the model", `${metric} ${num(d.y)}`, `${limit.name} ${num(d.x)}`]) })),
        ],
      }));
    },

    groups(width) {
      const rows = run.groups.rows.map((r) => ({ ...r, name: r.group }));
      const sizes = new Map(rows.map((r) => [r.name, r.n]));
      const counted = (name) => `${name} (${d3.format(",")(sizes.get(name))} rows)`;
      return dots(width, rows, d3.groupSort(rows, (v) => -v[0].n, (d) => d.name), "measure", "value", undefined, counted);
    },

    classes(width) {
      const rows = run.classes.map((r) => ({ ...r, name: r.class }));
      const sizes = new Map(rows.map((r) => [r.name, r.n]));
      return dots(width, rows, run.sample.labels, "rate", "recall", [0, 1], (name) => `${name} (${d3.format(",")(sizes.get(name) || 0)})`);
    },

    curves(width) {
      const kind = run.curves.kind;
      const key = kind === "list" ? chosen("curve") : "y";
      const lines = run.curves.lines.filter((l) => seen(l.method));
      const points = lines.flatMap((l) => l.x.map((x, i) => ({ x, y: l[key][i], method: l.method })));
      const own = lines.filter((l) => l.own && there(l.own[1])).map((l) => ({ x: l.own[0], y: l.own[1], method: l.method, k: place.get(l.method) }));
      const up = { threshold: `${metric} (${better ? "↑ higher" : "↓ lower"} is better)`, list: key === "y" ? "precision" : "recall", errors: "absolute error" }[kind];
      const across = { threshold: "rows flagged", list: "rows taken from the top", errors: "rows" }[kind];
      const stroke = (d) => colour(place.get(d.method));
      const heights = points.map((p) => p.y);
      const [middle, most] = [d3.median(heights), d3.max(heights)];
      // The largest errors of a heavy tail would flatten all others.
      const heavy = kind === "errors" && middle > 0 && most > RATIO * middle;
      const scale = heavy ? logarithmic(d3.quantile(heights.filter((v) => v > 0), 0.02), most, 8) : scaled(heights);
      return Plot.plot(base(width, {
        marginLeft: 56, marginTop: 30, height: Math.min(380, Math.max(260, width * 0.5)),
        x: { label: across, tickFormat: pct, grid: true, ticks: width / 90, labelAnchor: "center", labelArrow: "none" },
        y: { label: fit(heavy ? `${up} (log scale)` : up, width - 20), grid: true, ...scale, labelArrow: "none" },
        marks: [
          ...shapes.map((_, s) => Plot.line(points.filter((p) => there(p.y) && ten(place.get(p.method)) === s), { x: "x", y: "y", z: "method", stroke, strokeWidth: (d) => (place.get(d.method) ? 1.7 : 2.6), strokeDasharray: ["none", "6 3", "2 3"][s] })),
          ...marked(own, { x: "x", y: "y", r: 5, fill: stroke, stroke: "var(--card)", strokeWidth: 1.5 }),
          Plot.ruleX(points, Plot.pointerX({ x: "x", strokeOpacity: 0.25 })),
          Plot.tip(points.filter((p) => there(p.y)), Plot.pointer({ x: "x", y: "y", ...tip((d) => [d.method, `${pct(d.x)} of the rows`, `${up.split(" (")[0]} ${num(d.y)}`]) })),
        ],
      }));
    },

    course(width) {
      const candidates = run.course.kind === "candidates";
      const starts = new Set(run.course.iterations.map((t) => t.start)).size > 1;
      // Turns are counted anew in each start: in a row only their places are in order.
      const across = (t, i) => (candidates || starts ? t.place ?? i : t.iteration);
      const steps = run.course.iterations.map((t, i) => ({ ...t, i, at: across(t, i) })).filter((t) => there(t.value));
      const model = steps.find((t) => t.i === run.course.chosen);
      const others = steps.filter((t) => !(candidates && t.share === null));
      const further = better ? Math.max : Math.min;
      // A few poor candidates must not flatten the rest: they wait at the edge.
      const [low, high] = d3.extent(steps, (t) => t.value);
      const middle = d3.median(steps, (t) => t.value);
      const far = better ? middle - 4 * (high - middle) : middle + 4 * (middle - low);
      const edge = better ? Math.max(low, Math.min(far, steps[0]?.value)) : Math.min(high, Math.max(far, steps[0]?.value));
      const at = (t) => (better ? Math.max(edge, t.value) : Math.min(edge, t.value));
      const beyond = (t) => at(t) !== t.value;
      let best = null;
      const path = others.map((t) => ({ at: t.at, value: (best = best === null ? at(t) : further(best, at(t))) }));
      return Plot.plot(base(width, {
        marginLeft: 56, marginTop: 30, height: Math.min(340, Math.max(240, width * 0.42)),
        x: { label: candidates ? "candidate" : starts ? "iterations of all starts, one start after the other" : "iteration", ticks: Math.min(width / 70, steps.length), tickFormat: (d) => (Number.isInteger(d) ? d : ""), labelAnchor: "center", labelArrow: "none" },
        y: { label: fit(`${metric} (${better ? "↑ higher" : "↓ lower"} is better)`, width - 20), grid: true, ...scaled(steps.map(at), limits(steps.map(at))), labelArrow: "none" },
        r: { range: [3, 11], domain: [0, d3.max(steps, (t) => t.share) || 1], type: "sqrt" },
        marks: [
          model ? Plot.ruleY([model.value], { stroke: colour(0), strokeDasharray: "4 3" }) : null,
          Plot.line(path, { x: "at", y: "value", curve: "step-after", stroke: "var(--soft)", strokeWidth: 1.6 }),
          candidates
            ? Plot.dot(others.filter((t) => !beyond(t)), { x: "at", y: "value", r: (t) => t.share || 0, fill: "var(--m9)", fillOpacity: 0.65 })
            : Plot.dot(others.filter((t) => !beyond(t)), { x: "at", y: "value", r: 2.6, fill: (t) => (starts ? colour((t.start % 8) + 1) : "var(--m9)"), fillOpacity: 0.75 }),
          Plot.text(others.filter(beyond), { x: "at", y: at, text: () => (better ? "▾" : "▴"), fill: "var(--soft)", fontSize: 13 }),
          model ? Plot.dot([model], { x: "at", y: "value", r: 7, fill: colour(0), stroke: "var(--card)", strokeWidth: 1.5, symbol: "circle" }) : null,
          Plot.tip(steps, Plot.pointer({ x: "at", y: at, ...tip((t) => [
            t.name || `iteration ${t.iteration}${starts ? `, start ${t.start + 1}` : ""}`, `${metric} ${num(t.value)}`,
            there(t.share) && `${pct(t.share)} of the weight`, t.i === run.course.chosen && "this is the model",
            `${t.calls} calls so far`]) })),
        ],
      }));
    },

    space(width) {
      const [a, b] = [+chosen("across"), +chosen("up")];
      const names = run.course.surrogates;
      const steps = run.course.iterations.map((t, i) => ({ ...t, i, x: t.profile[a], y: t.profile[b] })).filter((t) => there(t.x) && there(t.y));
      const model = steps.filter((t) => t.i === run.course.chosen);
      const [low, high] = d3.extent(steps, (t) => t.value);
      const depth = (t) => (high > low ? (better ? t.value - low : high - t.value) / (high - low) : 1);
      // Losses of poor models may be many times those of good ones.
      const scale = (key) => {
        const [least, most] = d3.extent(steps, (t) => t[key]);
        return least > 0 && most > 5 * least ? { type: "log", tickFormat: "~g", nice: false, inset: 12 } : scaled([least, most]);
      };
      const shade = (t) => `color-mix(in srgb, ${colour(0)} ${Math.round(12 + 88 * depth(t) ** 2)}%, var(--line))`;
      return Plot.plot(base(width, {
        marginLeft: 56, marginTop: 30, height: Math.min(440, Math.max(280, width * 0.6)),
        x: { ...scale("x"), label: fit(`loss: ${names[a]}`, width - 80), grid: true, ticks: width / 90, labelAnchor: "center", labelArrow: "none" },
        y: { ...scale("y"), label: fit(`loss: ${names[b]}`, width - 40), grid: true, labelArrow: "none" },
        marks: [
          run.course.kind === "iterations" ? Plot.line(steps, { x: "x", y: "y", z: "start", stroke: "var(--soft)", strokeOpacity: 0.45, strokeWidth: 1.2 }) : null,
          Plot.dot(d3.sort(steps, depth), { x: "x", y: "y", r: 5, fill: shade, stroke: "var(--soft)", strokeOpacity: 0.5, strokeWidth: 0.7 }),
          Plot.dot(model, { x: "x", y: "y", r: 10, stroke: colour(0), strokeWidth: 2.2 }),
          Plot.tip(steps, Plot.pointer({ x: "x", y: "y", ...tip((t) => [
            t.name || `iteration ${t.iteration}`, `${metric} ${num(t.value)}`, `loss, ${cut(names[a], 34)}: ${num(t.x)}`, `loss, ${cut(names[b], 34)}: ${num(t.y)}`]) })),
        ],
      }));
    },

    weights(width) {
      const model = run.course.iterations[run.course.chosen];
      const own = run.course.iterations.filter((t) => t.weights && t.start === model.start);
      const steps = own.length ? own : run.course.iterations.filter((t) => t.weights);
      const names = run.course.surrogates;
      const mean = names.map((_, k) => d3.mean(steps, (t) => t.weights[k]));
      const top = new Set(d3.sort(d3.range(names.length), (k) => -mean[k]).slice(0, 8));
      const order = [...top].map((k) => names[k]);
      if (names.length > top.size) order.push("all others");
      const rows = steps.flatMap((t) => d3.rollups(d3.range(names.length), (ks) => d3.sum(ks, (k) => t.weights[k]), (k) => (top.has(k) ? names[k] : "all others"))
        .map(([name, weight]) => ({ iteration: t.iteration, name, weight })));
      return Plot.plot(base(width, {
        marginLeft: 56, marginTop: 24, height: Math.min(320, Math.max(240, width * 0.4)),
        x: { label: new Set(run.course.iterations.map((t) => t.start)).size > 1 ? `iteration of start ${steps[0].start + 1}` : "iteration", labelAnchor: "center", labelArrow: "none", ticks: width / 80 },
        y: { label: "share of the total weight", tickFormat: pct, labelArrow: "none", domain: [0, 1] },
        color: { domain: order, range: order.map((_, k) => colour(k)), legend: true, tickFormat: (d) => cut(d, 44) },
        marks: [
          Plot.areaY(rows, { x: "iteration", y: "weight", fill: "name", order, fillOpacity: 0.75, curve: "step" }),
          Plot.ruleX(model.start === steps[0].start ? [model.iteration] : [], { strokeDasharray: "4 3" }),
          Plot.tip(rows, Plot.pointerX(Plot.stackY({ x: "iteration", y: "weight", z: "name", order, ...tip((d) => [`iteration ${d.iteration}`, d.name, pct(d.weight)]) }))),
        ],
      }));
    },

    worth(width) {
      const heaviest = new Set(d3.sort(run.worth.slices, (s) => -s.share).slice(0, 40));
      const rows = run.worth.slices.filter((s) => heaviest.has(s)).map((s, k) => ({ ...s, k }));
      const narrow = width < 560;
      const { room, short, axis, ticks } = named(rows.map((r) => r.label), width);
      const names = rows.map((r) => String(r.k));
      const most = d3.max(rows, (r) => Math.max(r.share, r.rows || 0)) * 1.05 || 1;
      return Plot.plot(base(width, {
        marginLeft: narrow ? 14 : room, height: 56 + rows.length * (narrow ? 44 : 30),
        x: { label: "share of the total weight", tickFormat: shares(most), grid: true, domain: [0, most], ticks, labelAnchor: "center", labelArrow: "none" },
        y: { domain: names, axis: null, padding: narrow ? 0.55 : 0.3 },
        marks: [
          narrow
            ? Plot.text(rows, { x: 0, y: (r) => String(r.k), text: (r) => fit(r.label, width - 40), textAnchor: "start", dy: -18 })
            : Plot.axisY({ ...axis, tickFormat: (d) => short(rows[+d].label) }),
          Plot.barX(rows, { x: "share", y: (r) => String(r.k), fill: colour(0), fillOpacity: 0.8, rx: 3 }),
          Plot.tickX(rows.filter((r) => there(r.rows)), { x: "rows", y: (r) => String(r.k), stroke: "var(--m1)", strokeWidth: 3 }),
          Plot.tip(rows, Plot.pointerY({ x: "share", y: (r) => String(r.k), ...tip((r) => [r.label, `${pct(r.share)} of the weight`, there(r.rows) && `${pct(r.rows)} of the training rows`]) })),
        ],
      }));
    },

    coefficients(width) {
      const many = run.sample.kind === "many";
      const own = +chosen("class");
      const found = many ? run.coefficients.map((c) => ({ name: c.name, effect: c.effects[own], weight: c.weights[own] })) : run.coefficients;
      const rows = d3.sort(found, (c) => -Math.abs(c.effect)).map((c, k) => ({ ...c, k: String(k) }));
      const { room, short, axis, ticks } = named(rows.map((r) => r.name), width);
      const most = d3.max(rows, (r) => Math.abs(r.effect));
      return Plot.plot(base(width, {
        marginLeft: room, height: 56 + 22 * rows.length,
        x: { label: many ? `← away from ${cut(run.sample.labels[own], 16)} · towards it →` : run.sample.kind === "classes" ? `← towards ${cut(run.sample.labels[0], 16)} · towards ${cut(run.sample.labels[1], 16)} →` : run.sample.kind === "regression" ? "← lowers the prediction · raises it →" : "← further down · further up →", grid: true, domain: [-most, most], ticks, ...si([most]), labelAnchor: "center", labelArrow: "none" },
        y: { domain: rows.map((r) => r.k), axis: null, padding: 0.25 },
        marks: [
          Plot.axisY({ ...axis, tickFormat: (d) => short(rows[+d].name) }),
          Plot.barX(rows, { x: "effect", y: "k", fill: (r) => (r.effect > 0 ? colour(0) : colour(1)), fillOpacity: 0.8, rx: 2 }),
          Plot.ruleX([0], { strokeOpacity: 0.5 }),
          Plot.tip(rows, Plot.pointerY({ x: "effect", y: "k", ...tip((r) => [r.name, `effect ${num(r.effect)}`, `coefficient ${num(r.weight)}`]) })),
        ],
      }));
    },

    importances(width) {
      const rows = run.importances.rows.map((r, k) => ({ ...r, k: String(k) }));
      const { room, short, axis, ticks } = named(rows.map((r) => r.name), width);
      const ends = (r) => [r.importance - (r.error || 0), r.importance + (r.error || 0)];
      return Plot.plot(base(width, {
        marginLeft: room, height: 56 + 22 * rows.length,
        x: { label: `${metric} gets worse by →`, grid: true, ticks, ...scaled([0, ...rows.flatMap(ends)]), labelAnchor: "center", labelArrow: "none" },
        y: { domain: rows.map((r) => r.k), axis: null, padding: 0.25 },
        marks: [
          Plot.axisY({ ...axis, tickFormat: (d) => short(rows[+d].name) }),
          Plot.barX(rows, { x: "importance", y: "k", fill: colour(0), fillOpacity: 0.8, rx: 2 }),
          Plot.ruleY(rows.filter((r) => there(r.error)), { x1: (r) => ends(r)[0], x2: (r) => ends(r)[1], y: "k", strokeWidth: 1.5 }),
          Plot.ruleX([0], { strokeOpacity: 0.5 }),
          Plot.tip(rows, Plot.pointerY({ x: "importance", y: "k", ...tip((r) => [r.name, `${num(r.importance)}${there(r.error) ? ` ± ${num(r.error)}` : ""}`]) })),
        ],
      }));
    },

    optimism(width) {
      const rows = shown().filter((m) => there(m.value) && there(m.optimism));
      const { room, axis, ticks } = named(rows.map((r) => r.name), width);
      const range = limits(rows.map((r) => r.value));
      const { scale, lowest, note } = spread(rows.flatMap((r) => [r.value, r.validation]), rows.flatMap((r) => [r.validation, ...reach(r.value, r.error, range)]), range, ticks);
      range[0] = lowest;
      return Plot.plot(base(width, {
        marginLeft: room, height: 62 + 34 * rows.length,
        x: { label: fit(`${metric} (${ahead}${note})`, width - 40), grid: true, ...scale, labelAnchor: "center", labelArrow: "none" },
        y: { domain: rows.map((r) => r.name), axis: null },
        marks: [
          Plot.axisY(axis),
          ...bars(rows, (r) => r.value, (r) => r.error, (r) => colour(r.k), 0, range),
          ...marked(rows, { x: "value", y: "name", r: 5, fill: (r) => colour(r.k) }),
          ...marked(rows, { x: "validation", y: "name", r: 9, stroke: (r) => colour(r.k), strokeWidth: 1.8 }),
          Plot.tip(rows, Plot.pointerY({ x: "value", y: "name", ...tip((r) => [r.name, `validation rows ${num(r.validation)}`, `rows here ${num(r.value)}${there(r.error) ? ` ± ${num(r.error)}` : ""}`]) })),
        ],
      }));
    },
  };

  const drawn = new WeakMap();
  const render = (node) => {
    const width = Math.floor(node.getBoundingClientRect().width);
    if (!width) return;
    drawn.set(node, width);
    const made = shown().length || !/^(values|improvements|groups|classes|curves|optimism)$/.test(node.dataset.chart) ? draw[node.dataset.chart](width) : null;
    node.replaceChildren(...(made ? [made] : [Object.assign(document.createElement("p"), { className: "lead", textContent: "Nothing is chosen." })]));
  };
  const charts = all("[data-chart]");
  const redraw = () => charts.forEach(render);

  all("[data-method]").forEach((button) => button.addEventListener("click", () => {
    const k = +button.dataset.method;
    if (!hidden.delete(k)) hidden.add(k);
    all(`[data-method="${k}"]`).forEach((b) => b.setAttribute("aria-pressed", String(!hidden.has(k))));
    all(`[data-of="${k}"]`).forEach((card) => { card.hidden = hidden.has(k); });
    redraw();
  }));
  all("[data-choice]").forEach((choice) => choice.addEventListener("change", redraw));

  // As the system, light, dark; kept where the browser lets a file keep anything.
  const themes = [["", "◐", "as the system"], ["light", "☀", "light"], ["dark", "☾", "dark"]];
  const button = document.querySelector("[data-theme-button]");
  const keep = (value) => { try { return value === undefined ? localStorage.getItem("anymetric-theme") : localStorage.setItem("anymetric-theme", value); } catch { return null; } };
  let theme = Math.max(0, themes.findIndex(([name]) => name === keep()));
  const dress = () => {
    const [name, sign, words] = themes[theme];
    document.documentElement.style.colorScheme = name;
    document.documentElement.dataset.theme = name;
    button.textContent = sign;
    button.setAttribute("aria-label", `Colours: ${words}`);
    button.title = `Colours: ${words}`;
  };
  button.addEventListener("click", () => { theme = (theme + 1) % themes.length; keep(themes[theme][0]); dress(); });
  dress();

  const watcher = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    if (Math.floor(target.getBoundingClientRect().width) !== drawn.get(target)) render(target);
  }));
  charts.forEach((node) => watcher.observe(node));
  redraw();
  // On paper everything lies open.
  addEventListener("beforeprint", () => {
    all("details:not([open])").forEach((d) => { d.open = true; d.dataset.shut = ""; });
    charts.filter((node) => !drawn.has(node)).forEach(render);
  });
  addEventListener("afterprint", () => all("details[data-shut]").forEach((d) => { d.open = false; delete d.dataset.shut; }));
})();
