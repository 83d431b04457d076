import { type TriggerConditions, type TriggerTraits, triggerMatcher } from '../../../unify/trigger/filter.js';
import type { TriggerChange, TriggerChangeKind } from './subject.js';

export interface TriggerChangeFilter extends TriggerConditions {
  readonly kinds?: readonly TriggerChangeKind[] | null | undefined;
}

/**
 * Selects the changes of a subscription; every given condition must hold. A trigger that has once exceeded `minPgaMg`,
 * or was at one of the stations, keeps matching until it closes, so that no subscriber misses the end of a trigger.
 * @param selected keys of the sensors in the networks and places of the filter; null where it has none
 */
export function triggerFilter(
  filter: TriggerChangeFilter | null,
  selected: () => ReadonlySet<string> | null,
): (change: TriggerChange) => boolean {
  const { kinds, ...conditions } = filter ?? {};
  const wantedKinds = kinds && new Set<string>(kinds);
  const matches = triggerMatcher(conditions, selected);
  return ({ kind, record, traits }) =>
    (!wantedKinds || wantedKinds.has(kind)) && matches(record, traits as TriggerTraits);
}
