import { readFileSync } from 'node:fs';
import {
  buildSchema,
  findBreakingChanges,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
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

  it('describes itself and every type, field, argument, enum value and input field', () => {
    expect(descriptions.filter(({ text }) => !text).map(({ of }) => of)).toEqual([]);
  });

  it('cites nothing in a description that a client cannot open', () => {
    const citing = /§|\bcontract\b|key-scoped|docs\/|\.md\b|\b[PC]\d(\.\d+)?\b/i;
    expect(descriptions.filter(({ text }) => citing.test(text))).toEqual([]);
  });

  it('says in each description by itself what it describes', () => {
    const riddle = /^(What|Who|Whose|Those|Whether|When|Which|Where|Why|How|Of|It|Its|That)\b/;
    const vague = /\b(told|tells?|heard|news|allowance|elsewhere|held)\b/i;
    const plain = /^[A-Z`].*\.$/s;
    const wrong = (text: string) => riddle.test(text) || vague.test(text) || !plain.test(text);
    expect(descriptions.filter(({ text }) => wrong(text))).toEqual([]);
  });

  it('gives the range of every coordinate and of every percentage', () => {
    const ranges: [RegExp, RegExp][] = [
      [/latitude$/i, /-90 to 90\b/],
      [/longitude$/i, /-180 to 180\b/],
      [/(Pct|\.PERCENT)$/, /0 to 100\b/],
    ];
    const lacking = descriptions.filter(({ of, text }) =>
      ranges.some(([name, range]) => name.test(of) && !range.test(text)),
    );
    expect(lacking).toEqual([]);
  });

  it('names the specification of each scalar that has one', () => {
    const custom = Object.values(schema.getTypeMap())
      .filter(isScalarType)
      .filter((type) => !isSpecifiedScalarType(type));
    expect(Object.fromEntries(custom.map((type) => [type.name, type.specifiedByURL ?? null]))).toEqual({
      DateTime: 'https://www.rfc-editor.org/rfc/rfc3339',
      JSON: 'https://www.rfc-editor.org/rfc/rfc8259',
      Samples: null,
    });
    const printed = buildSchema(printedSchema());
    expect(printed.description).toBe(schema.description);
    expect(printed.getType('DateTime')).toHaveProperty(
      'specifiedByURL',
      'https://www.rfc-editor.org/rfc/rfc3339',
    );
  });
});

interface Description {
  readonly of: string;
  readonly text: string;
}

const descriptions: readonly Description[] = [
  { of: 'schema', text: schema.description ?? '' },
  ...Object.values(schema.getTypeMap())
    .filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type))
    .flatMap(descriptionsOf),
];

function descriptionsOf(type: GraphQLNamedType): Description[] {
  const described: Description[] = [{ of: type.name, text: type.description ?? '' }];
  const members = isEnumType(type)
    ? type.getValues()
    : isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
      ? Object.values(type.getFields())
      : [];
  for (const member of members) {
    const of = `${type.name}.${member.name}`;
    described.push({ of, text: member.description ?? '' });
    if (!('args' in member)) continue;
    for (const arg of member.args) {
      described.push({ of: `${of}(${arg.name})`, text: arg.description ?? '' });
    }
  }
  return described;
}
