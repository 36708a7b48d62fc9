"""The judgements of `evidence.py` see what is wrong.

    python3 -m unittest evidence_test       in this folder
"""

import base64
import hmac
import json
import unittest

from evidence import (
    Interruption, accepted_mails, event_problems, late_problems, left_again, lost_facts, repeat_problems,
    unsent_replies,
)

SECRET = base64.b64encode(b"k" * 24).decode()
# The primary is killed at 100 and the service back at 105, when these were not recorded yet.
FAILOVER = Interruption(100.0, 105.0, {"msg.held.mark"})
MOST = 2


def mail(name, body="Hello"):
    return (f"Received: from x\nMESSAGE-ID:\n <{name}@acme.test>\nSubject: A\n\n"
            f"Message-ID: <msg.no.no@acme.test>\n{body}\n")


def problems_of(times, name="msg.held.mark", interruptions=(FAILOVER,)):
    return repeat_problems({name: times}, list(interruptions), MOST)


class Repeats(unittest.TestCase):
    def test_mails_are_told_apart_by_their_message_id(self):
        accepted = accepted_mails([(1.0, mail("msg.a.m")), (2.0, mail("msg.b.m")), (3.0, mail("msg.a.m", "Again"))])
        self.assertEqual(accepted, {"msg.a.m": [1.0, 3.0], "msg.b.m": [2.0]})
        self.assertEqual(left_again(accepted), 1)
        self.assertEqual(unsent_replies(accepted, {"One.": "msg_a", "Two.": "msg_c"}), ["Two."])

    def test_a_mail_that_was_not_recorded_at_the_kill_may_leave_again(self):
        self.assertEqual(problems_of([99.0, 160.0]), [])

    def test_a_mail_that_was_accepted_while_the_database_was_away_may_leave_again(self):
        self.assertEqual(problems_of([101.0, 162.0], "msg.other.mark"), [])

    def test_a_mail_that_was_recorded_before_the_kill_may_not(self):
        self.assertEqual(len(problems_of([99.0, 160.0], "msg.other.mark")), 1)

    def test_a_mail_that_was_accepted_after_the_service_was_back_may_not(self):
        self.assertEqual(len(problems_of([106.0, 107.0])), 1)

    def test_a_mail_that_left_twice_before_the_kill_may_not(self):
        self.assertEqual(len(problems_of([98.0, 99.0])), 1)

    def test_one_interruption_explains_one_repeat_of_a_mail(self):
        self.assertEqual(len(problems_of([99.0, 101.0, 160.0])), 1)
        restart = Interruption(150.0, 155.0, {"msg.held.mark"})
        self.assertEqual(problems_of([99.0, 101.0, 160.0], interruptions=[FAILOVER, restart]), [])

    def test_no_more_mails_leave_again_than_are_sent_at_one_time(self):
        accepted = {f"msg.{number}.mark": [101.0, 160.0] for number in range(MOST + 1)}
        self.assertEqual(len(repeat_problems(accepted, [FAILOVER], MOST)), 1)

    def test_no_mail_leaves_once_more_after_it_was_recorded(self):
        recorded = {"msg.a.m": 10.0}
        self.assertEqual(late_problems({"msg.a.m": [9.0, 9.9995]}, recorded), [])
        self.assertEqual(late_problems({"msg.a.m": [10.0005]}, recorded), [])
        self.assertEqual(len(late_problems({"msg.a.m": [9.0, 11.0]}, recorded)), 1)


class Facts(unittest.TestCase):
    def test_a_fact_is_lost_when_it_is_not_there_once(self):
        def column(query):
            return ["a 1", "b 2"] if "documents" in query else ["one", "two", "two"]
        self.assertEqual(lost_facts(column, ["one", "two", "three"], ["one"], {"a": "1", "b": "3"}),
                         ["two", "three", "file of b"])

    def problems(self, kept, events, deliveries=("evt_1",)):
        def column(query):
            return list(deliveries) if "deliveries" in query else [f"{id} {body}" for id, body in kept]
        return event_problems(column, f"whsec_{SECRET}", events, {"Hello.": "msg_a"})[0]

    def event(self, id, body, key=b"k" * 24):
        proof = base64.b64encode(hmac.digest(key, f"{id}.5.{body}".encode(), "sha256")).decode()
        return {"id": id, "timestamp": "5", "body": body, "signature": f"v1,{proof}"}

    def test_events_arrive_signed_and_as_they_are_kept_and_a_message_was_sent_once(self):
        sent = json.dumps({"type": "message.sent", "data": {"message_id": "msg_a"}})
        kept, event = [("evt_1", sent)], self.event("evt_1", sent)
        self.assertEqual(self.problems(kept, [event, event]), [])
        self.assertEqual(self.problems(kept, []), ["evt_1 did not arrive"])
        self.assertEqual(self.problems(kept, [self.event("evt_1", sent, b"other")]), ["evt_1 has a wrong signature"])
        self.assertEqual(self.problems(kept, [event, self.event("evt_2", sent)]), ["evt_2 arrived changed"])
        self.assertEqual(self.problems(kept + [("evt_3", sent)], [event]), ["Hello. has 2 events"])
        other = '{"type": "note.added"}'
        self.assertEqual(self.problems([("evt_1", other)], [self.event("evt_1", other)]), ["Hello. has 0 events"])


if __name__ == "__main__":
    unittest.main()
