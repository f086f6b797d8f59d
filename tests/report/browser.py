"""A real browser for tests: headless Chromium, spoken to over a pipe in its DevTools protocol.

No driver and no port: ``--remote-debugging-pipe`` reads commands from descriptor 3 and writes
answers and events to descriptor 4, each a JSON text that ends with a zero byte.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_SECONDS = 120.0
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # tests run as root in containers; the pages are our own
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def executable():
    """Path of an installed Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A running browser with one page."""

    def start(self):
        """Start it and attach to its page; RuntimeError if it does not answer."""
        self._directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        options = " ".join((*_OPTIONS, f"--user-data-dir={self._directory.name}"))
        command = f'exec "{executable()}" {options} 3<&{theirs_in} 4>&{theirs_out} about:blank'
        self._process = subprocess.Popen(
            ["bash", "-c", command],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._number, self._rest, self.events, self._session = 0, b"", [], None
        try:
            self._attach()
        except BaseException:
            self.stop()
            raise

    def _attach(self):
        targets = self._call("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        attached = self._call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def stop(self):
        """End the process that was started."""
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._directory.cleanup()

    def _call(self, method, **parameters):
        """Send a command and wait for its answer; events on the way are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        try:
            os.write(self._out, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise RuntimeError("the browser has ended") from None
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer.get("result", {})
            self.events.append(answer)

    def _read(self):
        end = time.monotonic() + _SECONDS
        while b"\0" not in self._rest:
            left = end - time.monotonic()
            ready = left > 0 and select.select([self._in], [], [], left)[0]
            chunk = os.read(self._in, 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError("the browser does not answer")
            self._rest += chunk
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width, *, dark=False):
        """Load a file at a width in pixels; wait until it is there."""
        self.events.clear()
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._call("Page.navigate", url=path.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def run(self, expression):
        """Value of a JavaScript expression, or of what it promises."""
        answer = self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self, path):
        """The whole page as a PNG file."""
        size = self._call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        picture = self._call(
            "Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(picture["data"]))

    def settle(self):
        """Wait until the page was drawn twice: scrolling is over, its events are handled."""
        self.run(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame("
            "() => setTimeout(() => done(true), 50))))"
        )

    def move(self, x, y):
        """Put the pointer somewhere."""
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def complaints(self):
        """Whatever the page wrote to the console as an error or warning, or threw."""
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"])
            if event.get("method") == "Runtime.consoleAPICalled":
                found.append(parameters)
            if event.get("method") == "Log.entryAdded":
                found.append(parameters["entry"])
        return found

    def requests(self):
        """Addresses that were asked for, the page itself among them."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]
