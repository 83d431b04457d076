import { readFileSync } from 'node:fs';

const overview = readFileSync(new URL('../../schema/operations/overview.graphql', import.meta.url), 'utf8');

/** The compared operations; `bench/peers/schema.ts` has what they select. */
export const operations: Readonly<Record<string, string>> = {
  '100 sensors': `{ sensors(first: 100) { nodes {
    deviceId stationCode networkCode model firmwareVersion status
  } } }`,
  '100 triggers with their sensors': `{ triggers(first: 100) { nodes {
    triggerId startTime status pgaHorizontal sensor { stationCode firmwareVersion }
  } } }`,
  'one sensor': `{ sensor(by: { stationCode: "S0042" }) {
    deviceId stationCode networkCode model firmwareVersion status
  } }`,
  '{ __typename }': '{ __typename }',
  overview,
};

export const bodyOf = (query: string): string => JSON.stringify({ query });
