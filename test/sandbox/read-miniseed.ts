/** The records of a miniSEED file with 32-bit integers, decoded by the SEED 2.4 manual and nothing of the sandbox. */
export function readMiniseed(bytes: Uint8Array): SeedRecord[] {
  const records: SeedRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, bytes.length - at);
    const text = (from: number, length: number) =>
      Array.from({ length }, (_, index) => String.fromCharCode(view.getUint8(from + index))).join('');
    const blockette = view.getUint16(46);
    if (view.getUint16(blockette) !== 1000) throw new Error('The first blockette is not 1000');
    const [encoding, byteOrder, length] = [4, 5, 6].map((offset) => view.getUint8(blockette + offset));
    if (encoding !== 3 || byteOrder !== 1) throw new Error('Not big-endian 32-bit integers');
    const count = view.getUint16(30);
    const dataOffset = view.getUint16(44);
    const [factor, multiplier] = [view.getInt16(32), view.getInt16(34)];
    records.push({
      sequence: text(0, 6),
      quality: text(6, 2),
      source: [text(18, 2), text(8, 5), text(13, 2), text(15, 3)].map((part) => part.trim()).join('.'),
      startMs:
        Date.UTC(
          view.getUint16(20),
          0,
          view.getUint16(22),
          view.getUint8(24),
          view.getUint8(25),
          view.getUint8(26),
        ) +
        view.getUint16(28) / 10,
      rateHz: factor * multiplier,
      samples: Array.from({ length: count }, (_, index) => view.getInt32(dataOffset + 4 * index)),
    });
    at += 2 ** (length ?? 0);
  }
  return records;
}

export interface SeedRecord {
  readonly sequence: string;
  readonly quality: string;
  readonly source: string;
  readonly startMs: number;
  readonly rateHz: number;
  readonly samples: readonly number[];
}
