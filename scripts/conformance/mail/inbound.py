"""Sends mail to a running demo with Python's smtplib and with swaks, and reads it back over the API.

    inbound.py SMTP_ADDRESS LMTP_SOCKET API_ADDRESS LIVE_KEY INBOX
"""

import json
import smtplib
import socket
import ssl
import subprocess
import sys
import urllib.request
from email.message import EmailMessage
from email.policy import SMTP as WIRE

smtp_address, lmtp_socket, api, key, inbox = sys.argv[1:]
host, port = smtp_address.rsplit(":", 1)


def main():
    over_smtp_in_the_clear()
    over_smtp_encrypted_in_any_script()
    over_lmtp()
    by_swaks()
    only_to_our_inboxes()
    never_smuggled()


def over_smtp_in_the_clear():
    with smtplib.SMTP(host, int(port)) as smtp:
        smtp.send_message(make_mail("plain", "Hello.\n.\n..\nThe end."))
    read = conversation("check plain")
    assert read["timeline"][0]["text"] == "Hello.\n.\n..\nThe end.", read
    assert read["contact"] == {"name": "Ann Tester", "email": "ann@customer.example", "known": False}, read


def over_smtp_encrypted_in_any_script():
    mail = make_mail("Zürich 東京", "Grüße aus 東京", to=inbox.replace("@", "+inv-2041@"))
    mail.add_attachment(b"%PDF-1.4\n%%EOF\n", maintype="application", subtype="pdf", filename="löwe.pdf")
    with smtplib.SMTP(host, int(port)) as smtp:
        smtp.starttls(context=any_certificate())
        smtp.ehlo()
        assert smtp.has_extn("SMTPUTF8") and not smtp.has_extn("STARTTLS")
        smtp.sendmail(
            "jürgen@customer.example", mail["To"], mail.as_bytes(policy=WIRE), ["SMTPUTF8", "BODY=8BITMIME"]
        )
    read = conversation("check Zürich 東京")
    assert read["timeline"][0]["text"] == "Grüße aus 東京", read
    assert read["timeline"][0]["attachments"][0]["filename"] == "löwe.pdf", read
    assert read["reference"] == "inv-2041", read


def over_lmtp():
    with smtplib.LMTP(lmtp_socket) as lmtp:
        mail = make_mail("handed over", "By our own server.")
        refused = lmtp.send_message(mail, to_addrs=[inbox, "nobody@elsewhere.example"])
        assert list(refused) == ["nobody@elsewhere.example"], refused
    conversation("check handed over")


def by_swaks():
    subprocess.run(
        ["swaks", "--server", smtp_address, "--tls", "--pipeline", "--silent", "2"]
        + ["--ehlo", "swaks.customer.example", "--from", "ann@customer.example", "--to", inbox]
        + ["--header", "Subject: check swaks", "--body", "Swaks was here."],
        check=True,
    )
    read = conversation("check swaks")
    assert read["timeline"][0]["text"] == "Swaks was here.", read


def only_to_our_inboxes():
    with smtplib.SMTP(host, int(port)) as smtp:
        for stranger in ["someone@elsewhere.example", "nobody@" + inbox.split("@")[1]]:
            try:
                smtp.sendmail("ann@customer.example", stranger, b"Subject: x\r\n\r\nx\r\n")
            except smtplib.SMTPRecipientsRefused as refused:
                assert refused.recipients[stranger][0] == 550, refused
            else:
                raise AssertionError(f"{stranger} was accepted")


def never_smuggled():
    for end in [b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r", b"\r\n.\r"]:
        smuggled = b"Subject: check innocent\r\n\r\nx" + end + (
            f"MAIL FROM:<evil@customer.example>\r\nRCPT TO:<{inbox}>\r\nDATA\r\n"
            "Subject: check smuggled\r\n\r\nevil\r\n.\r\n"
        ).encode()
        with socket.create_connection((host, int(port))) as raw, raw.makefile("rb") as replies:
            replies.readline()
            hello = f"EHLO x.example\r\nMAIL FROM:<ann@customer.example>\r\nRCPT TO:<{inbox}>\r\nDATA\r\n"
            raw.sendall(hello.encode())
            while not replies.readline().startswith(b"354"):
                pass
            raw.sendall(smuggled)
            answer = replies.readline()
            assert answer.startswith(b"550"), (end, answer)
    assert not search("smuggled"), "a smuggled mail was accepted"


def make_mail(subject, text, to=inbox):
    mail = EmailMessage()
    mail["From"] = "Ann Tester <ann@customer.example>"
    mail["To"] = to
    mail["Subject"] = "check " + subject
    mail.set_content(text)
    return mail


def any_certificate():
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def search(words):
    return call("/conversations?view=all&q=" + urllib.request.quote(words))


def conversation(subject):
    found = [one for one in search(subject) if one["subject"] == subject]
    assert len(found) == 1, (subject, found)
    return call("/conversations/" + found[0]["id"])


def call(path):
    request = urllib.request.Request(api + path, headers={"Authorization": "Bearer " + key})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


main()
