// Numbers as the text report writes them: three digits and a unit.

function fixed(value) {
    const size = Math.abs(value);
    return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

function duration(us) {
    if (us === null) {
        return "-";
    }
    const units = [[1e-3, "ns"], [1, "us"], [1e3, "ms"], [1e6, "s"]];
    let unit = units[0];
    for (const next of units) {
        if (Math.abs(us) >= 0.9995 * next[0]) {
            unit = next;
        }
    }
    if (Math.abs(us) >= 999.5e6) {
        unit = Math.abs(us) >= 5940e6 ? [3600e6, "h"] : [60e6, "min"];
    }
    return us === 0 ? "0" : `${fixed(us / unit[0])} ${unit[1]}`;
}

function signedDuration(us) {
    return us === null ? "-" : (us >= 0 ? "+" : "") + duration(us);
}

function count(n) {
    return n === null ? "-" : n.toLocaleString("en-US");
}

function ratio(value) {
    return value === null ? "-" : `${value.toFixed(value < 99.995 ? 2 : 0)}x`;
}

function percent(value) {
    return value === null ? "-" : `${value >= 0 ? "+" : ""}${value.toFixed(1)} %`;
}

function interval(low, high) {
    if (low === null || high === null) {
        return "-";
    }
    return low < 0.005 || high >= 999.5 ? "unknown" : `${low.toFixed(2)} - ${high.toFixed(2)}`;
}

function probability(q) {
    return q === null ? "-" : q < 1e-9 ? "< 1e-9" : q < 0.001 ? q.toExponential(1) : q.toPrecision(2);
}

function shortened(text, length) {
    const characters = Array.from(text);
    return characters.length > length ? `${characters.slice(0, length - 3).join("")}...` : text;
}
