import { minuteMs, plus } from '../../../clock.js';
import { Forbidden, UpstreamUnavailable } from '../../../errors.js';
import { atOrAfter, atOrBefore } from '../../../unify/time/millisecond.js';
import { type Trigger, triggerOf, triggersOf } from '../../../unify/trigger/record.js';
import type { DeviceId } from '../../../upstream/decode/fields.js';
import { isNameless } from '../../../upstream/decode/list.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import type { ProjectClient } from '../../../upstream/project/client.js';
import type { WireTrigger } from '../../../upstream/project/wire.js';
import { pollIntervalMs } from '../../polling/interval.js';
import { type ListReader, listReader } from '../../polling/list-reader.js';
import { isAwaited } from '../../tracking/change-detector.js';
import type { PollState } from '../record-feed.js';
import { type TriggerChangeKind, triggerSubject } from './subject.js';

/** Reads triggers by start time (docs/interfaces.md P4). */
export function triggerReader(project: ProjectClient): ListReader<Trigger> {
  return listReader<WireTrigger, Trigger>({
    read: (query, scope) => project.triggers(query, scope),
    recordsOf: triggersOf,
    timeOf: triggerSubject.timeOf,
    idOf: triggerSubject.idOf,
    async again(trigger, scope) {
      const time = trigger.startTime;
      const read = async (deviceId: DeviceId | undefined) => {
        const range = { from: atOrBefore(time), to: atOrAfter(time) };
        const { value, readAtMs } = await project.triggers(
          { ...range, deviceId, order: 'asc', limit: largestPage.project, offset: 0 },
          scope,
        );
        const record = value.items.find(({ id }) => id === trigger.triggerId);
        if (record) return triggerOf(record, readAtMs);
        return value.unreadable?.some((name) => name === trigger.triggerId || isNameless(name))
          ? 'unreadable'
          : 'gone';
      };
      try {
        return await read(trigger.deviceId);
      } catch (error) {
        // Assumed: upstream may answer 404 for a sensor that has left the project, though its triggers are still
        // listed.
        if (error instanceof Forbidden && error.upstream?.status === 404) return read(undefined);
        // A page of this one moment, of which nothing can be read, must not end the poll or the sweep at this trigger.
        if (error instanceof UpstreamUnavailable && error.upstream?.status === 200) return 'unreadable';
        throw error;
      }
    },
  });
}

// docs/behaviour.md 2: 3 s at most while a trigger that opened in the last 10 minutes is open.
const quickMs = 3_000;
const youngMs = 10 * minuteMs;

export function triggerIntervalMs(
  { snapshot, upstreamMs, requests }: PollState<Trigger, TriggerChangeKind>,
  usualMs: number,
  project: ProjectClient,
): number {
  const young = snapshot.ordered.slice(snapshot.indexOf(plus(upstreamMs, -youngMs)));
  const isLively = young.some(isAwaited);
  return pollIntervalMs(
    isLively ? Math.min(usualMs, quickMs) : usualMs,
    requests,
    project.status().rateLimit,
  );
}
