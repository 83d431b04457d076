import { dayMs } from '../../clock.js';
import type { WaveformSource } from '../simulation/motion/waveform.js';
import type { CatalogueSensor } from './records.js';

/** Records of 512 bytes with whole-number samples (SEED 2.4, encoding 3), made as they are read. */
export function* miniseed(
  sensor: CatalogueSensor,
  channel: string,
  source: WaveformSource,
  window: { firstIndex: number; count: number },
): Generator<Buffer> {
  const recordsPerChunk = 128;
  let sequence = 1;
  for (let done = 0; done < window.count; ) {
    const count = Math.min(window.count - done, samplesPerRecord * recordsPerChunk);
    const samples = source.samples(sensor.id, channel, window.firstIndex + done, count);
    if (!samples) return;
    const records: Buffer[] = [];
    for (let at = 0; at < count; at += samplesPerRecord) {
      const startMs = ((window.firstIndex + done + at) / source.rateHz) * 1000;
      const part = samples.subarray(at, at + samplesPerRecord);
      records.push(record(sensor, channel, source.rateHz, sequence, startMs, part));
      sequence = (sequence % 999_999) + 1;
    }
    done += count;
    yield Buffer.concat(records);
  }
}

const recordBytes = 512;
const dataOffset = 64;
const samplesPerRecord = (recordBytes - dataOffset) / 4;

function record(
  sensor: CatalogueSensor,
  channel: string,
  rateHz: number,
  sequence: number,
  startMs: number,
  samples: Int32Array,
): Buffer {
  const bytes = Buffer.alloc(recordBytes);
  bytes.write(`${String(sequence).padStart(6, '0')}D `, 0, 'latin1');
  bytes.write(padded(sensor.station_code, 5), 8, 'latin1');
  bytes.write(padded(sensor.location_code ?? '', 2), 13, 'latin1');
  bytes.write(padded(channel, 3), 15, 'latin1');
  bytes.write(padded(sensor.network_code ?? '', 2), 18, 'latin1');
  writeStart(bytes, startMs);
  bytes.writeUInt16BE(samples.length, 30);
  bytes.writeInt16BE(rateHz, 32);
  bytes.writeInt16BE(1, 34);
  bytes.writeUInt8(1, 39);
  bytes.writeUInt16BE(dataOffset, 44);
  bytes.writeUInt16BE(48, 46);
  // Blockette 1000: encoding 3 (32-bit integers), big-endian, record length 2^9.
  bytes.writeUInt16BE(1000, 48);
  bytes.writeUInt8(3, 52);
  bytes.writeUInt8(1, 53);
  bytes.writeUInt8(9, 54);
  samples.forEach((sample, index) => {
    bytes.writeInt32BE(sample, dataOffset + 4 * index);
  });
  return bytes;
}

/** BTIME: year, day of the year, hour, minute, second, ten-thousandths of a second. */
function writeStart(bytes: Buffer, startMs: number): void {
  const tenths = Math.round(startMs * 10);
  const time = new Date(Math.floor(tenths / 10_000) * 1000);
  const year = time.getUTCFullYear();
  bytes.writeUInt16BE(year, 20);
  bytes.writeUInt16BE(Math.floor((time.getTime() - Date.UTC(year, 0, 1)) / dayMs) + 1, 22);
  bytes.writeUInt8(time.getUTCHours(), 24);
  bytes.writeUInt8(time.getUTCMinutes(), 25);
  bytes.writeUInt8(time.getUTCSeconds(), 26);
  bytes.writeUInt16BE(tenths - Math.floor(tenths / 10_000) * 10_000, 28);
}

const padded = (text: string, length: number) => text.slice(0, length).padEnd(length);
