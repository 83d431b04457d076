import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { GraphError, OverviewDocument, request } from '../../src/client/index.js';
import { livingWorld } from '../../src/sandbox/simulation/living-world.js';
import { startGateway } from '../support/gateway.js';

const thrownBy = (answer: Promise<unknown>) => answer.catch((error: unknown) => error);

describe('a request', () => {
  it('is answered with its types, by a gateway that knows only the ready operations', async () => {
    await using gw = await startGateway({
      sandbox: { world: livingWorld({ seed: 1, startMs: Date.now() }) },
      env: { PERSISTED_OPERATIONS: 'only' },
    });
    const { data, errors } = await request(OverviewDocument, {}, { url: `${gw.url}/graphql` });
    const latitudes: readonly (number | undefined)[] =
      data.sensors?.nodes.map(({ location }) => location?.latitude) ?? [];
    expect(latitudes).toHaveLength(5);
    expect(errors).toEqual([]);
  });

  it('has what could be read, and an error with its code for the rest', async () => {
    await using gw = await startGateway({ project: false });
    const document = parse('{ triggers { totalCount } gateway { version } }');
    const { data, errors } = await request(document, {}, { url: `${gw.url}/graphql` });
    expect(data).toMatchObject({ triggers: null, gateway: { version: expect.any(String) } });
    expect(errors).toMatchObject([{ code: 'NOT_CONFIGURED', path: ['triggers'] }]);
  });

  it('throws the error with its code where nothing could be answered', async () => {
    await using gw = await startGateway({
      env: { AUTH_MODE: 'token', GATEWAY_TOKENS: 'a-token-of-this-test' },
    });
    const url = `${gw.url}/graphql`;
    const version = parse('{ gateway { version } }');
    const refused = await thrownBy(request(version, {}, { url }));
    expect(refused).toBeInstanceOf(GraphError);
    expect(refused).toMatchObject({ code: 'UNAUTHENTICATED', isPassing: false });
    const headers = { authorization: 'Bearer a-token-of-this-test' };
    expect((await request(version, {}, { url, headers })).errors).toEqual([]);
    expect(await thrownBy(request(parse('{ nothing }'), {}, { url, headers }))).toMatchObject({
      code: 'GRAPHQL_VALIDATION_FAILED',
    });
  });

  it('says of what is no gateway that it is none, and of a lost connection that it can be tried again', async () => {
    const gw = await startGateway();
    const version = parse('{ gateway { version } }');
    const metrics = await thrownBy(request(version, {}, { url: `${gw.url}/metrics` }));
    expect(metrics).toBeInstanceOf(GraphError);
    expect(await thrownBy(request(version, {}, { url: 'data:text/plain,hello' }))).toMatchObject({
      code: 'BAD_RESPONSE',
      isPassing: false,
    });
    await gw.close();
    expect(await thrownBy(request(version, {}, { url: `${gw.url}/graphql` }))).toMatchObject({
      code: 'NETWORK_ERROR',
      isPassing: true,
    });
  });

  it('rejects with the reason of its signal', async () => {
    await using gw = await startGateway();
    const leaving = new AbortController();
    const answer = thrownBy(
      request(OverviewDocument, {}, { url: `${gw.url}/graphql`, signal: leaving.signal }),
    );
    leaving.abort('left');
    expect(await answer).toBe('left');
  });
});
