// Verifies the events that verify.py received with the Standard Webhooks library for JavaScript.
//
//     verify.mjs EVENTS
import { readFileSync } from 'node:fs';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

for (const { body, headers, good, bad } of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
    for (const secret of good) new Webhook(secret).verify(body, headers);
    for (const secret of bad) {
        let verified = true;
        try {
            new Webhook(secret).verify(body, headers);
        } catch (error) {
            if (!(error instanceof WebhookVerificationError)) throw error;
            verified = false;
        }
        if (verified) throw new Error('a secret that should not sign does');
    }
}
