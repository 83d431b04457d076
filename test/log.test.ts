import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLog } from '../src/log.js';

it('has only lines of JSON without a secret, whatever the secrets are', () => {
  const secret = fc.oneof(
    fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text.trim() !== ''),
    fc.constantFrom('a', '"', '\\', ':', '":"', 'level', 'msg', 'null', '{', '1', 'warn'),
  );
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (one, before, after) => {
      const lines: string[] = [];
      const log = createLog({ level: 'info', secrets: [one], write: (line) => lines.push(line) });
      log.warn({ text: `${before}${one}${after}`, deep: { list: [one, 1, null] } }, `Said ${one}`);
      const [line = ''] = lines;
      const { level, time, text, deep, msg } = JSON.parse(line);
      // What reads the log goes by these.
      expect([level, Number.isFinite(Date.parse(time))]).toEqual(['warn', true]);
      expect(Object.keys(JSON.parse(line))).toEqual(['level', 'time', 'text', 'deep', 'msg']);
      for (const shown of [text, deep.list[0], msg])
        expect(shown.replaceAll('[secret]', '')).not.toContain(one);
      expect(deep.list.slice(1)).toEqual([1, null]);
    }),
    { numRuns: 300 },
  );
});
