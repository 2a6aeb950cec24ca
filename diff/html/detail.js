// One query: quantiles, ratios, its calls over time, what was tested, examples.

const SMALL = {width: 360, height: 210, left: 56, right: 10, top: 10, bottom: 34};

// 0, 90, 99, 99.9 % lie equally far from each other, so that the tail can be seen.
function tailPlace(quantile) {
    return -Math.log10(1 - Math.min(quantile, 0.99995));
}

function bandPath(places, low, high, x, y) {
    const upper = [];
    const lower = [];
    places.forEach((place, i) => {
        if (low[i] > 0 && high[i] > 0) {
            upper.push(`${x(place).toFixed(1)} ${y(high[i]).toFixed(1)}`);
            lower.unshift(`${x(place).toFixed(1)} ${y(low[i]).toFixed(1)}`);
        }
    });
    return upper.length > 1 ? `M${upper.join("L")}L${lower.join("L")}Z` : "M0 0";
}

function quantiles(detail) {
    const {width, height, left, right, top, bottom} = SMALL;
    const places = data.quantiles.map(tailPlace);
    const values = [...detail.base, ...detail.candidate].filter((value) => value > 0);
    if (values.length === 0) {
        return null;
    }
    const least = values.reduce((a, b) => Math.min(a, b)) / 1.2;
    const most = values.reduce((a, b) => Math.max(a, b)) * 1.2;
    const x = linear(0, places[places.length - 1], left, width - right);
    const y = logarithmic(least, most, height - bottom, top);
    let ticks = logarithmicTicks(least, most);
    if (ticks.length < 2) {
        ticks = [least * 1.2, most / 1.2];
    }
    const curve = (side) => [
        svg("path", {class: `band ${side}`, d: bandPath(places, detail[`${side}_low`], detail[`${side}_high`], x, y)}),
        line(places.map((place, i) => [x(place), detail[side][i] > 0 ? y(detail[side][i]) : null]), {class: `curve ${side}`})];
    const median = data.quantiles.indexOf(0.5);
    return figure("Quantiles of the times", plot(
        `Median ${duration(detail.base[median])} in the base, ${duration(detail.candidate[median])} in the candidate`,
        width, height,
        ticks.map((tick) => [line([[left, y(tick)], [width - right, y(tick)]], {class: "grid"}),
            label(duration(tick), left - 4, y(tick) + 4, {"text-anchor": "end"})]),
        [0.5, 0.9, 0.99, 0.999].map((tick) => [
            line([[x(tailPlace(tick)), top], [x(tailPlace(tick)), height - bottom]], {class: "grid"}),
            label(`${tick * 100} %`, x(tailPlace(tick)), height - bottom + 14, {"text-anchor": "middle"})]),
        curve("base"), curve("candidate")),
    "Bands: 95 % intervals, where enough calls tell them.");
}

// Ticks of a log2 axis of ratios.
function ratioTicks(low, high) {
    const found = [];
    const step = high - low > 6 ? 2 : 1;
    for (let power = Math.ceil(low); power <= high; power += step) {
        found.push(power);
    }
    return found;
}

function ratioText(power) {
    return power >= 0 ? `${2 ** power}x` : `1/${2 ** -power}`;
}

function ratioHistogram(detail) {
    const {width, height, left, right, top, bottom} = SMALL;
    const [first, ...counts] = detail.ratios;
    if (counts.length === 0) {
        return null;
    }
    const per = data.ratios_per_octave;
    const low = Math.min(-1, (first - 0.5) / per);
    const high = Math.max(1, (first + counts.length - 0.5) / per);
    const most = counts.reduce((a, b) => Math.max(a, b), 1);
    const x = linear(low, high, left, width - right);
    const y = linear(0, most, height - bottom, top);
    const all = counts.reduce((a, b) => a + b, 0);
    const slower = counts.reduce((sum, n, i) => sum + (first + i > 0 ? n : 0), 0);
    const wide = (x(1) - x(0)) / per;
    const effect = Math.log2(1 + data.rule.effect_pct / 100);
    return figure("Ratio of each pair", plot(
        `Of ${count(all)} pairs ${count(slower)} took longer in the candidate`, width, height,
        [0, most].map((value) => label(count(value), left - 4, y(value) + 4, {"text-anchor": "end"})),
        counts.map((n, i) => n === 0 ? null : svg("rect", {
            class: `bar ${(first + i) / per > effect ? "bad" : (first + i) / per < -effect ? "good" : ""}`,
            x: x((first + i - 0.5) / per) + 0.5, y: y(n), width: Math.max(1, wide - 1), height: height - bottom - y(n),
        })),
        line([[left, height - bottom], [width - right, height - bottom]], {class: "axis"}),
        ratioTicks(low, high).map((power) =>
            label(ratioText(power), x(power), height - bottom + 14, {"text-anchor": "middle"})),
        line([[x(0), top], [x(0), height - bottom]], {class: "same-line"}),
        [-effect, effect].map((at) => line([[x(at), top], [x(at), height - bottom]], {class: "effect-line"}))),
    "Time in the candidate / time in the base of twins; dotted: the effect that counts.");
}

