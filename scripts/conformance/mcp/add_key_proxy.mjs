// A proxy that adds an API key to every request, for clients that cannot send one:
// add_key_proxy.mjs SERVER KEY. Prints its own address. Replaces its own address in Host and Origin
// with the server's.

import http from 'node:http';

const [server, key] = process.argv.slice(2);
const target = new URL(server);

const proxy = http.createServer((request, response) => {
    const own = `127.0.0.1:${proxy.address().port}`;
    const headers = { ...request.headers, authorization: `Bearer ${key}` };
    if (headers.host === own) {
        headers.host = target.host;
    }
    if (headers.origin === `http://${own}`) {
        headers.origin = target.origin;
    }
    const { hostname, port } = target;
    const onward = http.request(
        { hostname, port, path: request.url, method: request.method, headers },
        (answer) => {
            response.writeHead(answer.statusCode, answer.headers);
            answer.pipe(response);
        },
    );
    onward.on('error', () => response.destroy());
    request.pipe(onward);
});
proxy.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${proxy.address().port}`));
