#!/usr/bin/python3
"""page.py CHROMIUM FOLDER [AXE]: does the HTML report work in a browser?

FOLDER has report.html (40 queries of report_files) and examples.html (the same --with-examples). AXE is
axe-core's script. Screenshots go to FOLDER. The last line is "N checks, N failed".
"""
import json
import pathlib
import sys

from browser import Browser

checks = 0
failed = 0


def check(what, found, wanted=True):
    global checks, failed
    checks += 1
    if found != wanted:
        failed += 1
        print(f"FAILED: {what}: wanted {wanted!r}, found {found!r}")


ROWS = "document.querySelectorAll('#rows > tr:not(.detail)')"
TEXTS = "[...document.querySelectorAll('#rows > tr:not(.detail)')].map(row => row.cells[%d].textContent)"


def click(browser, selector):
    browser.value(f"document.querySelector({json.dumps(selector)}).click()")


def type_text(browser, selector, text):
    browser.value(f"""(() => {{
        const box = document.querySelector({json.dumps(selector)});
        box.value = {json.dumps(text)};
        box.dispatchEvent(new Event("input"));
    }})()""")


def first_screen(browser):
    check("the title tells the verdict", browser.value("document.title"), "pgrehearse diff: FAIL")
    names = browser.value("[...document.querySelectorAll('.summary dt')].map(e => e.textContent)")
    check("the summary's lines", names, ["Trust", "Noise", "Gates", "Slower", "Faster", "Others", "Fails", "Rows", "Ran"])
    check("what fails is on the first screen",
          browser.value("document.querySelector('.summary').getBoundingClientRect().bottom < innerHeight"))
    check("every section is there", browser.value("[...document.querySelectorAll('h2')].map(e => e.textContent)"),
          ["What adds time", "Every query", "Queries", "Errors",
           "By database, user and application", "Over time", "Can it be trusted?"])
    check("what has one value has no table", browser.value("[...document.querySelectorAll('[aria-labelledby=who] caption')].map(e => e.textContent)"),
          ["By application"])
    check("each application is there", browser.value("[...document.querySelectorAll('[aria-labelledby=who] tbody th')].map(e => e.textContent).sort()"),
          ["<i>batch</i>", "web"])
    check("nothing is empty", browser.value("[...document.querySelectorAll('section')].every(s => s.children.length > 1)"))


def sorting(browser):
    check("all queries are shown", browser.value(f"{ROWS}.length"), 40)
    added = browser.value(TEXTS % 1)
    click(browser, "#column1 button")
    check("sorted by time added, most first", browser.value(TEXTS % 1)[:3], added[:3])
    check("and says so", browser.value("document.querySelector('#column1').getAttribute('aria-sort')"), "descending")
    click(browser, "#column1 button")
    check("least first", browser.value(TEXTS % 1)[0].startswith("-"))
    check("says so too", browser.value("document.querySelector('#column1').getAttribute('aria-sort')"), "ascending")
    check("what is unknown is last", browser.value(TEXTS % 1)[-1], "-")
    click(browser, "#column4 button")
    click(browser, "#column1 button")


def filtering(browser):
    type_text(browser, "#search", "ORDERS_1 ")
    check("a search", browser.value(f"{ROWS}.length"), 1)
    check("is told", browser.value("document.querySelector('#shown').textContent"), "1 of 1 queries that fit")
    type_text(browser, "#search", "no such query")
    check("nothing found", browser.value(f"{ROWS}.length"), 0)
    type_text(browser, "#search", "")
    click(browser, "#words input[value=regressed]")
    check("one verdict", browser.value(f"[...new Set({TEXTS % 0})]"), ["regressed"])
    click(browser, "#words input[value=improved]")
    check("two verdicts", browser.value(f"[...new Set({TEXTS % 0})].sort()"), ["improved", "regressed"])
    click(browser, "#words input[value=regressed]")
    click(browser, "#words input[value=improved]")
    check("all again", browser.value(f"{ROWS}.length"), 40)


