// Reads the invitations, cancellations and feeds that invitations.py had written with ical.js.
//
//     invitations.mjs CALENDARS
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import ICAL from 'ical.js';

const calendars = JSON.parse(readFileSync(process.argv[2], 'utf8'));
for (const wanted of calendars) {
    const calendar = new ICAL.Component(ICAL.parse(wanted.text));
    assert.equal(calendar.getFirstPropertyValue('method'), wanted.method);
    assert.equal(calendar.getFirstPropertyValue('version'), '2.0');
    const components = calendar.getAllSubcomponents('vevent');
    assert.equal(components.length, 1);
    const [component] = components;
    const event = new ICAL.Event(component);
    assert.equal(event.uid, wanted.uid);
    assert.equal(event.sequence, wanted.sequence);
    assert.equal(component.getFirstPropertyValue('status'), wanted.status);
    assert.equal(event.startDate.zone, ICAL.Timezone.utcTimezone);
    assert.equal(event.startDate.toString(), wanted.start);
    assert.equal(event.endDate.toString(), wanted.end);
    assert.equal(event.isRecurring(), false);
    assert.equal(event.summary, wanted.summary);
    assert.equal(event.location, wanted.location);
    assert.equal(event.description, wanted.description);
    assert.equal(component.getFirstPropertyValue('url'), wanted.url);
    assert.equal(event.organizer, wanted.organizer);
    assert.deepEqual(
        event.attendees.map((one) => one.getFirstValue()),
        wanted.attendees,
    );
    for (const attendee of event.attendees) {
        assert.equal(attendee.getParameter('partstat'), 'ACCEPTED');
        assert.equal(attendee.getParameter('rsvp'), 'FALSE');
    }
}
assert.ok(calendars.length >= 60, `only ${calendars.length} calendars`);
console.log(`${calendars.length} calendars read with ical.js`);
