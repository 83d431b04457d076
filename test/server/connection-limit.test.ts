import { expect, it, vi } from 'vitest';
import { startGateway } from '../support/gateway.js';
import { openSocket, type RawSocket } from '../support/raw-socket.js';

const subscribe = (id: string) => ({
  id,
  type: 'subscribe',
  payload: { query: 'subscription { triggerChanges { cursor } }' },
});

it('a client has so many sockets at a time: one more is closed with 1013, until another has left', async () => {
  await using gw = await startGateway({
    socketsPerClient: 2,
    env: { AUTH_MODE: 'token', GATEWAY_TOKENS: 'token-of-client-one,token-of-client-two' },
  });
  const enter = (token: string) => openSocket(gw, { init: { authorization: `Bearer ${token}` } });
  await using first = await enter('token-of-client-one');
  await using _second = await enter('token-of-client-one');
  await using third = await openSocket(gw);
  third.send({ type: 'connection_init', payload: { authorization: 'Bearer token-of-client-one' } });
  expect(await third.closed).toEqual({ code: 1013, reason: 'Too many sockets of one client' });
  await using _other = await enter('token-of-client-two');
  first.socket.close();
  await first.closed;
  const again = await vi.waitFor(() => enter('token-of-client-one'));
  again.socket.terminate();
});

it('a socket has 100 subscriptions at a time: one more gets an error, until another has ended', async () => {
  await using gw = await startGateway();
  await using socket = await openSocket(gw, { init: {} });
  for (let n = 0; n < 100; n++) socket.send(subscribe(`${n}`));
  expect(await refusalOf(socket, 'one more')).toMatchObject({
    message: 'A socket may have 100 operations at a time',
    extensions: { code: 'QUERY_TOO_COMPLEX' },
  });
  socket.send({ id: '7', type: 'complete' });
  // What is refused now is refused for another reason: the place is free.
  await vi.waitFor(async () => {
    socket.send({ id: 'wrong', type: 'subscribe', payload: { query: '{ nothing }' } });
    const { payload } = await socket.next();
    expect(payload[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  });
  socket.send(subscribe('in its place'));
  expect(await refusalOf(socket, 'one more')).toMatchObject({ extensions: { code: 'QUERY_TOO_COMPLEX' } });
  await using elsewhere = await openSocket(gw, { init: {} });
  elsewhere.send(subscribe('1'));
  elsewhere.send({ type: 'ping' });
  expect(await elsewhere.next()).toEqual({ type: 'pong' });
});

async function refusalOf(socket: RawSocket, id: string) {
  socket.send(subscribe(id));
  const message = await socket.next();
  expect(message).toMatchObject({ id, type: 'error' });
  return message.payload[0];
}
