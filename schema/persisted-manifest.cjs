// A plugin of codegen: the operations that PERSISTED_OPERATIONS knows, by the SHA-256 of their files.
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');

module.exports.plugin = (_schema, documents) => {
  const entries = documents.map(({ location }) => {
    const text = readFileSync(location, 'utf8');
    return [createHash('sha256').update(text).digest('hex'), text];
  });
  return `${JSON.stringify(Object.fromEntries(entries.sort(([, a], [, b]) => (a < b ? -1 : 1))), null, 2)}\n`;
};
