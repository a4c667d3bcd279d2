"""Answers WhatsApp messages. Environment: WAGATE_KEY, WEBHOOK_SECRET, WAGATE_URL, PORT."""

import base64
import hashlib
import hmac
import json
import os
import re
import time
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

KEY = os.environ["WAGATE_KEY"]
SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].split("_", 1)[-1])
URL = os.environ.get("WAGATE_URL", "http://127.0.0.1:3000")
PORT = int(os.environ.get("PORT", "8000"))
TOLERANCE_SECONDS = 300
BODY_BYTES_MAX = 4 * 1024 * 1024

answered = deque(maxlen=10_000)


class Handler(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        """A delivery that is not answered with 2xx comes again."""
        try:
            status = handle(self)
        except Exception as error:
            self.log_error("%s", error)
            status = 502
        self.send_response(status)
        self.end_headers()


def handle(request):
    size = int(request.headers.get("content-length", "0"))
    if not 0 <= size <= BODY_BYTES_MAX:
        return 413
    body = request.rfile.read(size)
    if not is_signed(request.headers, body):
        return 401
    content = json.loads(body)
    for event in content.get("events", [content]):
        answer(event)
    return 204


def answer(event):
    message = event["data"].get("message") or {}
    if event["type"] != "message.received" or not message.get("number") or not message.get("message"):
        return
    if event["event_id"] in answered:
        return
    reply = {
        "sender": message["sender"],
        "number": message["number"],
        "message": reply_to(message["message"]),
        "reply_to": message["message_id"],
    }
    # The gateway sends once under a key, also if this program ends before it has remembered the event.
    headers = {
        "content-type": "application/json",
        "x-api-key": KEY,
        "idempotency-key": "answer-" + event["event_id"],
    }
    # Raises an exception unless the gateway accepts the message.
    urlopen(Request(URL + "/send-message", json.dumps(reply).encode(), headers), timeout=10).close()
    answered.append(event["event_id"])


def reply_to(text):
    if re.search(r"\bprice\b", text, re.IGNORECASE):
        return "The price is 12.50 EUR."
    return "You wrote: " + text[:1000]


def is_signed(headers, body):
    """Checks the headers of https://www.standardwebhooks.com over the bytes as they were received."""
    timestamp = headers.get("webhook-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    content = f"{headers.get('webhook-id', '')}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(SECRET, content, hashlib.sha256).digest())
    signatures = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(signature, expected) for signature in signatures)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    print(f"Listening on port {PORT}", flush=True)
    server.serve_forever()
