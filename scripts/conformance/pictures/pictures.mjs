// Takes the pictures of README.md and docs/ from a sample workspace of its own, light and dark, or checks that the
// pages still say what they said when the pictures were taken.
//
//     pictures.mjs take|check BINARY SCRATCH CHROMIUM PICTURES
//
// PICTURES is the folder with the pictures. Beside them lies words.json: the headings, buttons, labels and navigation
// of each page, without numbers and dates, which change with the day.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { chromium } from 'playwright-core';
import { reduceColours } from './palette.mjs';

const PATIENCE_MS = 30_000;
// What is out of date stays so; a page that is complete later says the rest soon.
const WORDS_PATIENCE_MS = 10_000;
// A page is at rest that looks the same for so long.
const REST_MS = 150;
const PICTURE_BYTES = 120_000;
const LABEL_CHARS = 60;
// Gets the limits that a new agent begins with; those of the sample have none.
const AGENT = 'Answering agent';
const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

// Each page by its address, or by links that lead there: the beginning of an address and a part of the link's words.
const PAGES = [
    { name: 'inbox', from: '/leaving', links: [['/conversations/', 'The dimmer hums']] },
    { name: 'approval', from: '/approvals', links: [['/approvals/', 'Sofia Lehtinen']] },
    { name: 'agent-limits', from: '/settings/keys', links: [['/settings/agents/', AGENT]] },
    { name: 'reports', from: '/reports' },
    { name: 'help-page', from: '/help/en', links: [['/help/', 'Which bulb fits the Alma']] },
    { name: 'booking', from: '/b/lumen-holz/choosing-a-lamp' },
    { name: 'phone', from: '/leaving', links: [['/conversations/', 'The dimmer hums']], size: PHONE },
    { name: 'contact-form', from: '/f/contact', size: PHONE },
];

const [task, binary, scratch, executablePath, folder] = process.argv.slice(2);
assert.ok(['take', 'check'].includes(task), `take or check, not ${task}`);
const wordsFile = path.join(folder, 'words.json');
const pictured = task === 'check' ? JSON.parse(readFileSync(wordsFile, 'utf8')) : {};

async function startDemo() {
    const data = path.join(scratch, 'demo');
    mkdirSync(data, { recursive: true, mode: 0o700 });
    const args = [
        'demo', '--data', data, '--listen', '127.0.0.1:0', '--smtp-listen', 'off', '--lmtp-listen', 'off', '--json',
    ];
    const server = spawn(binary, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = readline.createInterface({ input: server.stdout });
    const line = await new Promise((resolve, reject) => {
        lines.once('line', resolve);
        server.once('exit', () => reject(new Error('the demo ended')));
    });
    return { server, data, ...JSON.parse(line) };
}

function createAgent({ data }) {
    const args = [
        'key', 'create', `--name=${AGENT}`, '--profile=agent', '--scopes=read,write,draft,send',
        '--by=ines@lumen-holz.example', '--json',
    ];
    execFileSync(binary, args, { env: { ...process.env, MAILROOM_DATA: data } });
}

// The folder is removed after it, so nothing may be written any more.
async function stopDemo({ server }) {
    if (server.exitCode === null) {
        const end = once(server, 'exit');
        server.kill();
        await end;
    }
}

async function signIn(page, link) {
    await page.goto(link);
    await page.getByRole('button', { name: 'Sign in as' }).click();
    await page.waitForURL((url) => !url.pathname.startsWith('/sign-in/'));
}

async function open(page, address, { name, from, links = [], size = DESK }) {
    await page.setViewportSize(size);
    await page.goto(address + from);
    for (const [begin, words] of links) {
        const link = page.locator(`main a[href^="${begin}"]`, { hasText: words }).first();
        const href = await link.getAttribute('href');
        const answer = await page.goto(new URL(href, page.url()).href);
        assert.ok(answer.ok(), `${name}: ${href} answers ${answer.status()}`);
    }
}

// Fonts and pictures are there, frames of mails have their height, and nothing moves.
async function settle(page) {
    await page.waitForLoadState('load');
    await page.evaluate(async () => {
        await document.fonts.ready;
        await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
    });
    const until = Date.now() + PATIENCE_MS;
    let before = null;
    let now = await page.screenshot();
    while (!before?.equals(now)) {
        assert.ok(Date.now() < until, `${page.url()} does not come to rest`);
        before = now;
        await page.waitForTimeout(REST_MS);
        now = await page.screenshot();
    }
}

// What the page calls its parts, in the order in which it does. What is longer is the text of a mail.
function readWords(page) {
    return page.evaluate((longest) => {
        const parts = 'h1, h2, h3, nav a, button, summary, label, legend';
        const unsteady = 'time, svg, select, textarea, input, [aria-hidden="true"]';
        const days = /\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b/;
        const months = /\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)([a-z]{3,})?\b/;
        // Mail of the sample is sorted beside, so what is said of that may come later.
        const isOfSorting = (part) => part.closest('.sorted, details:has(> form[action$="/sorting"])');
        const isSeen = (part) => part.checkVisibility({ visibilityProperty: true, opacityProperty: true })
            && !part.closest('[aria-hidden="true"]') && !isOfSorting(part);
        const found = [...document.querySelectorAll(parts)]
            .filter(isSeen)
            .map((part) => {
                const copy = part.cloneNode(true);
                copy.querySelectorAll(unsteady).forEach((it) => it.remove());
                return copy.textContent.replace(/\d[\d.,:]*/g, '').replace(/\s+/g, ' ').trim();
            })
            .filter((words) => /\p{L}/u.test(words) && words.length <= longest)
            .filter((words) => !days.test(words) && !months.test(words));
        return [...new Set(found)];
    }, LABEL_CHARS);
}

