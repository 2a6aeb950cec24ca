// The plans that pgrehearse explain fetched, side by side.

function planPair(found, of) {
    const side = (name) => html("figure", {class: "planned"}, html("figcaption", {}, `Plan of the ${name}${of}`),
        html("pre", {class: "plan", tabindex: 0, role: "region", "aria-label": `Plan of the ${name}${of}`},
            found[name].split("\n").map(visible).join("\n")));
    return html("div", {class: "plots"}, side("base"), side("candidate"));
}

// Plans for any values may be alike where those of some values are not.
function plans(query) {
    const found = data.plans[query.fingerprint];
    if (!found) {
        return null;
    }
    const {call} = found;
    return html("div", {},
        html("p", {}, call ? "For any values: " : "", found.differ
            ? html("strong", {class: "doubt"}, call ? "the plans differ." : "The plans differ.")
            : `${call ? "what" : "What"} the plans do is the same, or not known of both.`),
        planPair(found, ""),
        call ? [html("p", {}, `For the ${call.name}: `,
            call.differ ? html("strong", {class: "doubt"}, "the plans differ.") : "what they do is the same, or not known of both."),
        planPair(call, ", for that call")] : null);
}
