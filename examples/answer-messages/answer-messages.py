"""Answers WhatsApp messages. Environment: WAGATE_KEY, WEBHOOK_SECRET, WAGATE_URL, PORT."""

import base64
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

KEY = os.environ["WAGATE_KEY"]
SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
URL = os.environ.get("WAGATE_URL", "http://127.0.0.1:3000")


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        status = 204 if is_signed(self.headers, body) else 401
        try:
            if status == 204:
                answer(json.loads(body))
        except OSError as error:
            self.log_error("%s", error)
            # What is not answered with 2xx is delivered again.
            status = 502
        self.send_response(status)
        self.end_headers()


def is_signed(headers, body):
    """Checks the headers of https://www.standardwebhooks.com over the bytes as they were received."""
    sent_at = headers["webhook-timestamp"]
    content = f"{headers['webhook-id']}.{sent_at}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(SECRET, content, "sha256"))
    signatures = headers.get("webhook-signature", "").encode().split()
    is_ours = any(hmac.compare_digest(signature, expected) for signature in signatures)
    return is_ours and abs(time.time() - int(sent_at)) < 300


def answer(event):
    message = event["data"].get("message") or {}
    if event["type"] != "message.received" or not message.get("number") or not message.get("message"):
        return
    asks_for_price = "price" in message["message"].lower()
    reply = {
        "sender": message["sender"],
        "number": message["number"],
        "message": "The price is 12.50 EUR." if asks_for_price else "Thank you for your message.",
        "reply_to": message["message_id"],
    }
    # An event may be delivered more than once. The gateway sends once under a key.
    headers = {
        "content-type": "application/json",
        "x-api-key": KEY,
        "idempotency-key": "answer-" + event["event_id"],
    }
    urlopen(Request(URL + "/send-message", json.dumps(reply).encode(), headers), timeout=10).close()


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Handler).serve_forever()
