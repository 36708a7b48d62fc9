// Passes everything on to the server with a key, for judges that cannot send one:
// with_key.mjs SERVER KEY. Prints its own address. Where a request names this address as its host
// or origin, the server's stands there instead, as if it were reached by that name.

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
