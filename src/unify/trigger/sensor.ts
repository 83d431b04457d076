import type { Maybe } from '../../maybe.js';
import type { Text } from '../../upstream/decode/fields.js';
import { known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import type { TriggeredStation } from '../event/explanation.js';
import { publicPosition, unlessMasked } from '../masking/masking.js';
import { sensorByDeviceId } from '../sensor/lookup.js';
import type { Sensor } from '../sensor/sensor.js';
import type { Trigger } from './record.js';

/** The sensor that recorded a trigger; null when the project does not or no longer have it. Batched. */
export function sensorOfTrigger(ctx: UnifyContext, trigger: Trigger): Maybe<Sensor | null> {
  return sensorByDeviceId(ctx, trigger.deviceId);
}

/** The location name of the trigger; null when masked. */
export function locationNameOf(ctx: UnifyContext, { locationName, readAtMs }: Trigger): Maybe<Text> {
  return unlessMasked(ctx, locationName, readAtMs);
}

/** Position and start time of a trigger; null when the position is not known or withheld by masking. */
export async function stationOfTrigger(
  ctx: UnifyContext,
  trigger: Trigger,
): Promise<TriggeredStation | null> {
  const sensor = await sensorOfTrigger(ctx, trigger);
  const position = sensor && (await publicPosition(ctx, sensor));
  if (!position) return null;
  return { position, stationCode: known(trigger.stationCode), startTime: trigger.startTime };
}