async function takePicture(page, name, dark) {
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' });
    await settle(page);
    const picture = reduceColours(await page.screenshot());
    const file = `${name}${dark ? '-dark' : ''}.png`;
    assert.ok(picture.length <= PICTURE_BYTES, `${file} has ${picture.length} bytes`);
    writeFileSync(path.join(folder, file), picture);
    console.log(`${file}: ${Math.round(picture.length / 1000)} kB`);
}

// What is on one of the lists only, one line each.
function differences(before, now) {
    return [
        ...before.filter((words) => !now.includes(words)).map((words) => `  no longer: ${words}`),
        ...now.filter((words) => !before.includes(words)).map((words) => `  new: ${words}`),
    ];
}

// What a page says once it says what the picture does, or at last.
async function waitForWords(page, wanted) {
    const until = Date.now() + WORDS_PATIENCE_MS;
    let words = await readWords(page);
    while (differences(wanted, words).length > 0 && Date.now() < until) {
        await page.waitForTimeout(REST_MS);
        words = await readWords(page);
    }
    return words;
}

function compare(words) {
    const faults = PAGES.flatMap(({ name }) => {
        const lines = differences(pictured[name] ?? [], words[name]);
        return lines.length > 0 ? [`${name}.png shows another page:`, ...lines] : [];
    });
    for (const { name } of PAGES) {
        for (const file of [`${name}.png`, `${name}-dark.png`]) {
            const { length } = readFileSync(path.join(folder, file));
            assert.ok(length <= PICTURE_BYTES, `${file} has ${length} bytes`);
        }
    }
    if (faults.length > 0) {
        console.error(`${faults.join('\n')}\nThe pictures are out of date: run scripts/pictures`);
        process.exitCode = 1;
    }
}

async function run(browser, demo) {
    const context = await browser.newContext({
        locale: 'en-GB', timezoneId: 'Europe/Zurich', colorScheme: 'light', reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    await signIn(page, demo.signInUrl);
    const words = {};
    for (const wanted of PAGES) {
        await open(page, demo.address, wanted);
        if (task === 'check') {
            words[wanted.name] = await waitForWords(page, pictured[wanted.name] ?? []);
        } else {
            await settle(page);
            words[wanted.name] = await readWords(page);
        }
        assert.ok(words[wanted.name].length > 0, `${wanted.name} has no words`);
        if (task === 'take') {
            await takePicture(page, wanted.name, false);
            await takePicture(page, wanted.name, true);
            await page.emulateMedia({ colorScheme: 'light' });
        }
    }
    return words;
}

const demo = await startDemo();
try {
    createAgent(demo);
    // Chromium's sandbox cannot be set up by root.
    const args = process.getuid() === 0 ? ['--no-sandbox'] : [];
    const browser = await chromium.launch({ executablePath, args });
    try {
        const words = await run(browser, demo);
        if (task === 'take') {
            writeFileSync(wordsFile, `${JSON.stringify(words, null, 2)}\n`);
        } else {
            compare(words);
        }
    } finally {
        await browser.close();
    }
} finally {
    await stopDemo(demo);
}
process.exit();
