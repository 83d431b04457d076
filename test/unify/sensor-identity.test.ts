import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CatalogueRecord,
  deviceIdOf,
  type ProjectRecord,
  sensorKey,
} from '../../src/unify/sensor/identity.js';
import { associateSensors, type SensorAssociation } from '../../src/unify/sensor/inventory/association.js';
import { asId } from '../../src/upstream/decode/fields.js';
import { forward } from '../support/moments.js';

const projectRecord = (device_id: string, station: string | null, network: string | null): ProjectRecord => ({
  value: {
    ...{
      device_id: asId(device_id),
      station,
      network,
      sensor_type: null,
      firmware: null,
      status: 'online',
      last_seen: null,
    },
    ...{ location: null, power: null, connectivity: null },
  },
  readAtMs: forward(0),
});

const catalogueRecord = (
  id: string,
  serial_number: string | null,
  station_code: string | null,
  network_id: string | null = null,
  last_seen: string | null = null,
): CatalogueRecord => ({
  value: {
    ...{ id: asId(id), serial_number, type: null, station_code, network_id, status: 'online', last_seen },
    location: null,
  },
  readAtMs: forward(0),
});

// In these tests a network's id is its code; one that begins with `?` has not been learnt.
const codeOf = ({ value }: CatalogueRecord) => {
  const id = value.network_id as string | null;
  return id?.startsWith('?') ? undefined : id;
};

const described = ({ pairs }: SensorAssociation) =>
  pairs.map(({ project, catalogue }) => [project?.value.device_id ?? null, catalogue?.value.id ?? null]);

describe('a Device ID', () => {
  it('is recognised in any case and with any separators', () => {
    for (const text of ['001a2b3c4d5e', '00:1A:2B:3C:4D:5E', '00-1a-2b-3c-4d-5e', ' 001A.2B3C.4D5E ']) {
      expect(deviceIdOf(text)).toBe('001A2B3C4D5E');
    }
  });

  it('is no text that only looks like one', () => {
    for (const text of ['001A2B3C4D5', '001A2B3C4D5E0', 'SN001A2B3C4D', '001A2B3C4D5G', '', null]) {
      expect(deviceIdOf(text)).toBeNull();
    }
  });
});

describe('two records are the same sensor', () => {
  it('when the serial number is the Device ID, wherever the catalogue has it standing', () => {
    const association = associateSensors(
      [projectRecord('001A2B3C4D5E', 'NEW', 'SX')],
      [catalogueRecord('c1', '00:1a:2b:3c:4d:5e', 'OLD', 'ZZ')],
      codeOf,
    );
    expect(described(association)).toEqual([['001A2B3C4D5E', 'c1']]);
  });

  it('when station and network code are both equal, and not by the station code alone', () => {
    const project = [projectRecord('001A2B3C4D5E', 'AAA', 'SX')];
    const same = associateSensors(project, [catalogueRecord('c1', 'SN-7', 'AAA', 'SX')], codeOf);
    expect(described(same)).toEqual([['001A2B3C4D5E', 'c1']]);
    const other = associateSensors(project, [catalogueRecord('c1', 'SN-7', 'AAA', 'SY')], codeOf);
    expect(described(other)).toEqual([
      ['001A2B3C4D5E', null],
      [null, 'c1'],
    ]);
  });

  it('by serial number first: the station of a replaced sensor does not win over it', () => {
    // Device A now stands at BBB, where device B stood when the catalogue was written.
    const association = associateSensors(
      [projectRecord('AAAAAAAAAAAA', 'BBB', 'SX'), projectRecord('BBBBBBBBBBBB', 'CCC', 'SX')],
      [
        catalogueRecord('ca', 'AAAAAAAAAAAA', 'AAA', 'SX'),
        catalogueRecord('cb', 'BBBBBBBBBBBB', 'BBB', 'SX'),
      ],
      codeOf,
    );
    expect(described(association)).toEqual([
      ['AAAAAAAAAAAA', 'ca'],
      ['BBBBBBBBBBBB', 'cb'],
    ]);
  });

  it('not by a serial number that looks like the Device ID, nor by a station code that does', () => {
    const project = [projectRecord('001A2B3C4D5E', 'AAA', 'SX')];
    const association = associateSensors(
      project,
      [
        catalogueRecord('longer', '001A2B3C4D5E-2', 'BBB', 'SX'),
        catalogueRecord('prefixed', 'SN001A2B3C4D5E', 'CCC', 'SX'),
        catalogueRecord('station', 'SN-9', '001A2B3C4D5E', 'SX'),
      ],
      codeOf,
    );
    expect(association.byDevice.get('001A2B3C4D5E')?.catalogue).toBeNull();
    expect(association.pairs).toHaveLength(4);
  });

  it('in spite of missing values: an absent serial number, station or network equals nothing', () => {
    const association = associateSensors(
      [projectRecord('001A2B3C4D5E', null, null)],
      [catalogueRecord('c1', null, null, null), catalogueRecord('c2', '', '', null)],
      codeOf,
    );
    expect(association.byDevice.get('001A2B3C4D5E')?.catalogue).toBeNull();
  });

  it('once: of two catalogue records with its serial number the one at its station speaks for it', () => {
    const association = associateSensors(
      [projectRecord('001A2B3C4D5E', 'NEW', 'SX')],
      [
        catalogueRecord('old', '001A2B3C4D5E', 'OLD', 'SX', '2026-01-02T00:00:00Z'),
        catalogueRecord('new', '001A2B3C4D5E', 'NEW', 'SX', '2026-01-01T00:00:00Z'),
      ],
      codeOf,
    );
    expect(described(association)).toEqual([['001A2B3C4D5E', 'new']]);
    expect(association.byCatalogueId.get('old')).toBe(association.byCatalogueId.get('new'));
  });

  it('not known while the network code has not been learnt, where it decides', () => {
    const undecided = catalogueRecord('c1', 'SN-7', 'AAA', '?1');
    const elsewhere = catalogueRecord('c2', 'SN-8', 'BBB', '?1');
    const association = associateSensors(
      [projectRecord('001A2B3C4D5E', 'AAA', 'SX')],
      [undecided, elsewhere],
      codeOf,
    );
    expect(association.undecided).toEqual([undecided]);
    expect([...association.besideProject]).toEqual([undecided]);
  });
});

