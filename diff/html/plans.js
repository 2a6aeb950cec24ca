// The plans that pgrehearse explain fetched, side by side.

function plans(query) {
    const found = data.plans[query.fingerprint];
    if (!found) {
        return null;
    }
    const side = (name) => html("figure", {class: "planned"}, html("figcaption", {}, `Plan of the ${name}`),
        html("pre", {class: "plan", tabindex: 0, role: "region", "aria-label": `Plan of the ${name}`},
            found[name].split("\n").map(visible).join("\n")));
    return html("div", {},
        html("p", {}, found.differ ? html("strong", {class: "doubt"}, "The plans differ.")
            : "What the plans do is the same, or not known of both."),
        html("div", {class: "plots"}, side("base"), side("candidate")));
}
