// A client of the Runtime API, in place of aws-lambda-ric, which has to be compiled. It
// reads the answers itself: node:http takes as long as a whole small batch.
import { connect } from 'node:net';

const [host, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const socket = connect({ host, port, noDelay: true });
const arriving = socket[Symbol.asyncIterator]();
let rest = Buffer.alloc(0);

// until returns the index after the mark in what has arrived.
const until = async (mark) => {
  for (;;) {
    const at = rest.indexOf(mark);
    if (at >= 0) return at + mark.length;
    await more(rest.length + 1);
  }
};
const more = async (length) => {
  const parts = [rest];
  for (let have = rest.length; have < length; ) {
    const { value, done } = await arriving.next();
    if (done) process.exit(0);
    parts.push(value);
    have += value.length;
  }
  rest = Buffer.concat(parts);
};
const take = async (length) => {
  if (rest.length < length) await more(length);
  const taken = rest.subarray(0, length);
  rest = rest.subarray(length);
  return taken;
};
const line = async () => (await take(await until('\r\n'))).toString('latin1').trimEnd();

const call = async (method, path, body = '') => {
  socket.write(
    `${method} /2018-06-01/runtime/invocation/${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
  const headers = {};
  const status = await line();
  if (!/^HTTP\/1.1 2/.test(status)) throw new Error(status);
  for (let header = await line(); header; header = await line()) {
    const colon = header.indexOf(':');
    headers[header.slice(0, colon).toLowerCase()] = header.slice(colon + 1).trim();
  }
  if ('content-length' in headers) return { headers, body: await take(Number(headers['content-length'])) };
  const parts = [];
  for (;;) {
    const length = parseInt(await line(), 16);
    parts.push(await take(length));
    await line();
    if (length === 0) return { headers, body: Buffer.concat(parts) };
  }
};

const { handler } = await import(process.argv[2]);
for (;;) {
  const { headers, body } = await call('GET', 'next');
  const id = headers['lambda-runtime-aws-request-id'];
  const left = () => Number(headers['lambda-runtime-deadline-ms']) - Date.now();
  const context = { awsRequestId: id, getRemainingTimeInMillis: left };
  await call('POST', `${id}/response`, JSON.stringify(await handler(JSON.parse(body), context)));
}
