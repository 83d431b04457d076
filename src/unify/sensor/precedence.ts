import type { Maybe } from '../../maybe.js';
import type { Text } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { networkCodeOf } from '../network/code-lookup.js';
import { sensorDetail } from './detail.js';
import type { CatalogueRecord, ProjectRecord } from './identity.js';

/** The sources of a field that both interfaces may have: the first value is used. Empty text is no value. */
export interface MergedField {
  project(record: ProjectRecord): Text;
  /** May cost a request. */
  catalogue(record: CatalogueRecord, ctx: UnifyContext): Maybe<Text>;
}

/**
 * Precedence field by field (docs/behaviour.md 6.3). The project's record comes first throughout: it is the operator's
 * own, comes from the device itself and is seconds old (docs/interfaces.md P1). The reasons per field:
 *
 * | field | from | because |
 * |---|---|---|
 * | stationCode | project, catalogue | after a move the catalogue may still have the old station |
 * | networkCode | project, catalogue | as the station code; the catalogue's is its network's (docs/behaviour.md 6.1) |
 * | model | project, catalogue | `sensor_type` is the device's own name, `type` a kind |
 * | firmwareVersion | project, catalogue's detail | the device reports it to the project with every update |
 * | status, statusText | project, else catalogue | one source, so that they agree; only the project has a 150 s rule |
 * | lastSeenAt | project, catalogue | the source of the status that follows from it, even if the other is later |
 * | location | project whole, else catalogue whole | two surveys must not be mixed; masking applies (`masking.ts`) |
 * | power, connectivity | project | the catalogue has neither |
 * | serialNumber, network, locationCode, createdAt | catalogue | the project has none |
 */
export const mergedFields = {
  networkCode: {
    project: ({ value }) => value.network,
    catalogue: ({ value }, ctx) => networkCodeOf(ctx, value),
  },
  model: {
    project: ({ value }) => value.sensor_type,
    catalogue: ({ value }) => value.type,
  },
  firmwareVersion: {
    project: ({ value }) => value.firmware,
    catalogue: async ({ value }, ctx) => (await sensorDetail(ctx, value.id))?.value.firmware_version ?? null,
  },
  lastSeen: {
    project: ({ value }) => value.last_seen,
    catalogue: ({ value }) => value.last_seen,
  },
} satisfies Record<string, MergedField>;
