"""A headless Chromium, driven through its DevTools protocol over a pipe.

    with Browser("/usr/bin/chromium", folder) as browser:
        browser.open("file:///tmp/report.html")
        browser.value("document.title")

Whatever the page says on its console as an error, throws or asks the network for is kept in `errors`
and `requests`.
"""
import base64
import fcntl
import json
import os
import select
import subprocess
import time

ANSWER_SECONDS = 60


class Browser:
    def __init__(self, program, folder):
        self.errors = []
        self.requests = []
        self.last_id = 0
        self.answers = {}
        self.events = []
        self.pending = b""
        self.session = None
        self._start(program, folder)

    def _start(self, program, folder):
        # Chromium reads commands from descriptor 3 and writes answers to 4.
        command_read, self.command_write = os.pipe()
        self.answer_read, answer_write = os.pipe()
        command_read, answer_write = (fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (command_read, answer_write))
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                 "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                 f"--user-data-dir={folder}/profile", "--remote-debugging-pipe", "about:blank"]
        with open(f"{folder}/chromium.log", "wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", f'exec "$@" 3<&{command_read} 4>&{answer_write}', "chromium", program, *flags],
                pass_fds=(command_read, answer_write), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        os.close(command_read)
        os.close(answer_write)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _note(self, message):
        method, params = message["method"], message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert", "warning"):
            self.errors.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        self.events.append(method)

    def _receive(self, deadline):
        """Take in what has come, waiting for something until the deadline."""
        if not select.select([self.answer_read], [], [], max(0, deadline - time.monotonic()))[0]:
            raise TimeoutError("no answer from the browser")
        piece = os.read(self.answer_read, 1 << 20)
        if not piece:
            raise EOFError("the browser has ended")
        *messages, self.pending = (self.pending + piece).split(b"\0")
        for text in messages:
            message = json.loads(text)
            if "id" in message:
                self.answers[message["id"]] = message
            else:
                self._note(message)

    def call(self, method, **params):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.command_write, data):]
        deadline = time.monotonic() + ANSWER_SECONDS
        while self.last_id not in self.answers:
            self._receive(deadline)
        answer = self.answers.pop(self.last_id)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + ANSWER_SECONDS
        while "Page.loadEventFired" not in self.events:
            self._receive(deadline)

    def value(self, expression):
        """Of a JavaScript expression; a promise is waited for."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def window(self, width, height, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media="",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def press(self, key, code, text=None):
        params = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **params, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **params)

    def screenshot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
