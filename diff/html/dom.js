// Elements. Text is only ever set as text, never parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
        if (name === "onclick" || name === "oninput" || name === "onchange") {
            node.addEventListener(name.slice(2), value);
        } else if (value !== null && value !== false) {
            node.setAttribute(name, value === true ? "" : value);
        }
    }
    node.append(...children.flat(Infinity).filter((child) => child !== null));
    return node;
}

function html(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Letters are as large as they are drawn, so a narrow window has narrower plots.
const narrow = window.matchMedia("(max-width: 40rem)");

function plotWidth() {
    return narrow.matches ? 350 : 640;
}

// A plot, and what a screen reader says of it.
function plot(label, width, height, ...children) {
    return svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label}, ...children);
}

function figure(title, picture, ...notes) {
    return html("figure", {}, html("h3", {}, title), picture,
        ...notes.map((note) => html("figcaption", {}, note)));
}

function label(text, x, y, attributes) {
    return svg("text", {class: "label", x, y, ...attributes}, text);
}

function line(points, attributes) {
    let path = "";
    let pen = "M";
    for (const [x, y] of points) {
        if (y === null || Number.isNaN(y)) {
            pen = "M";
            continue;
        }
        path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
        pen = "L";
    }
    return svg("path", {d: path || "M0 0", ...attributes});
}

// What the two curves are; dashes and colour, so that colour alone tells nothing.
function sidesKey() {
    const entry = (side) => html("li", {},
        svg("svg", {viewBox: "0 0 28 12", "aria-hidden": "true"},
            svg("path", {d: "M0 6H28", class: `curve ${side}`})), side);
    return html("ul", {class: "key"}, entry("base"), entry("candidate"));
}

function linear(from, to, low, high) {
    const span = to - from || 1;
    return (value) => low + (value - from) / span * (high - low);
}

function logarithmic(from, to, low, high) {
    const scale = linear(Math.log10(from), Math.log10(to), low, high);
    return (value) => scale(Math.log10(value));
}

// 1, 10, 100 ... between two values; if those are few also 2 and 5 of each.
function logarithmicTicks(from, to) {
    const ticks = (steps) => {
        const found = [];
        for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power++) {
            found.push(...steps.map((step) => step * 10 ** power));
        }
        return found.filter((tick) => tick >= from && tick <= to);
    };
    const few = ticks([1]);
    return few.length > 2 ? few : ticks([1, 2, 5]);
}
