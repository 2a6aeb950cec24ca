// The page from its parts. What is in the HTML already (the summary) needs no script.

function section(id, title, ...parts) {
    return html("section", {"aria-labelledby": id}, html("h2", {id}, title), parts);
}

function render() {
    document.querySelectorAll("main > :not(.summary, noscript)").forEach((part) => part.remove());
    document.getElementById("main").append(
        html("div", {class: "pair"},
            section("impact", "What adds time", impact()),
            section("scatter", "Every query", scatter(choose))),
        section("table", "Queries", queryTable()),
        section("failures", "Errors", errors()),
        ...[dimensions()].filter(Boolean),
        section("time", "Over time", timeline()),
        section("trust", "Can it be trusted?", gates(), checks(), noise(), sides(), servers()));
    refresh();
}

narrow.addEventListener("change", render);
render();
