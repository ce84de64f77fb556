# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium, driven through its debugging pipe: pages are opened, asked, typed to, and looked at."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

CHROMIUM = shutil.which("chromium")


class Browser:
    """One tab.  `errors` are the console's errors and the script's exceptions since the last open."""

    def __init__(self):
        to_browser, self.write = os.pipe()
        self.read, from_browser = os.pipe()
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)

        def wire():
            first, second = os.dup(to_browser), os.dup(from_browser)
            for number, wanted in ((first, 3), (second, 4)):
                os.dup2(number, wanted)

        self.process = subprocess.Popen(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars",
             f"--user-data-dir={self.folder.name}", "about:blank"],
            preexec_fn=wire, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.pending, self.number, self.events, self.session = b"", 0, [], None
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.pending:
            piece = os.read(self.read, 1 << 20)
            assert piece, "the browser has ended"
            self.pending += piece
        one, self.pending = self.pending.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.message())

    @property
    def errors(self):
        self.ask("0") # what has happened so far is then here
        found = [event["params"]["exceptionDetails"]["exception"].get("description", "?") for event in self.events
                 if event.get("method") == "Runtime.exceptionThrown"]
        return found + [event["params"]["entry"]["text"] for event in self.events if event.get("method") == "Log.entryAdded"
                        and event["params"]["entry"]["level"] in ("error", "warning")]

    def open(self, path, width=1200, height=900, dark=False, media=""):
        self.events = []
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=f"file://{path}")
        self.wait_for("Page.loadEventFired")

    def ask(self, expression):
        """The value of an expression of JavaScript."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def key(self, key):
        text = "\r" if key == "Enter" else key if len(key) == 1 else None
        code = {"Enter": 13, "Tab": 9, "ArrowRight": 39, "ArrowDown": 40, "End": 35}.get(key, 0)
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def shot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def printed(self):
        """Bytes of the PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.write)
        os.close(self.read)
        self.folder.cleanup()
