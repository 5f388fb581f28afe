// A client of the Runtime API, in place of aws-lambda-ric, which has to be compiled.
import { Agent, request } from 'node:http';

const [host, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const call = (method, path, body) =>
  new Promise((resolve, reject) => {
    const sent = request({ host, port, method, path: `/2018-06-01/runtime/invocation/${path}`, agent }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () => resolve({ headers: answer.headers, body: Buffer.concat(parts) }));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });

const { handler } = await import(process.argv[2]);
for (;;) {
  const { headers, body } = await call('GET', 'next');
  const id = headers['lambda-runtime-aws-request-id'];
  const left = () => Number(headers['lambda-runtime-deadline-ms']) - Date.now();
  const context = { awsRequestId: id, getRemainingTimeInMillis: left };
  await call('POST', `${id}/response`, JSON.stringify(await handler(JSON.parse(body), context)));
}
