import { vi } from 'vitest';
import { anEvent, aTrigger } from '../../src/sandbox/builders.js';
import type { ProjectTrigger } from '../../src/sandbox/project/records.js';
import type { Sandbox } from '../../src/sandbox/server.js';

/** Settings under which nobody waits long for a poll. */
export const quick = {
  TRIGGER_POLL_INTERVAL_MS: '250',
  EVENT_POLL_INTERVAL_MS: '250',
  SENSOR_POLL_INTERVAL_MS: '250',
  PROJECT_RATE_PER_MINUTE: '60000',
  PROJECT_RATE_BURST: '1000',
};

/** A trigger that has just started, and is closed unless the test says otherwise. */
export function addTrigger(sandbox: Sandbox, fields: Partial<ProjectTrigger> = {}): ProjectTrigger {
  const trigger = aTrigger({ start_time: new Date().toISOString(), ...fields });
  sandbox.world.project.triggers.push(trigger);
  return trigger;
}

/** The feed has seen what was there before. */
export async function polling(sandbox: Sandbox, path = '/v1/triggers'): Promise<void> {
  const before = sandbox.seen('project', path).length;
  await vi.waitFor(() => {
    if (sandbox.seen('project', path).length < before + 2) throw new Error('Nobody polls yet');
  }, 20_000);
}

/** Long before: by clocks that can be some milliseconds apart, what is of the same moment may be earlier or later. */
export const earlierMs = 5_000;

/** An event of the project that was issued so long ago. */
export function issueEvent(
  { world }: Pick<Sandbox, 'world'>,
  id: string,
  { magnitude = 3, agoMs = 0 } = {},
): void {
  const issuedMs = Date.now() - agoMs;
  const s = issuedMs / 1000;
  const origin = {
    id: `o-${id}`,
    latitude: 34,
    longitude: -118,
    depth: 8,
    origin_time: s - 20,
    issued_at: s,
  };
  world.project.events.push(anEvent({ id, issued_at: new Date(issuedMs).toISOString(), magnitude, origin }));
}
