"""Works through the developer site of a running Mailroom: downloads the typed clients, runs every example
of its pages in Python and TypeScript in the sandbox as it stands, compares the answer with the one that is shown, has
the clients page, count, retry and follow events (clients.py), and starts the webhook receivers of its pages and posts
genuine and forged events to them.

    examples.py SERVER TEST_KEY FOLDER
"""

import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

BLOCK = re.compile(r"^```(\w+) ([^\n]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WAIT_SECONDS = 30
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
TSC = "tsc --noEmit --strict --target es2024 --lib es2024,dom,dom.asynciterable --module nodenext".split()
TSC += ["--moduleResolution", "nodenext", "--allowImportingTsExtensions"]
# Their examples need a key with the scope admin, or end all work of the key that runs the others.
OTHER_KEYS = ("list_webhooks", "create_webhook", "delete_webhook", "undo_agent", "pause_agent",
              "resume_agent")
# Where a language's program and its command are.
RECEIVERS = {
    "TypeScript": ("receiver.mts", ["node", "receiver.mts"]),
    "Python": ("receiver.py", [sys.executable, "receiver.py"]),
    "PHP": ("receiver.php", ["php", "-S", "127.0.0.1:{port}", "receiver.php"]),
    "Java": ("Receiver.java", ["java", "Receiver.java"]),
}


def main(server, key, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    for name in ("mailroom.py", "mailroom.ts"):
        Path(name).write_text(fetch(f"{server}/developers/clients/{name}"))
    Path("package.json").write_text('{ "type": "module" }')
    os.environ |= {"MAILROOM": f"{server}/api/v1", "MAILROOM_KEY": key}
    sys.path.insert(0, str(Path.cwd()))
    pages = re.findall(r"\]\(([^)]+\.md)\)", fetch(f"{server}/llms.txt"))
    assert len(pages) > 60, "llms.txt lists every page"
    run = [run_page(fetch(page), page) for page in pages if Path(page).stem not in OTHER_KEYS]
    assert sum(run) > 40, "the examples were not found"
    subprocess.run([sys.executable, "-m", "mypy", "--strict", "mailroom.py"], check=True, stdout=subprocess.PIPE)
    subprocess.run([*TSC, *map(str, Path.cwd().glob("*.ts"))], check=True)
    subprocess.run([sys.executable, Path(__file__).with_name("clients.py"), Path.cwd()], check=True)
    follow_start(fetch(f"{server}/developers.md"))
    check_receivers(fetch(f"{server}/developers/webhooks.md"))
    check_panels(fetch(f"{server}/developers/panel.md"))
    print(f"{sum(run)} examples and {len(RECEIVERS)} receivers work")


def fetch(url):
    with urllib.request.urlopen(url, timeout=WAIT_SECONDS) as answer:
        return answer.read().decode()


def run_page(text, page):
    blocks = {title: code for _, title, code in BLOCK.findall(text)}
    shown = next((code for title, code in blocks.items() if title.startswith("Answer")), None)
    run = 0
    for language, execute in (("Python", run_python), ("TypeScript", run_typescript)):
        code = blocks.get(language)
        if code is None or "mailroom" not in code:
            continue
        name = re.sub(r"\W+", "_", page.split("/developers")[1])
        answer = execute(code, f"example{name}")
        if shown is not None and answer is not None and "/reference/" in page:
            same_shape(json.loads(shown), answer, page)
        run += 1
    return run


def run_python(code, _):
    names = {}
    exec(compile(code, "example", "exec"), names)
    answer = names.get("answer")
    return None if isinstance(answer, bytes) else answer


def run_typescript(code, name):
    file = Path(f"{name}.ts")
    printing = "\nconsole.log(JSON.stringify(answer));\n" if "const answer" in code else ""
    file.write_text(code + printing)
    done = subprocess.run(["node", file], capture_output=True, text=True, timeout=2 * WAIT_SECONDS)
    assert done.returncode == 0, f"{name}: {done.stderr}"
    if "download" in name or not printing:
        return None
    return json.loads(done.stdout)


def until(condition):
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.2)


def same_shape(shown, real, at):
    if at.endswith(".fields"):
        return  # Its names are the workspace's own.
    if isinstance(shown, dict):
        for name, value in shown.items():
            assert name in real, f"{at}: {name} is not answered"
            same_shape(value, real[name], f"{at}.{name}") if real[name] is not None else None
    elif isinstance(shown, list) and isinstance(real, list) and shown and real:
        both = [one for one in (shown[0], real[0]) if isinstance(one, dict)]
        if len(both) < 2 or both[0].get("type") == both[1].get("type"):
            same_shape(shown[0], real[0], at)


def follow_start(text):
    """Does what the first page says, as a newcomer who copies each step into one terminal."""
    steps = "\n".join(code for language, _, code in BLOCK.findall(text) if language == "sh")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", steps], capture_output=True, text=True, timeout=2 * WAIT_SECONDS
    )
    assert done.returncode == 0 and "client.replied" in done.stdout, f"{done.stdout} {done.stderr}"


