// The whole flow of OAuth as JavaScript clients have it: node_clients.mjs CLIENT SERVER BROWSER [DOCUMENT]
// CLIENT is sdk, client (the official TypeScript clients) or oauth4webapi. With DOCUMENT, the address of
// a document about the client, it does not register. BROWSER is browser.mjs.

import assert from 'node:assert/strict';

const [which, server, browser, documentAddress] = process.argv.slice(2);
const mcp = `${server}/mcp`;
const redirect = `${browser}/callback`;
const PARALLEL_REFRESHES = 5;

async function visit(url) {
    const answer = await fetch(`${browser}/visit?url=${encodeURIComponent(url)}`);
    const end = await answer.text();
    assert.ok(answer.ok, end);
    return new URL(end);
}

// What a client keeps.
class Provider {
    redirectUrl = redirect;
    clientMetadataUrl = documentAddress;
    clientMetadata = {
        client_name: `Judge ${which}`,
        redirect_uris: [redirect],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
    };
    kept = {};
    clientInformation() { return this.kept.client; }
    saveClientInformation(client) { this.kept.client = client; }
    tokens() { return this.kept.tokens; }
    saveTokens(tokens) { this.kept.tokens = tokens; }
    codeVerifier() { return this.kept.verifier; }
    saveCodeVerifier(verifier) { this.kept.verifier = verifier; }
    async redirectToAuthorization(url) { this.ended = await visit(url); }
    // Newer clients keep tokens and registrations by the server that gave them.
    discoveryState() { return this.kept.discovery; }
    saveDiscoveryState(state) { this.kept.discovery = state; }
}

async function official() {
    const name = which === 'sdk' ? '@modelcontextprotocol/sdk/client/index.js' : '@modelcontextprotocol/client';
    const at = which === 'sdk' ? '@modelcontextprotocol/sdk/client/streamableHttp.js' : name;
    const { Client } = await import(name);
    const { StreamableHTTPClientTransport } = await import(at);
    const authProvider = new Provider();
    const dial = () => new StreamableHTTPClientTransport(new URL(mcp), { authProvider });
    const who = { name: 'judge', version: '1' };

    let transport = dial();
    await assert.rejects(new Client(who).connect(transport));
    const { searchParams } = authProvider.ended;
    await transport.finishAuth(which === 'sdk' ? searchParams.get('code') : searchParams);
    const tokens = authProvider.kept.tokens;
    assert.match(tokens.access_token, /^ro_/);
    const id = authProvider.kept.client?.client_id;
    assert.ok(documentAddress ? id === documentAddress : id.startsWith('ocl_'), id);

    const work = async () => {
        const client = new Client(who);
        await client.connect(dial());
        const { tools } = await client.listTools();
        assert.ok(tools.some((tool) => tool.name === 'reply'));
        assert.ok(!tools.some((tool) => tool.name === 'record_sent'), 'nobody ticked it');
        const me = await client.callTool({ name: 'whoami', arguments: {} });
        assert.ok(!me.isError, JSON.stringify(me));
        await client.close();
    };
    await work();

    // An access token that has ended is replaced with the refresh token, without a word.
    authProvider.saveTokens({ ...tokens, access_token: `ro_${'0'.repeat(48)}` });
    await work();
    assert.notEqual(authProvider.kept.tokens.refresh_token, tokens.refresh_token);
}

async function strict() {
    const oauth = await import('oauth4webapi');
    const insecure = { [oauth.allowInsecureRequests]: true };
    const resource = new URL(mcp);
    const found = await oauth.resourceDiscoveryRequest(resource, insecure);
    const protectedResource = await oauth.processResourceDiscoveryResponse(resource, found);
    const issuer = new URL(protectedResource.authorization_servers[0]);
    const described = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    const as = await oauth.processDiscoveryResponse(issuer, described);
    assert.equal(as.issuer, protectedResource.authorization_servers[0]);

    let client = { client_id: documentAddress };
    if (!documentAddress) {
        const metadata = { client_name: 'Judge', redirect_uris: [redirect], token_endpoint_auth_method: 'none' };
        const registered = await oauth.dynamicClientRegistrationRequest(as, metadata, insecure);
        client = await oauth.processDynamicClientRegistrationResponse(registered);
    }
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const ask = new URL(as.authorization_endpoint);
    for (const [name, value] of Object.entries({
        client_id: client.client_id,
        redirect_uri: redirect,
        response_type: 'code',
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        scope: 'read write draft offline_access',
        resource: protectedResource.resource,
        state,
    })) {
        ask.searchParams.set(name, value);
    }
    // Checks state and iss.
    const told = oauth.validateAuthResponse(as, client, await visit(ask), state);
    const none = oauth.None();
    const exchange = () => oauth.authorizationCodeGrantRequest(as, client, none, told, redirect, verifier, insecure);
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, await exchange());
    assert.equal(tokens.token_type, 'bearer');

    const refresh = async (token) => {
        const answer = await oauth.refreshTokenGrantRequest(as, client, none, token, insecure);
        return oauth.processRefreshTokenResponse(as, client, answer);
    };
    const all = await Promise.all(Array.from({ length: PARALLEL_REFRESHES }, () => refresh(tokens.refresh_token)));
    const families = new Set(all.map((one) => one.refresh_token));
    assert.equal(families.size, 1, 'one family lives');
    assert.ok(!families.has(tokens.refresh_token));
    for (const one of all) {
        assert.equal(await status(one.access_token), 200);
    }
    const next = await refresh(all[0].refresh_token);

    const revoked = await oauth.revocationRequest(as, client, none, next.refresh_token, insecure);
    await oauth.processRevocationResponse(revoked);
    assert.equal(await status(next.access_token), 401);
    await assert.rejects(refresh(next.refresh_token), { error: 'invalid_grant' });
    const again = oauth.processAuthorizationCodeResponse(as, client, await exchange());
    await assert.rejects(again, { error: 'invalid_grant' });
    const unknown = { client_id: 'ocl_nobody' };
    const answer = await oauth.refreshTokenGrantRequest(as, unknown, none, next.refresh_token, insecure);
    await assert.rejects(oauth.processRefreshTokenResponse(as, unknown, answer), { error: 'invalid_client' });
}

async function status(token) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
    const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
    };
    return (await fetch(mcp, { method: 'POST', headers, body })).status;
}

await (which === 'oauth4webapi' ? strict() : official());