def details(browser):
    click(browser, "#rows button")
    check("a row opens", browser.value("document.querySelectorAll('tr.detail').length"), 1)
    check("three plots", browser.value("document.querySelectorAll('tr.detail .plots svg[role=img]').length"), 3)
    check("every plot has a name",
          browser.value("[...document.querySelectorAll('svg[role=img]')].every(s => s.getAttribute('aria-label').length > 20)"))
    check("no plot has a number that is none",
          browser.value("[...document.querySelectorAll('svg')].every(s => !/NaN|undefined|Infinity/.test(s.outerHTML))"))
    check("focus stays", browser.value("document.activeElement.textContent"), "close")
    check("it is told", browser.value("document.activeElement.getAttribute('aria-expanded')"), "true")
    # By the keyboard alone.
    browser.value("document.querySelector('#column3 button').focus()")
    browser.press("Enter", 13, "\r")
    check("Enter sorts", browser.value("document.querySelector('#column3').getAttribute('aria-sort')"), "descending")
    browser.press("Tab", 9)
    check("Tab goes on", browser.value("document.activeElement.parentNode.id"), "column4")
    # A click on a mark of the scatter plot finds its query.
    browser.value("""(() => {
        const mark = document.querySelector("section[aria-labelledby=scatter] figure > svg .mark.bad");
        const box = mark.getBoundingClientRect();
        const at = {bubbles: true, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2};
        mark.dispatchEvent(new MouseEvent("mousemove", at));
        mark.dispatchEvent(new MouseEvent("click", at));
    })()""")
    check("the scatter plot opens its query", browser.value(f"{ROWS}.length"), 1)
    check("a regressed one", browser.value(TEXTS % 0), ["regressed"])
    type_text(browser, "#search", "")


def hostile_names(browser):
    check("no element came from a name", browser.value("document.querySelectorAll('img, iframe, script[src], a[href], b').length"), 0)
    check("three scripts", browser.value("document.scripts.length"), 2)
    check("the name is text", browser.value(f"({TEXTS % 8}).filter(t => t === "
          "'select ? \"</script><script>alert(1)</script><!-- ]]> <img src=x onerror=alert(2)>\"').length"), 1)
    check("what nobody would see is shown", browser.value(f"({TEXTS % 8}).some(t => t.includes('[U+2028][U+2029] [U+202E]'))"))


def literals(folder):
    plain = (folder / "report.html").read_text(encoding="utf-8")
    shown = (folder / "examples.html").read_text(encoding="utf-8")
    check("no literal without --with-examples", "secret-" in plain, False)
    check("literals with it", "secret-" in shown)


def accessible(browser, axe, where):
    browser.value(axe.read_text(encoding="utf-8") + "; 1")
    found = browser.value("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => "
                          "`${v.id}: ${v.help}: ${v.nodes.map(n => n.target + ' ' + n.failureSummary).slice(0, 3).join(' | ')}`))")
    check(f"axe-core finds nothing ({where})", found, [])


def looks(browser, folder, axe):
    for width in (1280, 380):
        for dark in (False, True):
            name = f"{width}-{'dark' if dark else 'light'}"
            browser.window(width, 800, dark)
            check(f"nothing is wider than the window ({name})", browser.value("document.documentElement.scrollWidth"), width)
            browser.screenshot(folder / f"{name}.png")
            if axe:
                accessible(browser, axe, name)
    pdf = browser.pdf()
    check("it can be printed", pdf.startswith(b"%PDF") and len(pdf) > 20000)


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    axe = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    with Browser(program, folder) as browser:
        browser.window(1280, 800, False)
        browser.open(f"file://{folder}/report.html")
        for part in (first_screen, sorting, filtering, details, hostile_names):
            part(browser)
        looks(browser, folder, axe)
        for name in ("examples", "unlike"):
            browser.open(f"file://{folder}/{name}.html")
            check(f"{name}.html has its sections", browser.value("document.querySelectorAll('section').length"), 7)
        check("no error on the console", browser.errors, [])
        check("no request but for the pages", [url for url in browser.requests if not url.startswith(f"file://{folder}/")], [])
    literals(folder)
    print(f"{checks} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