function ratioOverTime(detail) {
    const {width, height, left, right, top, bottom} = SMALL;
    const known = detail.batches.filter((batch) => batch !== 0);
    if (known.length < 2) {
        return null;
    }
    const low = Math.min(-1, ...known.map(([value]) => Math.log2(value))) - 0.1;
    const high = Math.max(1, ...known.map(([value]) => Math.log2(value))) + 0.1;
    const most = Math.max(...known.map(([, calls]) => calls));
    const x = linear(0, detail.batches.length, left, width - right);
    const y = linear(low, high, height - bottom, top);
    const dots = detail.batches.map((batch, i) => batch === 0 ? null : svg("circle", {
        class: "band candidate dot", cx: x(i + 0.5), cy: y(Math.log2(batch[0])), r: 1.5 + 3.5 * Math.sqrt(batch[1] / most),
    }));
    return figure("Ratio over the base's time", plot(
        `In ${known.filter(([value]) => value > 1).length} of ${known.length} parts of the time the candidate took longer`,
        width, height,
        ratioTicks(low, high).map((power) => [
            line([[left, y(power)], [width - right, y(power)]], {class: power === 0 ? "same-line" : "grid"}),
            label(ratioText(power), left - 4, y(power) + 4, {"text-anchor": "end"})]),
        line(detail.batches.map((batch, i) => [x(i + 0.5), batch === 0 ? null : y(Math.log2(batch[0]))]), {class: "curve candidate"}),
        dots, label("begin", left, height - 8), label("end", width - right, height - 8, {"text-anchor": "end"})),
    "Ratio of the means in each 32nd of the time; larger dots have more calls.");
}

function tests(detail) {
    const rows = Object.entries(detail.measures).filter(([, measure]) => measure !== null)
        .map(([name, measure]) => [name, ratio(measure[0]), interval(measure[1], measure[2]),
            probability(measure[3]), probability(measure[4]), `${measure[5]} %`]);
    if (rows.length === 0) {
        return null;
    }
    return table(`What was tested, on ${count(detail.pairs)} pairs`, [{text: "measure"},
        {text: "ratio", number: true}, {text: `interval (${(100 * detail.confidence).toPrecision(4)} %)`, number: true},
        {text: "q slower", number: true}, {text: "q faster", number: true},
        {text: "noise margin", number: true}], rows);
}

// How to see a statement: the program that prints it, and the text itself where it was asked for.
function example(what, found) {
    if (!found) {
        return null;
    }
    const copy = found.copy > 0 ? `, copy ${found.copy}` : "";
    const {files} = data.inputs[found.side];
    const file = files.length > 1 ? ` (${files[found.part]})` : "";
    return html("p", {}, `${what}: session ${found.session}, statement ${found.ordinal}${copy} of the ${found.side}${file}`,
        found.base_us === undefined ? "" : `, ${duration(found.base_us)} in the base, ${duration(found.candidate_us)} in the candidate`,
        found.text === undefined ? "" : html("code", {}, ` ${visible(found.text)}${found.text_cut ? "..." : ""}`));
}

function facts(query) {
    const parts = [`${count(query.missing)} missing in the candidate`,
        `${count(query.row_mismatches)} of ${count(query.rows_compared)} with other rows${query.volatile === null ? "" : ` (volatile, not counted: ${volatility[query.volatile]})`}`,
        `errors: ${count(query.errors_base)} in the base, ${count(query.errors_candidate)} in the candidate`,
        `at least twice as long: ${count(query.twice_slower)}, at most half: ${count(query.twice_faster)}`];
    return html("p", {}, `${parts.join("; ")}.`);
}

function describe(query) {
    const detail = query.detail;
    const reason = query.reason ? ` (${reasons[query.reason] || query.reason})` : "";
    return html("div", {},
        html("p", {}, html("strong", {class: query.tone}, query.word), reason, " ",
            html("code", {}, query.fingerprint || "")),
        html("p", {}, html("code", {}, query.sql + (query.sql_cut ? "..." : ""))),
        facts(query), plans(query),
        detail ? [sidesKey(), html("div", {class: "plots"},
            [quantiles(detail), ratioHistogram(detail), ratioOverTime(detail)].filter(Boolean)),
        tests(detail), example("Slowed most", detail.worst), example("First call", detail.example)]
            : html("p", {class: "quiet"}, "Plots are there for the queries that matter most; the JSON report has the numbers of all."));
}
