// Failures by SQLSTATE and query: causes first, then what only follows from them.

const errorTones = {new: "bad", changed: "doubt", gone: "good"};

function errorRow(error) {
    const number = (value) => html("td", {class: "number"}, count(value));
    const notes = [error.follows ? `follows ${error.cause || "another failure"}` : null,
        error.by_chance === true ? "may be chance" : null].filter(Boolean).join("; ");
    const tone = error.follows || error.by_chance === true ? "" : errorTones[error.class] || "";
    const text = error.text === undefined ? null
        : html("p", {}, "as sent: ", html("code", {}, visible(error.text) + (error.text_cut ? "..." : "")));
    return html("tr", {},
        html("td", {}, html("span", {class: tone}, error.class), notes ? html("div", {class: "quiet"}, notes) : null),
        html("th", {scope: "row"}, `${error.sqlstate || "further"} ${error.name || ""}`),
        number(error.base), number(error.candidate), number(error.broke), number(error.fixed),
        html("td", {class: "sql"}, html("code", {}, visible(error.sql || "")), text,
            example("first", error.example)));
}

function errors() {
    if (data.errors.length === 0) {
        return html("p", {}, "None on either side.");
    }
    const heads = ["class", "SQLSTATE", "base", "candidate", "ok before", "ok now", "query"];
    const left = data.errors_left_out > 0
        ? html("p", {}, `${count(data.errors_left_out)} more kinds are not on this page.`) : null;
    return html("div", {},
        html("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of errors"},
            html("table", {id: "errors"},
                html("caption", {}, "Errors by kind and query"),
                html("thead", {}, html("tr", {}, heads.map((head, i) =>
                    html("th", {scope: "col", class: i >= 2 && i <= 5 ? "number" : null}, head)))),
                html("tbody", {}, data.errors.map(errorRow)))), left);
}
