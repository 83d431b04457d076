import { type FieldNode, Kind, parse, type SelectionSetNode } from 'graphql';
import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.js';

const fields = ({ selections }: SelectionSetNode) =>
  selections.filter((node): node is FieldNode => node.kind === Kind.FIELD);

/** Every object of an answer with its fields in the order of the selection. */
function expectOrder(value: unknown, selectionSet: SelectionSetNode | undefined): void {
  if (!selectionSet || value === null || value === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) expectOrder(item, selectionSet);
    return;
  }
  const object = value as Record<string, unknown>;
  expect(Object.keys(object)).toEqual(fields(selectionSet).map(({ alias, name }) => (alias ?? name).value));
  for (const { alias, name, selectionSet: inner } of fields(selectionSet)) {
    expectOrder(object[(alias ?? name).value], inner);
  }
}

it('an answer has its fields in the order of the query, whichever of them had to be waited for', async () => {
  await using gw = await startGateway();
  const query = `{
    networks { name code }
    sensors(first: 20) { nodes { firmwareVersion stationCode place: location { name } latestHealthReport { timestamp } status } totalCount }
    triggers(first: 5) { nodes { event { magnitude place } sensor { stationCode network { code name } } startTime } }
    gateway { version }
    project { name }
    events(first: 5) { nodes { place recordings { distanceKm } quality { azimuthalGapDeg } magnitude } }
  }`;
  const [operation] = parse(query).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('No operation');
  for (const _ of ['cold', 'warm']) {
    const { data } = await gw.queryWithErrors(query);
    expectOrder(data, operation.selectionSet);
  }
});