describe('pairs of random lists', () => {
  const station = fc.constantFrom('AAA', 'BBB', 'CCC');
  const network = fc.constantFrom('SX', 'SY');
  const serial = fc.constantFrom(
    '000000000001',
    '000000000002',
    '000000000003',
    '000000000004',
    'SN-1',
    null,
  );
  const seen = fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', null);
  const projects = fc
    .uniqueArray(fc.constantFrom('000000000001', '000000000002', '000000000003', '000000000005'))
    .chain((ids) =>
      fc
        .tuple(...ids.map((id) => fc.tuple(fc.constant(id), station, fc.option(network))))
        .map((rows) => rows.map((row) => projectRecord(...row))),
    );
  const catalogues = fc
    .array(fc.tuple(serial, station, fc.oneof(network, fc.constant('?1')), seen), { maxLength: 6 })
    .map((rows) => rows.map((row, index) => catalogueRecord(`c${index}`, ...row)));

  const isBySerial = (project: ProjectRecord, catalogue: CatalogueRecord) =>
    deviceIdOf(catalogue.value.serial_number) === project.value.device_id;
  const isByCodes = (project: ProjectRecord, catalogue: CatalogueRecord) =>
    project.value.station === catalogue.value.station_code &&
    project.value.network !== null &&
    project.value.network === codeOf(catalogue);

  it('are one to one, by serial number before codes, and leave no two apart that are the same', () => {
    fc.assert(
      fc.property(projects, catalogues, (project, catalogue) => {
        const { pairs, byCatalogueId } = associateSensors(project, catalogue, codeOf);
        expect(pairs.flatMap((pair) => pair.project ?? []).sort(byText)).toEqual([...project].sort(byText));
        const partners = pairs.flatMap((pair) => pair.catalogue ?? []);
        expect(new Set(partners).size).toBe(partners.length);
        for (const record of catalogue) expect(byCatalogueId.has(record.value.id)).toBe(true);
        for (const { project: mine, catalogue: theirs } of pairs) {
          if (!mine) continue;
          const serials = catalogue.filter((record) => isBySerial(mine, record));
          if (theirs)
            expect(serials.length > 0 ? isBySerial(mine, theirs) : isByCodes(mine, theirs)).toBe(true);
          else {
            expect(serials).toEqual([]);
            const free = pairs.filter((pair) => !pair.project).flatMap((pair) => pair.catalogue ?? []);
            expect(free.filter((record) => isByCodes(mine, record))).toEqual([]);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are the same whatever the order of the lists, and come in one order', () => {
    const shuffled = <T>(list: readonly T[]) => fc.shuffledSubarray([...list], { minLength: list.length });
    const orders = fc
      .tuple(projects, catalogues)
      .chain(([mine, theirs]) =>
        fc.tuple(fc.constant([mine, theirs] as const), shuffled(mine), shuffled(theirs)),
      );
    fc.assert(
      fc.property(orders, ([[project, catalogue], otherProject, otherCatalogue]) => {
        const association = associateSensors(project, catalogue, codeOf);
        const other = associateSensors(otherProject, otherCatalogue, codeOf);
        expect(described(other)).toEqual(described(association));
        const keys = association.pairs.map(sensorKey);
        expect(new Set(keys).size).toBe(keys.length);
      }),
      { numRuns: 500 },
    );
  });

  it('are found among ten thousand by their codes as well', () => {
    const ids = Array.from({ length: 10_000 }, (_, index) =>
      index.toString(16).toUpperCase().padStart(12, '0'),
    );
    const project = ids.map((id, index) => projectRecord(id, `S${index}`, 'SX'));
    const catalogue = ids.map((_, index) => catalogueRecord(`c${index}`, `SN-${index}`, `S${index}`, 'SX'));
    const { pairs } = associateSensors(project, catalogue, codeOf);
    expect(pairs.every((pair) => pair.project && pair.catalogue)).toBe(true);
  });
});

const byText = (a: ProjectRecord, b: ProjectRecord) => (a.value.device_id < b.value.device_id ? -1 : 1);
