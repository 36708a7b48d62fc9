"""Has both typed clients meet what a busy server answers: pages, totals, 429 and 5xx with and without Retry-After, cut
connections, and a feed of events that is stopped and goes on.

    clients.py FOLDER

FOLDER has mailroom.py and mailroom.ts, as the developer site gives them out. The server is one of this script's own, so
that every answer is known; NODE names a Node that runs TypeScript.
"""

import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

EVENTS = [{"id": f"evt_{number}", "type": "client.replied"} for number in range(5)]
ROWS = [{"id": f"cnv_{number}"} for number in range(5)]
PAGE = 2

PROGRAM = """
import { Mailroom, MailroomError } from "./mailroom.ts";
const mailroom = new Mailroom();
const page = await mailroom.listConversations({ limit: 2, count: true });
const last = await mailroom.listConversations({ limit: 2, cursor: "4" });
const all: string[] = [];
for await (const one of mailroom.eachOfListConversations({ limit: 2 })) all.push(one.id);
const seen: string[] = [];
let feed = mailroom.followEvents({ start: "oldest", waitMs: 1 });
for await (const event of feed) {
  seen.push(event.id);
  if (seen.length === 2) break;
}
const stopped = feed.cursor;
feed = mailroom.followEvents({ cursor: stopped, waitMs: 1 });
for await (const event of feed) {
  seen.push(event.id);
  if (event.id === "evt_4") break;
}
const noted = await mailroom.addNote("cnv_1", { body: "Once" });
const told: (number | null)[] = [];
for (const id of ["cnv_gone", "cnv_later"]) {
  try {
    await mailroom.getConversation(id);
  } catch (error) {
    if (!(error instanceof MailroomError)) throw error;
    told.push(error.status, error.retryAfter);
  }
}
console.log(JSON.stringify({
  items: page.items.length, length: page.length, cursor: page.cursor, total: page.total,
  last: [last.cursor, last.total], all, seen, stopped, noted, told,
}));
"""

PYTHON = """
import json
from mailroom import Mailroom, MailroomError
mailroom = Mailroom()
page = mailroom.list_conversations(limit=2, count=True)
last = mailroom.list_conversations(limit=2, cursor="4")
everything = [one["id"] for one in mailroom.each_of_list_conversations(limit=2)]
seen = []
feed = mailroom.follow_events(start="oldest", wait_seconds=0.001)
for event in feed:
    seen.append(event["id"])
    if len(seen) == 2:
        break
stopped = feed.cursor
feed = mailroom.follow_events(cursor=stopped, wait_seconds=0.001)
for event in feed:
    seen.append(event["id"])
    if event["id"] == "evt_4":
        break
noted = mailroom.add_note("cnv_1", body="Once")
told: list[int | None] = []
for id in ("cnv_gone", "cnv_later"):
    try:
        mailroom.get_conversation(id)
    except MailroomError as refusal:
        told += [refusal.status, refusal.retry_after]
print(json.dumps({
    "items": len(page.items), "length": len(page), "cursor": page.cursor, "total": page.total,
    "last": [last.cursor, last.total], "all": everything, "seen": seen, "stopped": stopped, "noted": noted,
    "told": told,
}))
"""


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    tries: dict[str, int] = {}
    keys: list[str | None] = []

    def do_GET(self):
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        name = url.path.rsplit("/", 1)[-1]
        if name in ("conversations", "events"):
            if self.is_first(self.path):
                return self.refuse(429, "0")
            return self.page(url.path, ROWS if name == "conversations" else EVENTS, query)
        if name == "cnv_gone":
            return self.answer(404, {"error": "There is no such conversation."})
        return self.refuse(503, "3600")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Server.keys.append(self.headers["Idempotency-Key"])
        if len(Server.keys) == 1:
            return self.refuse(500, None)
        if len(Server.keys) == 2:
            self.close_connection = True  # without an answer
            return None
        return self.answer(201, json.loads(body))

    def is_first(self, what):
        Server.tries[what] = Server.tries.get(what, 0) + 1
        return Server.tries[what] == 1

    def page(self, path, rows, query):
        start = int(query.get("cursor", 0))
        found = rows[start:start + PAGE]
        more = start + PAGE < len(rows)
        headers = {"X-Total-Count": str(len(rows))} if "count" in query else {}
        if found and (more or path.endswith("events")):
            headers["Link"] = f'<http://mail.test{path}?limit=2&cursor={start + len(found)}>; rel="next"'
        return self.answer(200, found, headers)

    def refuse(self, status, wait):
        self.answer(status, {"error": "Later."}, {} if wait is None else {"Retry-After": wait})

    def answer(self, status, body, headers=None):
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


WANTED = {
    "items": 2, "length": 2, "cursor": "2", "total": 5, "last": [None, None],
    "all": [row["id"] for row in ROWS],
    "seen": [event["id"] for event in EVENTS],
    "stopped": "2", "noted": {"body": "Once"},
    # What is not found is not asked for again; an hour is longer than a client waits by itself.
    "told": [404, None, 503, 3600],
}


def main(folder):
    os.chdir(folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = os.environ | {
        "MAILROOM": f"http://127.0.0.1:{server.server_address[1]}/api/v1", "MAILROOM_KEY": "rk_test_1",
    }
    Path("judged.py").write_text(PYTHON)
    Path("judged.ts").write_text(PROGRAM)
    for command in ([sys.executable, "judged.py"], [os.environ.get("NODE", "node"), "judged.ts"]):
        Server.tries, Server.keys = {}, []
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        got = json.loads(done.stdout)
        assert got == WANTED, f"{command[-1]}: {got}"
        keys = set(Server.keys)
        assert len(Server.keys) == 3 and len(keys) == 1 and None not in keys, f"{command[-1]}: {Server.keys}"
    print("both clients page, count, retry and follow events")


main(*sys.argv[1:])
