// Every query at its mean time in the base and in the candidate.

const SCATTER = {left: 66, right: 12, top: 10, bottom: 40};
const MARKS_MAX = 300;

// Shapes differ too, so that colour alone tells nothing.
function markOf(query, x, y, size) {
    const classes = {class: `mark ${query.tone}`};
    if (query.verdict === "regressed") {
        return svg("path", {d: `M${x} ${y - size}L${x + size} ${y + size}L${x - size} ${y + size}Z`, ...classes});
    }
    if (query.verdict === "improved") {
        return svg("path", {d: `M${x} ${y + size}L${x + size} ${y - size}L${x - size} ${y - size}Z`, ...classes});
    }
    return svg("rect", {x: x - size * 0.8, y: y - size * 0.8, width: size * 1.6, height: size * 1.6, ...classes});
}

function nearest(points, at, reach) {
    let best = null;
    let least = reach * reach;
    for (const point of points) {
        const away = (point.x - at.x) ** 2 + (point.y - at.y) ** 2;
        if (away < least) {
            least = away;
            best = point;
        }
    }
    return best;
}

function scatter(choose) {
    const shown = queries.filter((query) => query.mean_us_base > 0 && query.mean_us_candidate > 0);
    if (shown.length === 0) {
        return html("p", {}, "No query has times on both sides.");
    }
    const {left, right, top, bottom} = SCATTER;
    const width = narrow.matches ? 350 : 480;
    const height = width - 40;
    const all = shown.flatMap((query) => [query.mean_us_base, query.mean_us_candidate]);
    const least = all.reduce((a, b) => Math.min(a, b)) / 1.5;
    const most = all.reduce((a, b) => Math.max(a, b)) * 1.5;
    const x = logarithmic(least, most, left, width - right);
    const y = logarithmic(least, most, height - bottom, top);
    const parts = [];
    for (const tick of logarithmicTicks(least, most)) {
        parts.push(line([[x(tick), top], [x(tick), height - bottom]], {class: "grid"}),
            line([[left, y(tick)], [width - right, y(tick)]], {class: "grid"}),
            label(duration(tick), x(tick), height - bottom + 14, {"text-anchor": "middle"}),
            label(duration(tick), left - 4, y(tick) + 4, {"text-anchor": "end"}));
    }
    const effect = 1 + data.rule.effect_pct / 100;
    const diagonal = (factor, classes) => line(
        [[x(least * Math.max(1, 1 / factor)), y(least * Math.max(1, factor))],
            [x(most * Math.min(1, 1 / factor)), y(most * Math.min(1, factor))]], {class: classes});
    parts.push(diagonal(1, "same-line"), diagonal(effect, "effect-line"), diagonal(1 / effect, "effect-line"),
        label("mean in the base", (left + width - right) / 2, height - 6, {"text-anchor": "middle"}),
        label("mean in the candidate", -(top + height - bottom) / 2, 11, {"text-anchor": "middle", transform: "rotate(-90)"}));
    const points = shown.map((query) => ({query, x: x(query.mean_us_base), y: y(query.mean_us_candidate)}));
    const notable = points.filter(({query}) => query.tone).slice(0, MARKS_MAX);
    const set = new Set(notable);
    const dots = points.filter((point) => !set.has(point))
        .map((point) => `M${point.x.toFixed(1)} ${point.y.toFixed(1)}h0`).join("");
    parts.push(svg("path", {d: dots || "M0 0", class: "dots"}),
        notable.map((point) => markOf(point.query, point.x, point.y, 5)));

    const ring = svg("circle", {r: 8, class: "same-line", visibility: "hidden"});
    const title = svg("title", {}, "");
    const picture = plot(`${count(shown.length)} queries by their mean time in the base and in the candidate; ` +
        `${count(shown.filter((query) => query.mean_us_candidate > query.mean_us_base).length)} of them took ` +
        "longer in the candidate. The table of queries has the numbers.", width, height, title, parts, ring);
    const pointed = (event) => {
        const box = picture.getBoundingClientRect();
        const scale = width / box.width;
        return nearest(points, {x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale}, 14);
    };
    picture.addEventListener("mousemove", (event) => {
        const point = pointed(event);
        ring.setAttribute("visibility", point ? "visible" : "hidden");
        picture.style.cursor = point ? "pointer" : "";
        title.textContent = "";
        if (point) {
            ring.setAttribute("cx", point.x);
            ring.setAttribute("cy", point.y);
            title.textContent = `${ratio(point.query.ratio)}, ${point.query.word}: ${shortened(point.query.sql, 120)}`;
        }
    });
    picture.addEventListener("click", (event) => {
        const point = pointed(event);
        if (point) {
            choose(point.query);
        }
    });
    const key = (query, text) => html("li", {}, svg("svg", {viewBox: "0 0 28 12", "aria-hidden": "true"},
        markOf(query, 14, 6, 5)), text);
    return html("figure", {class: "square"}, picture, html("ul", {class: "key"},
        key({verdict: "regressed", tone: "bad"}, "regressed"),
        key({verdict: "improved", tone: "good"}, "improved"),
        key({verdict: "undecided", tone: "doubt"}, "undecided"),
        html("li", {}, svg("svg", {viewBox: "0 0 28 12", "aria-hidden": "true"},
            svg("path", {d: "M14 6h0", class: "dots"})), "others")),
    html("figcaption", {}, `Above the line the candidate is slower; dotted: ${data.rule.effect_pct} % either way. ` +
        "A click opens the query nearest."));
}
