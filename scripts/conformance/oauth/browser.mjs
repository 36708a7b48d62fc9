// A person with a browser: browser.mjs SIGN_IN_LINK CHROMIUM. Prints its own address.
//
// GET /visit?url=URL opens the address, chooses real mail and clicks "Allow" on the page that asks, and
// answers with the address that the browser ends at. /callback is a page for clients that have none of
// their own.

import http from 'node:http';
import { chromium } from 'playwright-core';

const PATIENCE_MS = 30_000;
const [signInLink, executablePath] = process.argv.slice(2);
const app = new URL(signInLink).origin;

// Chromium's sandbox cannot be set up by root.
const args = process.getuid() === 0 ? ['--no-sandbox'] : [];
const browser = await chromium.launch({ executablePath, args });
const context = await browser.newContext();
context.setDefaultTimeout(PATIENCE_MS);

const first = await context.newPage();
await first.goto(signInLink);
await first.click('form button');
await first.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
await first.close();

async function visit(url) {
    const page = await context.newPage();
    try {
        await page.goto(url);
        const allow = page.locator('button[value=allow]');
        if ((await allow.count()) === 0) {
            throw new Error(`no such button on this page: ${await page.innerText('main')}`);
        }
        // Nothing is chosen for the person, and the browser asks who forgets it.
        if ((await page.locator('input[name=works]:checked').count()) !== 0) {
            throw new Error('sandbox or real mail was chosen before the person did');
        }
        await page.check('input[name=works][value=live]');
        await allow.click({ noWaitAfter: true });
        await page.waitForURL((at) => at.origin !== app, { waitUntil: 'load' });
        return page.url();
    } finally {
        await page.close();
    }
}

const server = http.createServer(async (request, response) => {
    const asked = new URL(request.url, 'http://localhost');
    if (asked.pathname !== '/visit') {
        response.end('You can close this page.');
        return;
    }
    try {
        response.end(await visit(asked.searchParams.get('url')));
    } catch (error) {
        response.writeHead(500).end(String(error));
    }
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.on('SIGTERM', async () => {
    await browser.close();
    process.exit(0);
});
