import { describe, expect, it } from 'vitest';
import { realClock } from '../../src/clock.js';
import type { ExecutionPart } from '../../src/graph/incremental/results.js';
import { createLog } from '../../src/log.js';
import type { Client } from '../../src/server/auth/auth.js';
import { answerInParts } from '../../src/server/execution/answer-in-parts.js';
import type { GraphQLEngine, OperationArgs } from '../../src/server/execution/engine.js';
import { Operation } from '../../src/server/execution/operation.js';

/** Answers with the parts of an execution that `next` gives one by one, and tells whether it was ended. */
async function answered(next: () => Promise<ExecutionPart>) {
  const logged: string[] = [];
  const log = createLog({ level: 'info', secrets: [], write: (line) => void logged.push(line) });
  const operation = new Operation({
    client: {} as Client,
    startedAtMs: realClock.now(),
    wantsCost: false,
  });
  let isEnded = false;
  const parts: AsyncIterableIterator<ExecutionPart> = {
    next: async () => ({ done: false, value: await next() }),
    async return() {
      isEnded = true;
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => parts,
  };
  const answer = await answerInParts(
    { log } as GraphQLEngine,
    { contextValue: { operation } } as OperationArgs,
    parts,
  );
  return { answer, operation, logged, isEnded: () => isEnded };
}

const first = { data: { a: 1 }, hasNext: true };

describe('an execution in parts', () => {
  it('is ended for a consumer that leaves after the first of them', async () => {
    const { answer, isEnded } = await answered(async () => first);
    await answer.rest.return(null);
    expect(isEnded()).toBe(true);
  });

  it('that fails between them ends with a masked error in the last of them', async () => {
    let count = 0;
    const { answer, operation, logged } = await answered(async () => {
      if (count++ === 0) return first;
      throw new TypeError('secret detail of the inside');
    });
    const rest: unknown[] = [];
    for await (const { json } of answer.rest) rest.push(JSON.parse([...json].join('')));
    expect(rest).toEqual([
      {
        errors: [
          {
            message: 'Unexpected fault: the log has it under this id',
            extensions: { code: 'INTERNAL_SERVER_ERROR', id: expect.any(String) },
          },
        ],
        hasNext: false,
      },
    ]);
    expect([...operation.errorCodes]).toEqual(['INTERNAL_SERVER_ERROR']);
    expect(logged.join('')).toContain('secret detail of the inside');
  });
});
