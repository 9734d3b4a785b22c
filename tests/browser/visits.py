"""Opening the page, and watching what it asks for and complains about."""

from urllib.parse import urlsplit

LAPTOP = {"width": 1280, "height": 800}
PHONE = {
    "viewport": {"width": 360, "height": 740},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
PATIENCE_MS = 60_000  # a busy machine is no failure
INSIDE = ("data:", "blob:", "about:")  # what a page holds itself is asked of no host


class Visits:
    """Pages in contexts of their own. Requests go to the plate's server and to no other."""

    def __init__(self, browser, plate, script):
        self.browser = browser
        self.plate = plate
        self.script = script
        self.hosts = {urlsplit(plate).netloc}
        self.contexts = []
        self.requests = []
        self.refused = []
        self.complaints = []

    def open(self, address="", ready=True, **options):
        """Open an address of the plate's server; wait until the page answers, unless told not to.

        ``options`` are the context's: colour scheme, viewport, and so on.
        """
        page = self.context(**options).new_page()
        if ready:
            self.go(page, address)
        return page

    def go(self, page, address=""):
        """Lead a page to an address of the plate's server, and wait until it answers."""
        page.goto(address if "://" in address else self.plate + address)
        page.wait_for_selector("html[data-ready]", state="attached")

    def context(self, **options):
        """A context that is watched."""
        context = self.browser.new_context(**{"viewport": LAPTOP, **options})
        self.contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        context.add_init_script(self.script)
        context.route("**/*", self._route)
        context.on("page", self._watch)
        return context

    def _route(self, route):
        self.requests.append(route.request.url)
        if self._allowed(route.request.url):
            route.fallback()
        else:
            self.refused.append(route.request.url)
            route.abort()

    def _watch(self, page):
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._listen)
        page.on("websocket", lambda socket: self._note(socket.url))
        page.on("request", lambda request: self._note(request.url))

    def _note(self, url):
        """What routing does not see, such as a WebSocket, is refused too late, but is noticed."""
        if not self._allowed(url) and url not in self.refused:
            self.refused.append(url)

    def _listen(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.text} ({message.location.get('url')})")

    def _allowed(self, url):
        return url.startswith(INSIDE) or urlsplit(url).netloc in self.hosts

    def check(self):
        """Fail if a page has complained or asked another host since this was called last."""
        refused, complaints = self.refused.copy(), self.complaints.copy()
        self.refused.clear()
        self.complaints.clear()
        assert refused == [], "asked of other hosts"
        assert complaints == [], "said on the console"

    def close(self):
        """Close everything, and check it."""
        for context in self.contexts:
            context.close()
        self.check()
