import { expect, it } from 'vitest';
import { Places } from '../../src/server/places.js';

it('gives each client so many places at a time, and a place again once one is left', () => {
  const places = new Places(2);
  const first = places.take('a');
  const second = places.take('a');
  expect(first).not.toBeNull();
  expect(second).not.toBeNull();
  expect(places.take('a')).toBeNull();
  expect(places.take('b')).not.toBeNull();
  first?.();
  expect(places.take('a')).not.toBeNull();
  expect(places.take('a')).toBeNull();
});
