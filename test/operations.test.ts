import { readdirSync, readFileSync } from 'node:fs';
import { getOperationAST, parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { OverviewDocument, type OverviewQuery } from '../src/client/operations.js';
import { livingWorld } from '../src/sandbox/simulation/living-world.js';
import { startGateway } from './support/gateway.js';

const folder = new URL('../schema/operations/', import.meta.url);
const operations = readdirSync(folder)
  .filter((file) => file.endsWith('.graphql'))
  .map((file) => ({ file, text: readFileSync(new URL(file, folder), 'utf8') }));
const queries = operations.filter(({ text }) => getOperationAST(parse(text))?.operation === 'query');

describe('the ready operations', () => {
  it('are at least eight', () => {
    expect(operations.length).toBeGreaterThanOrEqual(8);
  });

  it.each(queries)('$file is answered on the sandbox without errors, within the budget', async ({ text }) => {
    const sandbox = { world: livingWorld({ seed: 1, startMs: Date.now() }) };
    await using gateway = await startGateway({ sandbox });
    const data = await gateway.query(text);
    expect(emptyParts(data)).toEqual([]);
    expect(gateway.sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
  });

  it('have types that a client in TypeScript can build on', async () => {
    await using gateway = await startGateway({
      sandbox: { world: livingWorld({ seed: 1, startMs: Date.now() }) },
    });
    const { sensors, networks }: OverviewQuery = await gateway.query(print(OverviewDocument));
    const positions = (sensors?.nodes ?? []).map(({ location }) => location?.latitude ?? null);
    expect(positions.length).toBeGreaterThan(0);
    expect(positions.every((latitude) => latitude === null || Math.abs(latitude) <= 90)).toBe(true);
    expect(networks?.map(({ sensorCount }) => typeof sensorCount)).toContain('number');
  });
});

/** Root fields that show nothing: a tab that answers with an empty page teaches nobody. */
function emptyParts(data: Record<string, { nodes?: unknown[] } | unknown[] | null>): string[] {
  return Object.entries(data)
    .filter(([, part]) => !part || (Array.isArray(part) ? part : (part.nodes ?? [1])).length === 0)
    .map(([name]) => name);
}
