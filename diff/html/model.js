// What the page shows: one JSON object, with a row of plain values for each query.

const data = JSON.parse(document.getElementById("data").textContent);

const tones = {regressed: "bad", improved: "good", undecided: "doubt"};

const reasons = {
    "too-few-calls": "too few calls",
    "too-noisy": "too noisy to tell",
    "one-burst": "most calls came at one time",
    "below-min-change": "sure, but a call changes by less than --min-change",
    "memory": "not enough --memory",
    "vantage": "the times were taken at different places",
    "no-times": "a side has no times",
    "unpaired": "the files have no twins",
    "invalid": "the rehearsal is invalid",
    "commit-not-timed": "the log did not time its commits",
    "no-pairs": "no call succeeded on both sides with a time",
    "other-queries": "many queries counted together",
};

const volatility = {
    text: "its text chooses rows by time, chance or a sequence",
    runs: "its rows or outcomes differ between runs of one side",
};

// Characters that nobody sees, or that change how others are shown.
function visible(text) {
    return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
        (character) => `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

const queries = data.queries.map((row, index) => {
    const query = Object.fromEntries(data.columns.map((name, column) => [name, row[column]]));
    query.index = index;
    query.sql = visible(query.sql);
    query.word = query.minor ? "minor" : query.verdict || "not tested";
    query.tone = query.minor ? "" : tones[query.verdict] || "";
    query.detail = data.details[index] || null;
    return query;
});

const relative = data.latency.comparison === "relative";

function timeAdded(query) {
    return relative ? query.relative_time_added_us : query.time_added_us;
}

// In percent of the base's time, of the same kind as the time added.
function shownShare(query) {
    const added = query.relative_time_added_us;
    return !relative ? query.time_added_pct
        : added === null || !data.totals.base_time_us ? null : 100 * added / data.totals.base_time_us;
}

function shownRatio(query) {
    return relative ? query.relative_ratio : query.ratio;
}
