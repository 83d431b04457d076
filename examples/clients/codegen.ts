import type { CodegenConfig } from '@graphql-codegen/cli';

/** All scalars of the graph. A waveform's samples have null in the place of a gap. */
const scalars = { DateTime: 'string', JSON: 'unknown', Samples: 'ReadonlyArray<number | null>' };
const strict = { scalars, strictScalars: true, useTypeImports: true, enumsAsTypes: true };

const config: CodegenConfig = {
  schema: '../../schema/schema.graphql',
  generates: {
    'apollo/generated/operations.ts': {
      documents: 'apollo/*.ts',
      plugins: ['typescript-operations'],
      config: strict,
    },
    'apollo/generated/possible-types.ts': {
      plugins: ['fragment-matcher'],
      config: { useExplicitTyping: true },
    },
    'urql/generated/operations.ts': {
      documents: 'urql/*.ts',
      plugins: ['typescript-operations'],
      config: strict,
    },
    'urql/generated/graphcache.json': { plugins: ['./urql/graphcache-plugin.cjs'] },
    'codegen/generated/': {
      documents: 'codegen/*.ts',
      preset: 'client',
      presetConfig: {
        fragmentMasking: { unmaskFunctionName: 'readFragment' },
        persistedDocuments: { hashAlgorithm: 'sha256' },
      },
      config: { ...strict, documentMode: 'string' },
    },
  },
};

export default config;
