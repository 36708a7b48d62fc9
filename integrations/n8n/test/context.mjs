// What n8n gives a node, as far as these nodes use it: parameters, credentials, requests by HTTP.
export const NODE = { id: 'a3', name: 'Mailroom', type: 'n8n-nodes-mailroom.mailroom', typeVersion: 1, parameters: {} };

export function makeContext({ address, key = 'rk_test_1', items = [{}], fails = false, runIndex = 0, ...more }) {
  return {
    getNode: () => NODE,
    getInputData: () => items.map((json) => ({ json })),
    getNodeParameter: (name, index, fallback) => {
      const parameters = typeof index === 'number' ? items[index] : items[0];
      const value = parameters[name] ?? (typeof index === 'number' ? fallback : index);
      if (value === undefined) throw new Error(`Could not get parameter ${name}`);
      return value;
    },
    getCredentials: async () => ({ baseUrl: address, apiKey: key }),
    getExecutionId: () => '7',
    getWorkflowDataProxy: () => ({ $runIndex: runIndex }),
    continueOnFail: () => fails,
    helpers: {
      httpRequestWithAuthentication: (_, options) => call(key, options),
      returnJsonArray: (list) => list.map((json) => ({ json })),
      prepareBinaryData: async (data, fileName, mimeType) => ({ data: data.toString('base64'), fileName, mimeType }),
    },
    ...more,
  };
}

async function call(key, { method, url, qs = {}, body, headers, encoding }) {
  const target = new URL(url);
  for (const [name, value] of Object.entries(qs)) target.searchParams.set(name, String(value));
  const response = await fetch(target, {
    method,
    headers: { ...headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: encoding === 'arraybuffer' ? Buffer.from(await response.arrayBuffer()) : await response.json(),
  };
}
