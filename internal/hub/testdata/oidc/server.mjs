// An OAuth 2.0 server that keeps to the letter of RFC 6749, with the interface of
// the lookup of contacts behind it. Reads its settings as the first line of standard
// input: {"life": seconds, "clients": [{"id", "secret", "scope"}]}. Prints one line
// of JSON when it listens; ends when standard input does.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import Provider from 'oidc-provider';

const input = createInterface({ input: process.stdin });
input.on('close', () => process.exit(0));
const [line] = await once(input, 'line');
const { life, clients } = JSON.parse(line);

const server = createServer();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const base = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(base, {
  clients: clients.map(({ id, secret, scope }) => ({
    client_id: id,
    client_secret: secret,
    scope,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  })),
  features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
  routes: { token: '/identity/token' },
  scopes: ['Basic', 'P0boxadministrator', 'orgCode:1234', 'orgCode:9999'],
  ttl: { ClientCredentials: life },
});

const oauth = provider.callback();
let tokens = 0;

async function contacts(req, res) {
  const answer = (status, body) => {
    res.writeHead(status, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify(body));
  };
  const bearer = /^Bearer (\S+)$/.exec(req.headers.authorization ?? '');
  const token = bearer && await provider.ClientCredentials.find(bearer[1]);
  if (!token || token.isExpired) return answer(401, { error: 'invalid_token' });
  const has = new Set((token.scope ?? '').split(' '));
  if (!['Basic', 'P0boxadministrator', 'orgCode:1234'].every((s) => has.has(s))) {
    return answer(403, { error: 'insufficient_scope' });
  }
  return answer(200, { data: { items: [{ id: 'c1', achternaam: 'Vries' }] } });
}

server.on('request', (req, res) => {
  if (req.url === '/tokens') return res.end(String(tokens));
  if (req.url.startsWith('/contact/contacts/telephony?')) return contacts(req, res);
  if (req.url === '/identity/token') tokens += 1;
  return oauth(req, res);
});
console.log(JSON.stringify({ base }));
