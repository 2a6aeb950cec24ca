// Both sides over time, each from its own first statement.

const CHART = {height: 120, left: 58, right: 10, top: 8, bottom: 20};

function chart(title, series, seconds, show) {
    const {height, left, right, top, bottom} = CHART;
    const width = narrow.matches ? 350 : 560;
    const known = [...series.base, ...series.candidate].filter((value) => value !== null);
    const most = known.reduce((a, b) => Math.max(a, b), 0) || 1;
    const points = Math.max(series.base.length, series.candidate.length);
    const x = linear(0, points * seconds, left, width - right);
    const y = linear(0, most, height - bottom, top);
    const curve = (side) => line(series[side].map((value, i) =>
        [x((i + 0.5) * seconds), value === null ? null : y(value)]), {class: `curve ${side}`});
    const peak = (side) => show(series[side].reduce((a, b) => Math.max(a, b), 0));
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => part * points * seconds);
    return figure(title, plot(`${title} over time: at most ${peak("base")} in the base, ${peak("candidate")} in the candidate`,
        width, height,
        [0, most / 2, most].map((value) => [
            line([[left, y(value)], [width - right, y(value)]], {class: "grid"}),
            label(show(value), left - 4, y(value) + 4, {"text-anchor": "end"})]),
        ticks.map((tick, i) => label(duration(tick * 1e6), x(tick), height - 5,
            {"text-anchor": i === 0 ? "start" : i === 4 ? "end" : "middle"})),
        curve("base"), curve("candidate")));
}

function timeline() {
    const {bucket_s: seconds, base, candidate} = data.timeline;
    if (base.calls.length + candidate.calls.length === 0) {
        return html("p", {}, "No statement has a time.");
    }
    const rate = (values) => values.map((n) => n / seconds);
    const both = (name, map) => ({base: map(base[name]), candidate: map(candidate[name])});
    const same = (values) => values;
    const perSecond = (value) => `${value >= 99.5 ? count(Math.round(value)) : Number(value.toPrecision(2))}/s`;
    return html("div", {}, sidesKey(),
        html("p", {class: "quiet"}, `Each side from its first statement on; a point is ${duration(seconds * 1e6)} long.`),
        html("div", {class: "pair"},
            chart("Statements", both("calls", rate), seconds, perSecond),
            chart("99th percentile of times", both("p99_us", same), seconds, duration),
            chart("Errors", both("errors", rate), seconds, perSecond),
            chart("99th percentile of lag", both("lag_p99_us", same), seconds, duration)));
}
