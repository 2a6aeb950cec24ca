// From the base's time to the candidate's: what each query adds or saves.

const IMPACT_ROWS = 8;
const IMPACT_SHARE_MIN = 0.001;

// The queries that add or save most, and what all others add or save together.
function impactSteps() {
    const least = data.totals.base_time_us * IMPACT_SHARE_MIN;
    const timed = queries.filter((query) => Math.abs(query.time_added_us) >= least);
    const slower = timed.filter((query) => query.time_added_us > 0)
        .sort((a, b) => b.time_added_us - a.time_added_us);
    const faster = timed.filter((query) => query.time_added_us < 0)
        .sort((a, b) => a.time_added_us - b.time_added_us);
    const sum = (list) => list.reduce((total, query) => total + query.time_added_us, 0);
    const rest = data.totals.time_added_us - sum(slower.slice(0, IMPACT_ROWS)) - sum(faster.slice(0, IMPACT_ROWS));
    const step = (query) => ({
        name: shortened(query.sql, narrow.matches ? 50 : 90), added: query.time_added_us, query,
    });
    return [
        ...slower.slice(0, IMPACT_ROWS).map(step),
        ...faster.slice(0, IMPACT_ROWS).map(step),
        {name: "all others", added: rest, query: null},
    ];
}

function impact() {
    const total = data.totals.base_time_us;
    if (data.latency.comparison !== "absolute" || !total) {
        return html("p", {}, "The sides' times cannot be set against each other as they are.");
    }
    const steps = impactSteps();
    let low = total;
    let high = total;
    let level = total;
    for (const step of steps) {
        step.from = level;
        level += step.added;
        step.to = level;
        low = Math.min(low, level);
        high = Math.max(high, level);
    }
    // The bars of the totals are cut at the left, or small steps could not be seen.
    const width = plotWidth();
    const room = (high - low) * 0.1 || total * 0.01;
    low = Math.max(0, low - room);
    const x = linear(low, high + room, 0, width - 110);
    const row = 34;
    const bar = (name, from, to, text, y, classes) => svg("g", {},
        label(name, 2, y + 11, {class: null}),
        svg("rect", {
            x: Math.min(x(from), x(to)), y: y + 15, height: 12, class: `bar ${classes}`,
            width: Math.max(1, Math.abs(x(to) - x(from))),
        }),
        label(text, Math.max(x(from), x(to)) + 5, y + 25));
    const bars = [bar("base", low, total, duration(total), 0, "total")];
    steps.forEach((step, i) => bars.push(bar(step.name, step.from, step.to,
        `${signedDuration(step.added)} (${percent(100 * step.added / total)})`, row * (i + 1),
        step.added > 0 ? "bad" : "good")));
    bars.push(bar("candidate", low, level, duration(level), row * (steps.length + 1), "total"));
    const spoken = `From ${duration(total)} in the base to ${duration(level)} in the candidate. ` +
        steps.map((step) => `${step.name}: ${signedDuration(step.added)}.`).join(" ");
    return html("figure", {},
        plot(spoken, width, row * (steps.length + 2), bars),
        html("figcaption", {}, low > 0 ? `The axis begins at ${duration(low)}. ` : "",
            "Mean of twins that succeeded on both sides, times the base's calls."));
}