def check_receivers(text):
    blocks = {title: code for _, title, code in BLOCK.findall(text)}
    Path("receiver.mts").write_text(blocks["TypeScript"])
    types = Path(shutil.which("tsc")).parent.parent / "@types"
    subprocess.run([*TSC, "--typeRoots", types, "--types", "node", "receiver.mts"], check=True)
    for language, (file, command) in RECEIVERS.items():
        if shutil.which(command[0]) is None:
            print(f"   {language} is not installed; its receiver is not run")
            continue
        Path(file).write_text(blocks[language])
        check_receiver(language, command)


def check_receiver(language, command):
    port = free_port()
    command = [word.replace("{port}", str(port)) for word in command]
    environment = os.environ | {"PORT": str(port), "WEBHOOK_SECRET": SECRET}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: is_open(port))
            body, now = json.dumps({"type": "webhook.test"}).encode(), int(time.time())
            good = signature(body, now)
            for expected, given, sent, what in (
                (204, good, now, "a genuine event"),
                (204, f"v1,AAAA {good}", now, "one of two signatures"),
                (401, signature(body + b" ", now), now, "another body's signature"),
                (401, signature(body, now - 600), now - 600, "an old event"),
                (401, "", now, "no signature"),
            ):
                status = post(port, body, {"webhook-timestamp": str(sent), "webhook-signature": given})
                assert status == expected, f"{language} answers {status} to {what}"
        finally:
            process.kill()


def check_panels(text):
    """Runs the apps of the customer panel, and asks each as Mailroom does."""
    blocks = {title: code for _, title, code in BLOCK.findall(text)}
    assert len(blocks) == 4, blocks.keys()
    for title, code in blocks.items():
        assert len(code.splitlines()) <= 60, f"{title} has more than 60 lines"
        name = title.split()[0].lower()
        file = f"{name}.py" if title.endswith("Python") else f"{name}.mjs"
        Path(file).write_text(code)
        program = sys.executable if file.endswith(".py") else "node"
        check_panel(title, [program, file])


def check_panel(title, command):
    port = free_port()
    environment = os.environ | {"PORT": str(port), "PANEL_SECRET": SECRET}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: is_open(port))
            known, stranger = (
                {"address": address, "reference": None, "fields": {}, "conversationId": "cnv_1"}
                for address in ("daniel@okoro.example", "nobody@else.example")
            )
            blocks = ask(port, known)["blocks"]
            kinds = {"text", "keyValue", "table", "badge", "link", "button"}
            assert blocks and all(block["type"] in kinds for block in blocks), f"{title}: {blocks}"
            assert ask(port, stranger) == {"blocks": []}, title
            for button in (block for block in blocks if block["type"] == "button"):
                done = ask(port, known | {"button": button["id"], "person": "Ines Marti"})
                assert done["message"], f"{title}: {done}"
            body, now = json.dumps(known).encode(), int(time.time())
            forged = {"webhook-timestamp": str(now), "webhook-signature": signature(body + b" ", now)}
            assert post(port, body, forged) == 401, title
        finally:
            process.kill()


def ask(port, question):
    body, now = json.dumps(question).encode(), int(time.time())
    headers = {"webhook-id": "evt_1", "content-type": "application/json", "webhook-timestamp": str(now)}
    headers["webhook-signature"] = signature(body, now)
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", data=body, headers=headers)
    with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
        return json.load(answer)


def signature(body, sent):
    signed = b"evt_1." + str(sent).encode() + b"." + body
    mac = hmac.new(base64.b64decode(SECRET[6:]), signed, hashlib.sha256)
    return "v1," + base64.b64encode(mac.digest()).decode()


def post(port, body, headers):
    headers = headers | {"webhook-id": "evt_1", "content-type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
            return answer.status
    except urllib.error.HTTPError as refusal:
        return refusal.code


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def is_open(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


main(*sys.argv[1:])
