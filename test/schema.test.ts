import { readFileSync } from 'node:fs';
import {
  buildSchema,
  findBreakingChanges,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { printedSchema } from '../src/graph/print-schema.js';
import { schema } from '../src/graph/schema.js';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

describe('the graph', () => {
  it('is printed in schema/schema.graphql', () => {
    expect(read('../schema/schema.graphql')).toBe(printedSchema());
  });

  it('keeps everything that the published contract promises', () => {
    const contract = buildSchema(read('contract.graphql'));
    expect(findBreakingChanges(contract, schema)).toEqual([]);
  });

  it('describes every type, field, argument and enum value', () => {
    expect(Object.values(schema.getTypeMap()).flatMap(undescribed)).toEqual([]);
  });
});

function undescribed(type: GraphQLNamedType): string[] {
  if (type.name.startsWith('__')) return [];
  const missing = type.description ? [] : [type.name];
  const members = isEnumType(type)
    ? type.getValues()
    : isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
      ? Object.values(type.getFields())
      : [];
  for (const member of members) {
    if (!member.description) missing.push(`${type.name}.${member.name}`);
    if (!('args' in member)) continue;
    for (const arg of member.args) {
      if (!arg.description) missing.push(`${type.name}.${member.name}(${arg.name})`);
    }
  }
  return missing;
}
