// Signs in and out at a real OpenID provider (the package `oidc-provider`) with a real browser that clicks.
//
//     openid.mjs BINARY FOLDER CHROMIUM
//
// Each round is another provider with other habits: the algorithm of its identity tokens, whether the address stands
// in the token or in the userinfo, a client with a secret or without. The last one runs without scripts. All of them
// name their issuer in the answer (RFC 9207).

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import readline from 'node:readline';
import Provider from 'oidc-provider';
import { chromium } from 'playwright-core';
import { promisify } from 'node:util';

// The provider answers in this process while a command runs.
const run = promisify(execFile);

const PATIENCE_MS = 60_000;
const SECRET = 'a secret & more';
const [binary, folder, executablePath] = process.argv.slice(2);

const ROUNDS = [
    { algorithm: 'RS256', secret: SECRET, inToken: false, scripts: true },
    { algorithm: 'ES256', secret: SECRET, inToken: true, scripts: true },
    { algorithm: 'EdDSA', secret: null, inToken: true, scripts: false },
];

function keys() {
    const made = [
        ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
        ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
        ['EdDSA', generateKeyPairSync('ed25519')],
    ];
    return made.map(([alg, { privateKey }]) => ({
        ...privateKey.export({ format: 'jwk' }), alg, kid: `key-${alg}`, use: 'sig',
    }));
}

function freePort() {
    return new Promise((resolve) => {
        const server = http.createServer();
        server.listen(0, '127.0.0.1', () => {
            const { port } = server.address();
            server.close(() => resolve(port));
        });
    });
}

async function startProvider(round, redirectUri) {
    const issuer = `http://localhost:${await freePort()}`;
    const provider = new Provider(issuer, {
        clients: [{
            client_id: 'mailroom',
            redirect_uris: [redirectUri],
            post_logout_redirect_uris: [redirectUri],
            id_token_signed_response_alg: round.algorithm,
            ...(round.secret
                ? { client_secret: round.secret }
                : { token_endpoint_auth_method: 'none' }),
        }],
        enabledJWA: { idTokenSigningAlgValues: ['RS256', 'ES256', 'EdDSA'] },
        jwks: { keys: keys() },
        cookies: { keys: ['only for this judge'] },
        pkce: { required: () => true },
        claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
        conformIdTokenClaims: !round.inToken,
        // Whoever signs in is who they say, with the address as their name.
        findAccount: (_, id) => ({
            accountId: id,
            claims: () => ({ sub: id, email: id, email_verified: true, name: 'Judge' }),
        }),
    });
    const server = http.createServer(provider.callback());
    await new Promise((resolve) => server.listen(Number(new URL(issuer).port), 'localhost', resolve));
    return { issuer, server };
}

async function startMailroom(round, issuer, port) {
    const data = path.join(folder, round.algorithm);
    mkdirSync(data, { recursive: true });
    const env = {
        ...process.env,
        MAILROOM_DATA: data,
        MAILROOM_PUBLIC_URL: `http://localhost:${port}`,
        MAILROOM_OIDC_ISSUER: issuer,
        MAILROOM_OIDC_CLIENT_ID: 'mailroom',
        MAILROOM_OIDC_NAME: 'Judge Login',
        MAILROOM_OIDC_TRUST_EMAIL: 'true',
    };
    if (round.secret) {
        env.MAILROOM_OIDC_CLIENT_SECRET_FILE = path.join(folder, 'secret');
        writeFileSync(env.MAILROOM_OIDC_CLIENT_SECRET_FILE, round.secret);
    }
    const args = ['demo', '--listen', `127.0.0.1:${port}`, '--smtp-listen', 'off', '--lmtp-listen', 'off', '--json'];
    const demo = spawn(binary, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = readline.createInterface({ input: demo.stdout });
    await new Promise((resolve, reject) => {
        lines.once('line', resolve);
        demo.once('exit', () => reject(new Error('the demo ended')));
    });
    const listed = await run(binary, ['user', 'list', '--json'], { env });
    const { people } = JSON.parse(listed.stdout);
    return { demo, env, owner: people.find((person) => person.role === 'owner').email };
}

// Reads the provider's documents as `mailroom self-check` does. Other parts of a demo may well be at fault.
async function checkSetUp(env) {
    let printed;
    try {
        printed = (await run(binary, ['self-check', '--json'], { env })).stdout;
    } catch (error) {
        printed = error.stdout;
    }
    const part = JSON.parse(printed).parts.find((it) => it.part === 'sign-in provider');
    assert.equal(part?.state, 'ok', JSON.stringify(part));
}

async function signIn(page, app, login) {
    await page.goto(`${app}/sign-in?next=/settings/sign-in`);
    await page.click('form[action="/sign-in/provider"] button');
    await page.waitForURL((url) => url.pathname.startsWith('/interaction/'));
    await page.fill('input[name=login]', login);
    await page.fill('input[name=password]', 'any');
    await page.click('button[type=submit]');
    const allow = page.getByRole('button', { name: 'Continue' });
    await Promise.race([
        allow.waitFor(),
        page.waitForURL((url) => url.origin === app && url.pathname !== '/sign-in/provider'),
    ]);
    if (new URL(page.url()).origin !== app) {
        await allow.click();
        await page.waitForURL((url) => url.origin === app);
    }
    return page;
}

// Signs out here and at the provider, which then asks again who it is.
async function signOut(page, app) {
    await page.goto(`${app}/settings/you`);
    await page.click('form[action="/sign-out"] .btn');
    await page.getByRole('link', { name: 'Sign out at Judge Login' }).click();
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.waitForURL(`${app}/sign-in`);
    await page.click('form[action="/sign-in/provider"] button');
    await page.locator('input[name=login]').waitFor();
}

async function judge(round, browser) {
    const port = await freePort();
    const app = `http://localhost:${port}`;
    const { issuer, server } = await startProvider(round, `${app}/sign-in/provider/callback`);
    const { demo, env, owner } = await startMailroom(round, issuer, port);
    try {
        await checkSetUp(env);
        for (const login of ['stranger@elsewhere.example', owner, owner]) {
            const context = await browser.newContext({ javaScriptEnabled: round.scripts });
            context.setDefaultTimeout(PATIENCE_MS);
            const page = await signIn(await context.newPage(), app, login);
            const text = await page.innerText('main');
            if (login === owner) {
                assert.equal(new URL(page.url()).pathname, '/settings/sign-in', text);
                assert.match(text, /signs you in since/);
                await signOut(page, app);
            } else {
                assert.match(text, /Nobody on a team here has the address stranger@elsewhere\.example/);
            }
            await context.close();
        }
    } finally {
        demo.kill();
        server.close();
        server.closeAllConnections();
    }
}

// Chromium's sandbox cannot be set up by root.
const args = process.getuid() === 0 ? ['--no-sandbox'] : [];
const browser = await chromium.launch({ executablePath, args });
try {
    for (const round of ROUNDS) {
        await judge(round, browser);
    }
} finally {
    await browser.close();
}
process.exit(0);
